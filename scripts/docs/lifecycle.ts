import { mip61Bridge, mip61Of, isOutcome, transferStates, transitions, type TransferState } from '../../domain/transfer/transfer.ts'

/** The meaning of each state. A state without one does not compile. */
const meanings: Record<TransferState, string> = {
  admitting: 'Portage checks the message, asks the target chain whether it has arrived, simulates the call and chooses a lane.',
  waiting: 'A gate is closed (bridge paused, wrapper missing, no lane free …). The transfer holds no nonce, and retries by itself.',
  broadcasting: 'The lane grants a nonce, signs, sends and follows the transaction.',
  pending: 'Sent, not in a block. The lane keeps driving it; the transfer holds a nonce and no worker slot.',
  included: 'The effect is in a block that is not final yet, by a transaction of Portage or of someone else.',
  parked: 'Out of automatic tries. Still watched, and waiting for an operator (`portage transfer retry`, `cancel`).',
  delivered: 'The target chain’s finalized state shows the effect, and the result says who delivered.',
  rejected: 'Not a valid message, and never will be.',
  declined: 'Valid, but refused by policy (fee, asset, chain). `portage transfer retry` decides again after the policy has changed.',
  cancelled:
    'Ended by an order. Every nonce that the transfer ever held is final, and the effect is not there. Its history has the name (`unnamed` for a signal without one) and the reason.',
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
