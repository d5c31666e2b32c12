import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import { type ContractReader, inTicks, unlessDisagreed } from '../common/contract-reader.ts'
import { type LogReader, type PlacedLog, readLogs } from '../common/logs.ts'
import type { BlockRange } from '../source-port.ts'
import { type Outbound, readInboundNonce, readOutbound } from './contracts.ts'
import { completedTopic, initiatedTopic, readCompleted, readInitiated, type TransferEvent } from './events.ts'
import { checkId, type NativeTransfer } from './message.ts'

/** Reads at a time at `agreed`, where a single node is asked twice, a block apart: all wait for one block, and the node gets them by the hundred. */
const agreedPerTick = 1_000

/**
 * The transfers that started in these blocks, in order. Throws NATIVE_ID_MISMATCH (but at `agreed` a node's word alone: to be asked there before the route is
 * halted), NODE_REFUSED (also for logs that were not asked for), NODE_UNAVAILABLE; at `agreed` NODES_DISAGREE.
 */
export function initiatedIn(chain: LogReader, bridge: string, range: BlockRange, at?: 'agreed'): Promise<readonly TransferEvent[]> {
  return eventsIn(chain, bridge, range, initiatedTopic, readInitiated, at)
}

/** The transfers that were completed in these blocks, by any account, as their sources know them. Throws as `initiatedIn`. */
export function completedIn(chain: LogReader, bridge: string, range: BlockRange, at?: 'agreed'): Promise<readonly TransferEvent[]> {
  return eventsIn(chain, bridge, range, completedTopic, readCompleted, at)
}

/**
 * What the source's table says of these nonces, in the same order; undefined: nothing yet. So a transfer is found even if a node hides its log.
 * Batched. Throws NATIVE_ID_MISMATCH, and what reads throw.
 */
export async function recordedUnder(
  chain: ContractReader,
  bridge: string,
  nonces: readonly bigint[],
  at: At = 'finalized',
): Promise<readonly (NativeTransfer | undefined)[]> {
  return inTicks(nonces, (nonce) => recordedAt(chain, bridge, nonce, at), perTick(at))
}

/**
 * The same at `finalized`; but what one node does not have, or what contradicts itself there, is asked of the others: a node that hides a log may hide the
 * entry too. Undefined also where they do not agree. Throws NATIVE_ID_MISMATCH (by quorum), and what reads throw.
 */
export async function recordedByAny(
  chain: ContractReader,
  bridge: string,
  nonces: readonly bigint[],
): Promise<readonly (NativeTransfer | undefined)[]> {
  const found = await inTicks(nonces, (nonce) => unlessMismatched(recordedAt(chain, bridge, nonce, 'finalized')))
  const missing = nonces.filter((_, index) => !found[index])
  const others = await inTicks(missing, (nonce) => unlessDisagreed(recordedAt(chain, bridge, nonce, 'agreed')), agreedPerTick)
  const byNonce = new Map(missing.map((nonce, index) => [nonce, others[index]]))
  return nonces.map((nonce, index) => found[index] ?? byNonce.get(nonce))
}

async function recordedAt(chain: ContractReader, bridge: string, nonce: bigint, at: At): Promise<NativeTransfer | undefined> {
  const recorded: Outbound | undefined = await readOutbound(chain, bridge, nonce, at)
  if (!recorded) return undefined
  const transfer = { ...recorded, nonce }
  checkId(transfer)
  return transfer
}

/** For each id the nonce under which the target completed it, 0 where it has not: what a bootstrap skips. Batched. Throws what reads throw. */
export function completedUnder(
  chain: ContractReader,
  bridge: string,
  ids: readonly string[],
  at: At = 'finalized',
): Promise<readonly bigint[]> {
  return inTicks(ids, (id) => readInboundNonce(chain, bridge, id, at), perTick(at))
}

/**
 * The same at `finalized`, where what one node shows is asked of the others before it stands: whatever is delivered is never started. 0 also where they do
 * not agree.
 */
export async function completedByMost(chain: ContractReader, bridge: string, ids: readonly string[]): Promise<readonly bigint[]> {
  const shown = await completedUnder(chain, bridge, ids)
  const claimed = ids.filter((_, index) => shown[index] !== 0n)
  const agreed = await inTicks(claimed, (id) => unlessDisagreed(readInboundNonce(chain, bridge, id, 'agreed')), agreedPerTick)
  const byId = new Map(claimed.map((id, index) => [id, agreed[index] ?? 0n]))
  return ids.map((id) => byId.get(id) ?? 0n)
}

/**
 * The highest nonce that the source has given out; 0: none. Its counter is private, but the table has no holes: look at doubled distances until there
 * is nothing, then halve. Two reads of one tick if `known` still is the highest; from another, 2 log2 of the distance at most, and those two.
 * @param known a nonce that was known to exist, or 0; if it is gone, all below is looked at again
 */
export async function highestNonce(
  chain: ContractReader,
  bridge: string,
  { known = 0n, at = 'finalized' }: { readonly known?: bigint; readonly at?: At } = {},
): Promise<bigint> {
  const exists = async (nonce: bigint) => (await readOutbound(chain, bridge, nonce, at)) !== undefined
  const [present, next] = await Promise.all([known === 0n || exists(known), exists(known + 1n)])
  if (present && !next) return known
  let low = present ? known + 1n : 0n
  let high = known
  if (present) {
    let step = 1n
    while (await exists(low + step)) {
      low += step
      step *= 2n
    }
    high = low + step
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (await exists(middle)) low = middle
    else high = middle
  }
  return low
}

/**
 * The same on the word of more than half of the nodes. A single node is asked twice, a block apart, so that what it says alone is only held against
 * the others' word: one wait for a block unless it was wrong, or new ones became final meanwhile.
 */
export async function agreedHighestNonce(chain: ContractReader, bridge: string, known = 0n): Promise<bigint> {
  const likely = await highestNonce(chain, bridge, { known })
  return highestNonce(chain, bridge, { known: likely, at: 'agreed' })
}

async function eventsIn(
  chain: LogReader,
  bridge: string,
  { fromBlock, toBlock }: BlockRange,
  topic: string,
  readEvent: (log: PlacedLog) => TransferEvent,
  at?: 'agreed',
): Promise<readonly TransferEvent[]> {
  const logs = await readLogs(chain, { address: bridge.toLowerCase(), topics: [topic], fromBlock, toBlock }, at)
  return logs.map(readEvent)
}

function perTick(at: At): number | undefined {
  return at === 'agreed' ? agreedPerTick : undefined
}

/** Undefined where what is recorded contradicts itself. */
async function unlessMismatched<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RelayerError && error.haltRoute) return undefined
    throw error
  }
}
