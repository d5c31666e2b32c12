import { concat, getBytes, id, type Result, toBeHex, zeroPadValue } from 'ethers'
import type { BlockRef, Chain, LogRange } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { BlockRange, Published } from '../port.ts'
import { coreAbi } from './signed-messages.ts'
import { eventArguments, type LogReader, type LogsAt, readLogs } from './logs.ts'

export interface SourceReader extends LogReader, Pick<Chain, 'block'> {}

export interface Emitter {
  readonly sourceChain: ChainName
  readonly emitterChain: number
  readonly emitter: string
}

export interface EmitterWithNode extends Emitter {
  readonly core: string
}

/** Decodes a message as the bridge that owns the message does. Throws RelayerError if no bridge delivers it. */
export type Decode = (message: Uint8Array) => Transfer

const latestTime = 2 ** 32 - 1

const topic = id('LogMessagePublished(address,uint64,uint32,bytes,uint8)')

interface PublishedOptions {
  readonly decode: Decode
  readonly wanted?: ((number: string) => boolean) | undefined
  readonly at?: LogsAt | undefined
}

/** See `SignedSource.published`. */
export async function publishedIn(
  chain: SourceReader,
  source: EmitterWithNode,
  range: BlockRange & Pick<LogRange, 'transaction'>,
  { decode, wanted = () => true, at }: PublishedOptions,
) {
  const address = source.core.toLowerCase()
  const asked = { address, topics: [topic, `0x${source.emitter}`], ...range }
  const logs = await readLogs(chain, asked, at, (log) => ({
    block: log.block,
    args: eventArguments(chain, coreAbi, 'LogMessagePublished', log),
  }))
  // The time is part of the message. On a chain whose nodes do not prove their headers, one node could choose it.
  const headers = keptReads((height: number) => chain.block(height, at === undefined ? 'latest' : 'majority'))
  async function timeOf({ height, hash }: BlockRef): Promise<number> {
    const header = await headers.get(height)
    if (header?.hash === hash && header.timestamp <= latestTime) return header.timestamp
    throw new RelayerError('NODE_UNAVAILABLE', { detail: `Block ${height} moved while it was read.`, facts: { chain: chain.name } })
  }
  return Promise.all(
    logs.map(async ({ block, args }): Promise<Published> => {
      const { height } = block
      const number = String(args['sequence'])
      return wanted(number) ? { number, height, content: contentOf(source, args, await timeOf(block), decode) } : { number, height }
    }),
  )
}

/** Version 1, guardian set 0, no signatures. */
const unsignedHeader = '0x010000000000'

function contentOf({ emitterChain, emitter }: Emitter, args: Result, timestamp: number, decode: Decode): NonNullable<Published['content']> {
  // Body of the future VAA (whitepaper 0001).
  const message = concat([
    unsignedHeader,
    toBeHex(timestamp, 4),
    toBeHex(args['nonce'], 4),
    toBeHex(emitterChain, 2),
    zeroPadValue(`0x${emitter}`, 32),
    toBeHex(args['sequence'], 8),
    toBeHex(args['consistencyLevel'], 1),
    String(args['payload']),
  ])
  try {
    return { kind: 'transfer', transfer: decode(getBytes(message)) }
  } catch (error) {
    if (error instanceof RelayerError) return { kind: 'none' }
    throw error
  }
}
