import type { Revert } from '../../chains/port.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { parseRevert } from '../common/contract-reader.ts'
import type { RevertMeaning } from '../port.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { gateOf, type InboundLimits } from './gates.ts'

/** What is known beside the bytes of a revert: its code tells a spent budget from an amount that never fits. */
export interface RevertContext {
  readonly limits: InboundLimits
  readonly amount: bigint
  /** Seconds since the epoch. */
  readonly now: number
}

interface Row {
  readonly means: 'delivered' | 'wait' | 'permanent' | 'unknown'
  readonly code: ErrorCode
  readonly say: string
}

const impossible = (say: string): Row => ({ means: 'permanent', code: 'DELIVERY_IMPOSSIBLE', say })
const poolEmpty: Row = { means: 'wait', code: 'BRIDGE_POOL_EMPTY', say: 'the pool of the bridge cannot pay the amount' }

/**
 * Every error of the contract, of OpenZeppelin's parts in it, and of the token, that completions throw. The others (of
 * other functions: OutboundRateLimitExceeded, InvalidRiskDenominator, ExpectedPause, InvalidInitialization…) are unknown by name, hence tried again.
 */
const rows: Readonly<Record<string, Row>> = {
  CompletedBridgeTransferId: { means: 'delivered', code: 'DELIVERY_REVERTED', say: 'completed already' },
  AccessControlUnauthorizedAccount: {
    means: 'wait',
    code: 'BRIDGE_ROLE_MISSING',
    say: 'the account has no RELAYER_ROLE: its lane must be paused until it is granted',
  },
  EnforcedPause: { means: 'wait', code: 'BRIDGE_PAUSED', say: 'the native bridge is paused' },
  InboundRateLimitExceeded: { means: 'wait', code: 'BRIDGE_BUDGET', say: 'the inbound budget of the day is spent' },
  MOVETransferFailed: poolEmpty,
  ERC20InsufficientBalance: poolEmpty,
  InvalidNonce: impossible('the nonce is 0'),
  InvalidBridgeTransferId: impossible('the id is not the hash of the arguments'),
  InvalidLenghts: impossible('the lists of the batch differ in length'),
  ERC20InvalidReceiver: impossible('the token pays nothing to this recipient'),
  ZeroAmount: impossible('the amount is 0'),
  ZeroAddress: impossible('an address is 0'),
}

/** Division by zero: the contract has no risk denominator, so it was never initialised. */
const divisionByZero = 0x12n

/**
 * What a revert of completeBridgeTransfer means. A spent budget hides that a transfer is completed already (the contract looks at the budget first),
 * so `delivered` must have been asked before.
 */
export function explainRevert({ data, reason }: Revert, context?: RevertContext): RevertMeaning {
  const error = parseRevert(nativeBridgeAbi, data)
  if (error?.name === 'Panic' && error.args[0] === divisionByZero)
    return { kind: 'wait', code: 'DELIVERY_REVERTED', reason: 'the native bridge is not initialised (panic 0x12)' }
  if (error?.name === 'InboundRateLimitExceeded' && context) return overLimit(context)
  const row = error && rows[error.name]
  if (!row)
    return { kind: 'unknown', code: 'DELIVERY_REVERTED', reason: (error?.name === 'Error' ? String(error.args[0]) : error?.name) ?? reason }
  if (row.means === 'delivered') return { kind: 'delivered' }
  return { kind: row.means, code: row.code, reason: row.say }
}

/**
 * The budget was too small a moment ago, whatever is read of it now. What is above the cap waits, too: both the revert and the limits are what one node
 * says, and the gate, which the next admission meets first, asks most of them before it parks.
 */
function overLimit({ limits, amount, now }: RevertContext): RevertMeaning {
  const gate = gateOf({ ...limits, mayComplete: true, paused: false }, amount, now)
  const { code, say } = rows['InboundRateLimitExceeded'] as Row
  return gate.kind === 'open' ? { kind: 'wait', code, reason: say } : { kind: 'wait', code: gate.code, reason: gate.reason }
}
