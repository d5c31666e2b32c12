import { decodeBase64, hexlify } from 'ethers'
import type { Heads, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { groupBy } from '../../domain/group-by.ts'
import { heightOf, placeOf, placesPerBlock } from '../../domain/stream/places.ts'
import type { BridgeName, Transfer } from '../../domain/transfer/transfer.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import type { BlockRange, PlacedSource, PlacedTransfer } from '../port.ts'
import { deliveredBy, type Finality } from './contract-reader.ts'
import { streamOf } from './emitter-sources.ts'
import { type LogReader, readLogs } from './logs.ts'
import type { Refusals } from './verdict.ts'
import { createVerifiedMessages } from './verified-messages.ts'

export interface PlacedLogsOptions {
  /** Its name is the source chain of every transfer. */
  readonly chain: LogReader & { readonly networkId: string; readonly heads: Pick<Heads, 'current'> }
  readonly bridge: BridgeName
  /** Has the logs. Its 64 hex digits are the emitter of every transfer. */
  readonly contract: string
  readonly topic: string
  /** Absent: the stream begins with the blocks of the last `streams.lookBackDays`. */
  readonly startBlock?: number | undefined
  readonly maxOpen: number
  /**
   * The transfer whose `sequence` is this number, as the bridge decodes its message. Undefined, or a RelayerError that
   * no retry heals: no transfer for this Portage. Pure, so that a log is the same transfer at each reading.
   * NODE_REFUSED: the log is not the contract's event. `siblings`: the contract's logs of the same transaction in
   * ascending order, with `log` among them.
   */
  decode(log: PlacedLog, number: string, siblings: readonly PlacedLog[]): Transfer | undefined
  /** False for a target that this process does not serve. */
  isDelivered(transfer: Transfer, at: Finality): Promise<boolean>
}

export const placedRefusals = { PLACE_MISMATCH: { kind: 'rejected' }, PLACE_NOT_FINAL: { kind: 'wait' } } as const satisfies Refusals

/** A contract's logs as a numbered source, and the check that a message is the log at its place. */
export function createPlacedLogs(options: PlacedLogsOptions) {
  const { chain, bridge, contract, topic, startBlock, maxOpen } = options
  const address = contract.toLowerCase()
  const emitter = emitterOf(contract)
  const verified = createVerifiedMessages()

  async function initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]> {
    const logs = await readLogs(chain, { address, topics: [topic], ...range }, at ?? 'majority')
    const inOrder = placed(chain.name, logs)
    const transactions = groupBy(inOrder, ([, { transactionHash }]) => transactionHash)
    return inOrder.flatMap(([number, log]) => {
      const siblings = transactions.get(log.transactionHash) ?? []
      const transfer = transferOf(
        options,
        log,
        number,
        siblings.map(([, one]) => one),
      )
      return transfer ? [{ transfer: checked(options, transfer, number), height: log.block.height, txHash: log.transactionHash }] : []
    })
  }

  /** Transfers of one block by their numbers. Messages of one block that are checked at the same time share a read. */
  const blocks = keptReads(
    async (height: number) =>
      new Map((await initiated({ fromBlock: height, toBlock: height }, 'agreed')).map((one) => [one.transfer.sequence, one])),
    { lasting: () => false },
  )

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
    /** Transfers of a final block by their numbers, as most nodes show it. Throws PLACE_NOT_FINAL, read errors. */
    async inBlock(height: number): Promise<ReadonlyMap<string, PlacedTransfer>> {
      demandFinal(chain, height)
      return blocks.get(height)
    },
    /**
     * Throws PLACE_NOT_FINAL and PLACE_MISMATCH (`placedRefusals`), and read errors. Most nodes must show the log; a
     * single node must show it twice. Remembers messages for a minute.
     */
    async verify({ sequence, message }: Pick<Transfer, 'sequence' | 'message'>): Promise<void> {
      const facts = { chain: chain.name, place: sequence }
      await verified.once(decodeBase64(message), sequence, async () => {
        const height = heightOf(sequence)
        demandFinal(chain, height)
        const found = (await blocks.get(height)).get(sequence)
        if (found?.transfer.message !== message) throw new RelayerError('PLACE_MISMATCH', { facts })
      })
    },
  }
}

/** Throws PLACE_NOT_FINAL. */
export function demandFinal({ name, heads }: Pick<PlacedLogsOptions['chain'], 'name' | 'heads'>, height: number): void {
  if (height > (heads.current?.finalized ?? -1)) throw new RelayerError('PLACE_NOT_FINAL', { facts: { chain: name, height } })
}

/** The address of a contract as an emitter: 64 lower-case hex digits. */
export function emitterOf(contract: string): string {
  return hexlify(contract).slice(2).padStart(64, '0')
}

/** In ascending order. Throws NODE_REFUSED for logs that cannot be of one chain. */
function placed(chain: string, logs: readonly PlacedLog[]): readonly (readonly [number: string, log: PlacedLog])[] {
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
  return [...numbers].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
}

function transferOf(
  { decode }: PlacedLogsOptions,
  ...[log, number, siblings]: Parameters<PlacedLogsOptions['decode']>
): Transfer | undefined {
  try {
    return decode(log, number, siblings)
  } catch (error) {
    // Anyone may send any message. A log that is not the contract's event is another matter: the node invented it.
    if (error instanceof RelayerError && !error.retriable && error.code !== 'NODE_REFUSED') return undefined
    throw error
  }
}

/** Throws INTERNAL if the bridge's decoding would give the log an id outside this stream. */
function checked({ bridge, chain, contract }: PlacedLogsOptions, transfer: Transfer, number: string): Transfer {
  const isOwn = transfer.bridge === bridge && transfer.sourceChain === chain.name && transfer.emitter === emitterOf(contract)
  if (isOwn && transfer.sequence === number) return transfer
  throw new RelayerError('INTERNAL', { detail: 'The transfer of a log is not of its stream.', facts: { chain: chain.name, place: number } })
}
