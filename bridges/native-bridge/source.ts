import type { At } from '../../chains/port.ts'
import { agreedPerTick, askMostIf, type ContractReader, type Finality, inTicks, unless } from '../kit/contract-reader.ts'
import { readInboundNonce, readOutbound } from './contracts.ts'
import { checkId, type NativeTransfer } from './message.ts'

/** The source's table under these nonces, in order; undefined: nothing yet. So a transfer is found even if a node hides its log. Throws NATIVE_ID_MISMATCH. */
export function recordedUnder(chain: ContractReader, bridge: string, nonces: readonly bigint[], at: Finality) {
  return inTicks(nonces, (nonce) => recordedAt(chain, bridge, nonce, at), at === 'agreed' ? agreedPerTick : undefined)
}

/** The same at `finalized`; what a node lacks or contradicts is asked of the others: who hides a log may hide the entry. Undefined also where they disagree. */
export function recordedByAny(chain: ContractReader, bridge: string, nonces: readonly bigint[]) {
  const readAt = (nonce: bigint, at: Finality) => {
    const reading = recordedAt(chain, bridge, nonce, at)
    return at === 'agreed' ? reading : unless(reading, ({ haltRoute }) => haltRoute)
  }
  return askMostIf(nonces, readAt, (found) => found === undefined)
}

async function recordedAt(chain: ContractReader, bridge: string, nonce: bigint, at: At): Promise<NativeTransfer | undefined> {
  const recorded = await readOutbound(chain, bridge, nonce, at)
  return recorded && checkId(recorded)
}

/** The nonces under which the target shows these ids as completed, 0: not. What one node shows is asked of the others. Undefined where they do not agree. */
export function completedByMost(chain: ContractReader, bridge: string, ids: readonly string[]) {
  const readAt = (id: string, at: Finality) => readInboundNonce(chain, bridge, id, at)
  return askMostIf(ids, readAt, (nonce) => nonce !== 0n)
}

/**
 * The highest nonce that the source has given out; 0: none. Its counter is private, but the table has no holes: look at doubled distances from `known` until there
 * is nothing, then halve. Two reads of one tick if `known` still is the highest; from another, 2 log2 of the distance at most. If it is gone, all below is looked at.
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
  let step = 1n
  while (present && (await exists(low + step))) {
    low += step
    step *= 2n
  }
  let high = present ? low + step : known
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (await exists(middle)) low = middle
    else high = middle
  }
  return low
}

/** On the word of more than half of the nodes. One node says `known` first: a lone one is asked twice a block apart, which costs one wait unless it was wrong. */
export async function agreedHighestNonce(chain: ContractReader, bridge: string, known = 0n): Promise<bigint> {
  const likely = await highestNonce(chain, bridge, { known })
  return highestNonce(chain, bridge, { known: likely, at: 'agreed' })
}
