import type { Revert } from '../../chains/port.ts'
import { parseRevert } from '../kit/contract-reader.ts'
import type { RevertMeaning } from '../port.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { gateOf, type InboundLimits } from './inbound-limits.ts'

export interface RevertContext {
  readonly limits: InboundLimits
  readonly amount: bigint
  readonly now: number
}

const impossible = (reason: string): RevertMeaning => ({ kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE', reason })
const poolEmpty: RevertMeaning = { kind: 'wait', code: 'BRIDGE_POOL_EMPTY', reason: 'the pool of the bridge cannot pay the amount' }
const overBudget = { kind: 'wait', code: 'BRIDGE_BUDGET', reason: 'the inbound budget of the day is spent' } as const

const meanings: Readonly<Record<string, RevertMeaning>> = {
  CompletedBridgeTransferId: { kind: 'delivered' },
  AccessControlUnauthorizedAccount: {
    kind: 'wait',
    code: 'BRIDGE_ROLE_MISSING',
    reason: 'the account has no RELAYER_ROLE: its lane must be paused until the role is granted',
  },
  EnforcedPause: { kind: 'wait', code: 'BRIDGE_PAUSED', reason: 'the native bridge is paused' },
  InboundRateLimitExceeded: overBudget,
  MOVETransferFailed: poolEmpty,
  ERC20InsufficientBalance: poolEmpty,
  InvalidNonce: impossible('the nonce is 0'),
  InvalidBridgeTransferId: impossible('the id is not the hash of the arguments'),
  InvalidLenghts: impossible('the lists of the batch differ in length'),
  ERC20InvalidReceiver: impossible('the token pays nothing to this recipient'),
  ZeroAmount: impossible('the amount is 0'),
  ZeroAddress: impossible('an address is 0'),
}

/** Calls of an uninitialised contract revert with panic 0x12, because its risk denominator is 0. */
const divisionByZero = 0x12n

/**
 * Interprets a revert. While the budget of the day is spent, the call of a delivered transfer also reverts with the
 * error of the budget, so this error does not show whether the transfer is delivered.
 */
export function explainRevert({ data, reason }: Revert, context?: RevertContext): RevertMeaning {
  const error = parseRevert(nativeBridgeAbi, data)
  if (error?.name === 'Panic' && error.args[0] === divisionByZero)
    return { kind: 'wait', code: 'DELIVERY_REVERTED', reason: 'the native bridge is not initialised (panic 0x12)' }
  if (error?.name === 'InboundRateLimitExceeded' && context) return overLimit(context)
  const unknown = error?.name === 'Error' ? String(error.args[0]) : error?.name
  return meanings[error?.name ?? ''] ?? { kind: 'unknown', code: 'DELIVERY_REVERTED', reason: unknown ?? reason }
}

/**
 * A transfer waits even if its amount is above the cap, because the revert comes from one node. Only the gate, which
 * asks most nodes, may park a transfer.
 */
function overLimit({ limits, amount, now }: RevertContext): RevertMeaning {
  const gate = gateOf({ ...limits, mayComplete: true, paused: false }, amount, now)
  return gate.kind === 'open' ? overBudget : { kind: 'wait', code: gate.code, reason: gate.reason }
}
