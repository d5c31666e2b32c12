import type { Broke, LaneState } from '../lane.ts'
import { entryCost, unmined, without } from '../entries.ts'

function tooLow({ config, observed }: LaneState): string | undefined {
  const { minimumBalance } = config
  if (!minimumBalance || !observed || BigInt(observed.balance) >= BigInt(minimumBalance)) return undefined
  return `balance ${observed.balance} wei, minimum ${minimumBalance} wei`
}

/** Whether the account can pay one more grant above all in flight. `detail`: why not. @param cost gas at worst, wei */
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

/** Marks the lane as broke while it is below the minimum, or pays for neither the lowest nonce nor a grant. */
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
