import { mip61Bridge, mip61Of } from '../../domain/stream/mip61-state.ts'
import { isOutcome, transferStates, transitions, type TransferState } from '../../domain/transfer/transfer.ts'

/** The meaning of each state. A state without one does not compile. */
const meanings: Record<TransferState, string> = {
  admitting: 'The message is checked, the target chain is asked whether it has arrived, the call is simulated, a lane is chosen.',
  waiting: 'Not now: a gate is closed (bridge paused, wrapper missing, no lane free …). It holds no nonce, and tries again by itself.',
  broadcasting: 'The lane gives a nonce, signs, sends and follows the transaction.',
  pending: 'Sent, not in a block. The lane goes on driving it; the transfer holds a nonce and no worker slot.',
  included: 'The effect is in a block that is not final yet: by our transaction or by someone else’s.',
  parked: 'Out of automatic tries. Still watched; waits for an operator (`portage transfer retry`, `cancel`).',
  delivered: 'The target chain’s finalized state shows the effect, and the result says who delivered.',
  rejected: 'Not a valid message, for good.',
  declined: 'Valid, but our policy says no (fee, asset, chain): `portage transfer retry` has it decided again when the policy has changed.',
  cancelled:
    'Ended by an order, whose name and reason its history shows (`unnamed` for a signal without a name), once every nonce that it ever held was final and the effect was not there.',
}

/** The state diagram and the tables of the states, from `transitions` in domain/transfer/transfer.ts. */
export function describeLifecycle(): string {
  return [diagram(), table()].join('\n\n')
}

function diagram(): string {
  const arrows = transferStates.flatMap((from) => transitions[from].map((to) => `  ${from} --> ${to}`))
  const ends = transferStates.filter(isOutcome).map((state) => `  ${state} --> [*]`)
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> admitting', ...arrows, ...ends, '```'].join('\n')
}

function table(): string {
  const rows = transferStates.map((state) => {
    const next = isOutcome(state) ? 'the end' : transitions[state].map((to) => `\`${to}\``).join(', ')
    const mip61 = mip61Of({ bridge: mip61Bridge, state })
    return `| \`${state}\` | ${meanings[state]} | ${mip61 ? `\`${mip61}\`` : '-'} | ${next} |`
  })
  return ['| state | meaning | in MIP-61 | may become |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
