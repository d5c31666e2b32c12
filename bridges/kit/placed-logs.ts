import { decodeBase64, hexlify } from 'ethers'
import type { Heads, LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { groupBy } from '../../domain/group-by.ts'
import { compare } from '../../domain/stream/gaps.ts'
import { heightOf, placeOf, placesPerBlock } from '../../domain/stream/places.ts'
import { type BridgeName, mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { nextTurn } from '../../runtime/wait.ts'
import type { BlockRange, PlacedSource, PlacedTransfer } from '../port.ts'
import { deliveredBy, type Finality } from './contract-reader.ts'
import { streamOf } from './emitter-sources.ts'
import { type LogReader, type LogsAt, readLogs } from './logs.ts'
import type { Refusals } from './verdict.ts'
import { createVerifiedMessages } from './verified-messages.ts'

export interface PlacedLogsOptions {
  readonly chain: LogReader & { readonly networkId: string; readonly heads: Pick<Heads, 'current'> }
  readonly bridge: BridgeName
  /** Contract that emits the logs. Its address is the emitter of every transfer. */
  readonly contract: string
  /** First topics of the logs. */
  readonly topics: readonly string[]
  /** Absent: the stream begins `streams.lookBackDays` ago. */
  readonly startBlock?: number | undefined
  readonly maxOpen: number
  /**
   * Returns undefined, or throws an error that is not retriable, for a log that Portage does not deliver. Throws
   * NODE_REFUSED for a log that is not an event of the contract. Must be pure.
   * @param siblings all logs of the contract in the transaction, in ascending order, including `log`
   */
  decode(log: PlacedLog, number: string, siblings: readonly PlacedLog[]): Transfer | undefined
  /**
   * Whether the stream starts the transfer. A transfer that has started already is verified in any case. Must be pure.
   * Default: true.
   */
  starts?(transfer: Transfer): boolean
  isDelivered(transfer: Transfer, at: Finality): Promise<boolean>
  /** Returns monotonic time, ms. */
  readonly clock?: () => number
}

/**
 * Number of logs that are decoded in one turn of the event loop. Decoding a request of the Executor takes up to 3 ms.
 */
const decodedAtOnce = 20

/** Time for which a verified message is remembered, ms. Waiting transfers try again within half an hour. */
const rememberMs = 3_600_000

export const placedRefusals = { PLACE_MISMATCH: { kind: 'rejected' }, PLACE_NOT_FINAL: { kind: 'wait' } } as const satisfies Refusals

/** A contract's logs as a numbered source, and a check that a message is the log at its place. */
export function createPlacedLogs(options: PlacedLogsOptions) {
  const { chain, bridge, contract, topics, startBlock, maxOpen, clock } = options
  const address = contract.toLowerCase()
  const emitter = emitterOf(contract)
  const verified = createVerifiedMessages({ rememberMs, clock })

  /** Reads the logs of a range. Decodes a log only when its transfer is asked for, because decoding is slow. */
  async function placesIn(range: BlockRange & Pick<LogRange, 'transaction'>, at: LogsAt) {
    const logs = placed(chain.name, await readLogs(chain, { address, topics, ...range }, at, (log) => log))
    const transactions = groupBy(logs.values(), ({ transactionHash }) => transactionHash)
    const transferAt = (number: string): PlacedTransfer | undefined => {
      const log = logs.get(number)
      const transfer = log && transferOf(options, log, number, transactions.get(log.transactionHash) ?? [])
      return transfer && { transfer: checked(options, transfer, number), height: log.block.height, txHash: log.transactionHash }
    }
    return { transferAt, all: () => decodeAll([...logs.keys()], transferAt) }
  }

  async function initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]> {
    const all = await (await placesIn(range, at ?? 'majority')).all()
    return all.filter(({ transfer }) => options.starts?.(transfer) ?? true)
  }

  // Simultaneous checks of a block or a transaction share one read, whose answer is not kept.
  const sharing = { lasting: () => false }
  const blocks = keptReads((height: number) => placesIn({ fromBlock: height, toBlock: height }, 'agreed'), sharing)
  const transactions = keptReads(async (range: string) => (await placesIn(JSON.parse(range), 'agreed')).all(), sharing)

  const source: PlacedSource = {
    kind: 'placed',
    config: {
      stream: streamOf(bridge, chain.name, emitter),
      origin: `${chain.networkId}/${address}`,
      first: '0',
      ...(startBlock !== undefined && { start: startBlock }),
      maxOpen,
      placed: true,
    },
    bridge,
    sourceChain: chain.name,
    emitter,
    initiated,
    delivered: (transfers) => deliveredBy((transfer, at) => options.isDelivered(transfer, at), transfers),
  }

  return {
    source,
    /** The transfers of a transaction in a final block, in ascending order. Throws PLACE_NOT_FINAL and read errors. */
    async inTransaction(transaction: string, height: number): Promise<readonly PlacedTransfer[]> {
      demandFinal(chain, height)
      return transactions.get(JSON.stringify({ fromBlock: height, toBlock: height, transaction }))
    },
    /**
     * Checks that most nodes show the message in a final block. Asks a chain's only node twice. Remembers a verified
     * message for an hour. Throws PLACE_NOT_FINAL, PLACE_MISMATCH (`placedRefusals`) and read errors.
     */
    async verify({ sequence, message }: Pick<Transfer, 'sequence' | 'message'>): Promise<void> {
      const facts = { chain: chain.name, place: sequence }
      await verified.once(decodeBase64(message), sequence, async () => {
        const height = heightOf(sequence)
        demandFinal(chain, height)
        const found = (await blocks.get(height)).transferAt(sequence)
        if (found?.transfer.message !== message) throw new RelayerError('PLACE_MISMATCH', { facts })
      })
    },
  }
}

/** Throws PLACE_NOT_FINAL. */
export function demandFinal({ name, heads }: Pick<PlacedLogsOptions['chain'], 'name' | 'heads'>, height: number): void {
  if (height > (heads.current?.finalized ?? -1)) throw new RelayerError('PLACE_NOT_FINAL', { facts: { chain: name, height } })
}

/** Returns 64 lower-case hex digits. */
export function emitterOf(contract: string): string {
  return hexlify(contract).slice(2).padStart(64, '0')
}

/** Returns logs by number, in ascending order. Throws NODE_REFUSED if logs contradict each other. */
function placed(chain: string, logs: readonly PlacedLog[]): ReadonlyMap<string, PlacedLog> {
  const hashes = new Map<number, string>()
  const numbers = new Map<string, PlacedLog>()
  for (const log of logs) {
    const { block, index } = log
    const number = placeOf(block.height, index)
    const isSame = (hashes.get(block.height) ?? block.hash) === block.hash
    if (!isSame || numbers.has(number) || BigInt(index) >= placesPerBlock)
      throw new RelayerError('NODE_REFUSED', {
        detail: 'A node answered with two logs of one place, or with two blocks of one height.',
        facts: { chain, place: number },
      })
    hashes.set(block.height, block.hash)
    numbers.set(number, log)
  }
  return new Map([...numbers].sort(([a], [b]) => compare(a, b)))
}

/**
 * Decodes only a few logs per turn of the event loop, because strangers choose how many logs there are, and the process
 * has other work.
 */
async function decodeAll(
  numbers: readonly string[],
  transferAt: (number: string) => PlacedTransfer | undefined,
): Promise<readonly PlacedTransfer[]> {
  const found: PlacedTransfer[] = []
  for (const [index, number] of numbers.entries()) {
    if (index > 0 && index % decodedAtOnce === 0) await nextTurn()
    const one = transferAt(number)
    if (one) found.push(one)
  }
  return found
}

/** Maximum length of a message, in characters: as the data of a log (0x, three words, hex digits), and as base64. */
const longestData = 2 + 2 * (mostMessageBytes + 96)
const longestText = Math.ceil(mostMessageBytes / 3) * 4

function transferOf(
  { decode }: PlacedLogsOptions,
  ...[log, number, siblings]: Parameters<PlacedLogsOptions['decode']>
): Transfer | undefined {
  // A longer log does not count as a transfer: strangers write logs of any length, and every step of a transfer carries
  // the transfer's message.
  if (log.data.length > longestData) return undefined
  try {
    const transfer = decode(log, number, siblings)
    return transfer && transfer.message.length > longestText ? undefined : transfer
  } catch (error) {
    // Anyone may log any message, so a log with an error that no retry can cure does not count as a transfer. But
    // NODE_REFUSED means that the node is wrong.
    if (error instanceof RelayerError && !error.retriable && error.code !== 'NODE_REFUSED') return undefined
    throw error
  }
}

function checked({ bridge, chain, contract }: PlacedLogsOptions, transfer: Transfer, number: string): Transfer {
  const isOwn = transfer.bridge === bridge && transfer.sourceChain === chain.name && transfer.emitter === emitterOf(contract)
  if (isOwn && transfer.sequence === number) return transfer
  throw new RelayerError('INTERNAL', {
    detail: 'The transfer of a log does not belong to the stream of the log.',
    facts: { chain: chain.name, place: number },
  })
}
