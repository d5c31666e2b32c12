import type { Broke, LaneState } from '../lane.ts'
import { entryCost, unmined, without } from '../entries.ts'

/** Why the balance is below the configured minimum. Undefined if it is not, or is not known. */
function tooLow({ config, observed }: LaneState): string | undefined {
  const { minimumBalance } = config
  if (!minimumBalance || !observed || BigInt(observed.balance) >= BigInt(minimumBalance)) return undefined
  return `balance ${observed.balance} wei, minimum ${minimumBalance} wei`
}

/**
 * Whether the account can pay for one more grant besides all in flight. `detail`: why not. The lane counts as without
 * funds only if the balance does not cover the gas of this grant alone.
 * @param cost gas at the worst, wei
 */
export function funded(
  state: LaneState,
  { cost, value, operatorTransaction }: { cost: bigint; value: bigint; operatorTransaction: boolean },
): { state: LaneState; detail?: string } {
  const low = operatorTransaction ? undefined : tooLow(state)
  const balance = BigInt(state.observed?.balance ?? '0')
  const needed = unmined(state).reduce((sum, entry) => sum + entryCost(entry), cost + value)
  if (!low && needed <= balance) return { state }
  const detail = low ?? `balance ${balance} wei, needed ${needed} wei`
  return { state: low || cost > balance ? { ...state, broke: { detail, cost: cheapest(state.broke, cost) } } : state, detail }
}

/**
 * Marks the lane as broke if the balance is below the minimum, or pays neither for the lowest nonce in flight nor for
 * the cheapest refused grant. Removes the mark when there are funds.
 */
export function reviewFunds(state: LaneState): LaneState {
  if (!state.observed) return state
  const balance = BigInt(state.observed.balance)
  const cost = state.broke?.cost ?? '0'
  const [lowest] = unmined(state)
  const owed = lowest ? entryCost(lowest) : 0n
  const isOwed = owed > balance && `balance ${balance} wei, nonce ${lowest?.nonce} needs ${owed} wei`
  const isRefused = BigInt(cost) > balance && `balance ${balance} wei, needed ${cost} wei`
  const detail = tooLow(state) ?? (isOwed || isRefused)
  return detail ? { ...state, broke: { detail, cost } } : without(state, 'broke')
}

function cheapest(broke: Broke | undefined, cost: bigint): string {
  // '0': broke for another reason than a refused grant.
  const known = BigInt(broke?.cost ?? '0')
  return String(known > 0n && known < cost ? known : cost)
}
