import { concat, getBytes, id, keccak256, type LogDescription, toBeHex, zeroPadValue } from 'ethers'
import type { BlockHeader, BlockRef, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { BlockRange, Published } from '../source-port.ts'
import type { ContractReader } from '../common/contract-reader.ts'
import { coreAbi } from './contracts.ts'
import { wormholeTokenBridge } from './message.ts'
import { parseTokenTransfer } from './payload.ts'

/** What a stream needs of the source's chain: reads of contracts, logs of a range of blocks, and the times of blocks. */
export interface SourceReader extends ContractReader {
  /** Throws NODE_REFUSED (a range that is too long is for the caller to split), NODE_UNAVAILABLE; NODES_DISAGREE at `agreed`. */
  logs(
    filter: { address: string; topics: readonly string[]; fromBlock: number; toBlock: number },
    at?: 'agreed',
  ): Promise<readonly (Log & { readonly block: BlockRef })[]>
  block(height: number, at: 'latest'): Promise<BlockHeader | undefined>
}

/** Whose messages are read, and what the chains are called that they may go to. */
export interface Emitter {
  readonly core: string
  readonly sourceChain: ChainName
  /** Wormhole's number of the source chain. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /** Wormhole chain id → name, of every chain of the config. */
  readonly chainNames: ReadonlyMap<number, ChainName>
}

const topic = id('LogMessagePublished(address,uint64,uint32,bytes,uint8)')

/**
 * The messages that an emitter published in these blocks, in order (Implementation.sol, publishMessage). Of those that are `wanted` the digest is
 * computed, for which the time of their block is read: once per block. Throws as SignedSource.published.
 */
export async function publishedIn(
  chain: SourceReader,
  source: Emitter,
  { fromBlock, toBlock }: BlockRange,
  wanted: (number: string) => boolean,
  at?: 'agreed',
): Promise<readonly Published[]> {
  const address = source.core.toLowerCase()
  const sender = `0x${source.emitter}`
  const logs = await chain.logs({ address, topics: [topic, sender], fromBlock, toBlock }, at)
  const times = new Map<number, Promise<number>>()
  const timeOf = (block: BlockRef): Promise<number> => {
    const known = times.get(block.height) ?? blockTime(chain, block)
    times.set(block.height, known)
    return known
  }
  return Promise.all(
    logs.map(async (log): Promise<Published> => {
      const strange = log.address.toLowerCase() !== address || log.topics[0] !== topic || log.topics[1] !== sender
      const event = strange || log.block.height < fromBlock || log.block.height > toBlock ? null : coreAbi.parseLog(log)
      if (!event) {
        throw new RelayerError('NODE_REFUSED', {
          detail: 'A node answered with a log that was not asked for.',
          facts: { chain: chain.name },
        })
      }
      const number = String(event.args['sequence'])
      const place = { number, height: log.block.height }
      return wanted(number) ? { ...place, content: contentOf(source, event, await timeOf(log.block)) } : place
    }),
  )
}

/** The time of a block, seconds, if the block at its height still is that one. */
async function blockTime(chain: SourceReader, { height, hash }: BlockRef): Promise<number> {
  const header = await chain.block(height, 'latest')
  if (header?.hash === hash) return header.timestamp
  throw new RelayerError('NODE_UNAVAILABLE', { detail: `Block ${height} moved while it was read.`, facts: { chain: chain.name } })
}

function contentOf(source: Emitter, { args }: LogDescription, timestamp: number): NonNullable<Published['content']> {
  const target = targetOf(source, getBytes(String(args['payload'])))
  if (target === undefined) return { kind: 'none' }
  const { sourceChain, emitterChain, emitter } = source
  // The body of the VAA to come (whitepaper 0001), of which guardians sign the hash of the hash.
  const body = concat([
    toBeHex(timestamp, 4),
    toBeHex(args['nonce'], 4),
    toBeHex(emitterChain, 2),
    zeroPadValue(`0x${emitter}`, 32),
    toBeHex(args['sequence'], 8),
    toBeHex(args['consistencyLevel'], 1),
    String(args['payload']),
  ])
  const digest = keccak256(keccak256(body))
  const sequence = String(args['sequence'])
  return { kind: 'transfer', transfer: { bridge: wormholeTokenBridge, sourceChain, targetChain: target, emitter, sequence, digest } }
}

/** The chain that a payload goes to; undefined: it is no transfer, or goes where the config has no chain. */
function targetOf({ chainNames }: Emitter, payload: Uint8Array): ChainName | undefined {
  try {
    return chainNames.get(parseTokenTransfer(payload).targetChain)
  } catch (error) {
    if (error instanceof RelayerError) return undefined
    throw error
  }
}
