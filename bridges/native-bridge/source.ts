import type { At } from '../../chains/port.ts'
import { agreedPerTick, askMostIf, type ContractReader, type Finality, inTicks, unless } from '../kit/contract-reader.ts'
import { readInboundNonce, readOutbound } from './contracts.ts'
import { checkId, type NativeTransfer } from './message.ts'

/** Finds transfers whose logs a node hides. Undefined: no entry yet. Throws NATIVE_ID_MISMATCH. */
export function recordedUnder(chain: ContractReader, bridge: string, nonces: readonly bigint[], at: Finality) {
  return inTicks(nonces, (nonce) => recordedAt(chain, bridge, nonce, at), at === 'agreed' ? agreedPerTick : undefined)
}

/** At `finalized`. Other nodes confirm missing or contradictory entries; undefined if they disagree. */
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

/** The nonces of completed ids, by most nodes. 0: not completed; undefined: disagreement. */
export function completedByMost(chain: ContractReader, bridge: string, ids: readonly string[]) {
  const readAt = (id: string, at: Finality) => readInboundNonce(chain, bridge, id, at)
  return askMostIf(ids, readAt, (nonce) => nonce !== 0n)
}

/** Highest nonce; 0: none. The table has no holes: doubles steps from `known` (down if it is gone), then halves. */
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

/** By more than half of the nodes. Starts from one node's answer, which saves a single node's waits. */
export async function agreedHighestNonce(chain: ContractReader, bridge: string, known = 0n): Promise<bigint> {
  const likely = await highestNonce(chain, bridge, { known })
  return highestNonce(chain, bridge, { known: likely, at: 'agreed' })
}
