import type { Broke, LaneState } from '../lane.ts'
import { entryCost, unmined, without } from '../entries.ts'

/** Below the minimum that the config asks for; undefined if not, or if the balance is not known. */
function tooLow({ config, observed }: LaneState): string | undefined {
  const { minimumBalance } = config
  if (!minimumBalance || !observed || BigInt(observed.balance) >= BigInt(minimumBalance)) return undefined
  return `balance ${observed.balance} wei, minimum ${minimumBalance} wei`
}

/**
 * Can the account pay for one more, beside everything in flight? `detail`: why not. The lane has no funds only when the balance does not cover the gas of this
 * grant alone: one that must wait for others, or whose call moves more than there is, says nothing about the lane. @param cost gas at the worst, wei
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

/** Broke: the balance is below the minimum, or does not cover the lowest nonce in flight, or the cheapest refused grant. Ends by itself when there are funds. */
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
  // '0': broke for another reason than a grant, so that none was refused yet.
  const known = BigInt(broke?.cost ?? '0')
  return String(known > 0n && known < cost ? known : cost)
}
