import { concat, getBytes, id, type Result, toBeHex, zeroPadValue } from 'ethers'
import type { BlockRef, Chain, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { remember } from '../../runtime/remember.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { BlockRange, Published } from '../port.ts'
import { type LogReader, type LogsAt, readLogs } from '../kit/logs.ts'
import { coreAbi } from './contracts.ts'
import { digestOf, parseTokenTransfer, wormholeTokenBridge } from './message.ts'

export interface SourceReader extends LogReader, Pick<Chain, 'block'> {}

export interface Emitter {
  readonly sourceChain: ChainName
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
}

export interface EmitterWithNode extends Emitter {
  readonly core: string
  /** Wormhole chain id → name, for every chain of the config. */
  readonly chainNames: ReadonlyMap<number, ChainName>
}

/** A message has 32 bits for the block's time in seconds. */
const latestTime = 2 ** 32 - 1

const topic = id('LogMessagePublished(address,uint64,uint32,bytes,uint8)')

/** See SignedSource.published (Implementation.sol, publishMessage). Block times are read only for `wanted` numbers. */
export async function publishedIn(
  chain: SourceReader,
  source: EmitterWithNode,
  range: BlockRange,
  wanted: (number: string) => boolean,
  at?: LogsAt,
) {
  const address = source.core.toLowerCase()
  const logs = await readLogs(chain, { address, topics: [topic, `0x${source.emitter}`], ...range }, at)
  const headers = remember((height: number) => chain.block(height, 'latest'))
  /** Block time, seconds. Throws NODE_UNAVAILABLE if the block is not canonical any more. */
  async function timeOf({ height, hash }: BlockRef): Promise<number> {
    const header = await headers.get(height)
    if (header?.hash === hash && header.timestamp <= latestTime) return header.timestamp
    throw new RelayerError('NODE_UNAVAILABLE', { detail: `Block ${height} moved while it was read.`, facts: { chain: chain.name } })
  }
  return Promise.all(
    logs.map(async (log): Promise<Published> => {
      const args = argumentsOf(chain, log)
      const { height } = log.block
      const number = String(args['sequence'])
      return wanted(number) ? { number, height, content: contentOf(source, args, await timeOf(log.block)) } : { number, height }
    }),
  )
}

/** ethers truncates long numbers, so the result must encode to the same bytes. Throws NODE_REFUSED. */
function argumentsOf(chain: SourceReader, { data, topics }: Log): Result {
  try {
    const args = coreAbi.decodeEventLog('LogMessagePublished', data, topics)
    if (coreAbi.encodeEventLog('LogMessagePublished', args.toArray()).data === data.toLowerCase()) return args
  } catch {
    // The code below refuses the log.
  }
  throw new RelayerError('NODE_REFUSED', {
    detail: 'A node answered with a log that is no LogMessagePublished.',
    facts: { chain: chain.name },
  })
}

function contentOf(source: EmitterWithNode, args: Result, timestamp: number): NonNullable<Published['content']> {
  const targetChain = targetOf(source, getBytes(String(args['payload'])))
  if (targetChain === undefined) return { kind: 'none' }
  const { sourceChain, emitterChain, emitter } = source
  // Body of the future VAA (whitepaper 0001). Guardians sign its double hash.
  const body = concat([
    toBeHex(timestamp, 4),
    toBeHex(args['nonce'], 4),
    toBeHex(emitterChain, 2),
    zeroPadValue(`0x${emitter}`, 32),
    toBeHex(args['sequence'], 8),
    toBeHex(args['consistencyLevel'], 1),
    String(args['payload']),
  ])
  const transfer = {
    bridge: wormholeTokenBridge,
    sourceChain,
    sourceId: String(emitterChain),
    targetChain,
    emitter,
    sequence: String(args['sequence']),
  }
  return { kind: 'transfer', transfer: { ...transfer, digest: digestOf({ body }) } }
}

/** Undefined if the payload is no transfer, or not to a chain of the config. */
function targetOf({ chainNames }: EmitterWithNode, payload: Uint8Array): ChainName | undefined {
  try {
    return chainNames.get(parseTokenTransfer(payload).targetChain)
  } catch (error) {
    if (error instanceof RelayerError) return undefined
    throw error
  }
}
