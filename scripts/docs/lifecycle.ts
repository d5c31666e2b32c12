import { mip61Bridge, mip61Of, isOutcome, transferStates, transitions, type TransferState } from '../../domain/transfer/transfer.ts'
import { markdownTable } from './markdown.ts'

const meanings: Record<TransferState, string> = {
  admitting:
    'Portage checks the message, asks the target chain whether the transfer is delivered already, chooses a lane and simulates the call.',
  waiting:
    'The transfer cannot continue now (the bridge is paused, a wrapper is missing, no lane takes work …). A waiting transfer holds no nonce (except with the code `NONCE_NOT_FINAL`), and tries again by itself.',
  broadcasting: 'The transfer gets a nonce from the lane. The lane signs the transaction, sends it and follows it.',
  pending:
    'The transaction was sent and is in no block yet. The lane continues to drive the transaction. The transfer holds a nonce, but no worker slot.',
  included: 'A transaction of Portage or of someone else has had the effect, in a block that is not final yet.',
  parked:
    'Portage does not try the transfer again by itself, but still watches it. The transfer waits for an operator (`portage transfer retry`, `cancel`).',
  delivered: 'The target chain’s finalized state shows the effect, and the result says who delivered the transfer.',
  rejected: 'The message is not valid and never will be.',
  declined:
    'The message is valid, but policy refuses it (fee, asset, chain). After the policy has changed, `portage transfer retry` makes Portage decide again.',
  cancelled:
    'An order has ended the transfer. Every nonce that the transfer ever held is final, and the target chain does not show the effect. The history has the reason of the order and the name of its giver (or `unnamed`).',
}

/** The diagram and the tables of states, from `transitions` in domain/transfer/transfer.ts. */
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
    return [`\`${state}\``, meanings[state], mip61 ? `\`${mip61}\`` : '-', next]
  })
  return markdownTable(['state', 'meaning', 'in MIP-61', 'may become'], rows)
}
