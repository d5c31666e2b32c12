import { cause, commands, retry, type Row, row } from './row.ts'

const { reason } = commands

/** Halts, deny rules and the checkpoint of the settings. */
export const settingsRows = {
  HALTED: {
    ...retry(
      'An operator or Portage itself has halted this.',
      'portage unhalt, with the scope that portage settings shows. A halt by `portage` means that two contracts of a native route contradict each other: find out why first.',
    ),
    ...cause(
      'chain',
      'Transfers are taken in and wait without a nonce. Transactions that were signed before are still mined.',
      ['portage settings', `portage unhalt <scope> ${reason}`],
      'Nothing new is signed for it.',
    ),
  },
  DENIED: {
    title: 'Transfers were declined because their recipient or token is on the deny-list.',
    remedy: 'Nothing if the rule is right. Otherwise remove the rule, then portage transfer retry.',
    ...cause('note', 'The transfers have ended as declined. A retry decides again.', [
      'portage settings',
      `portage allow <kind> <party> ${reason}`,
    ]),
  },
  SETTINGS_UNREACHABLE: retry('The settings workflow did not answer.', 'Check that a worker serves the queue ledger.'),
  SETTINGS_OLDER: row(
    'The settings are older than before, or gone: Temporal was wiped or restored.',
    'portage settings: halts, denied parties and revoked tokens are ordered again from the checkpoint. Check everything else.',
  ),
  SETTINGS_RESTORED: row(
    'Temporal had no settings: those of the checkpoint are in force again.',
    'portage settings shows what is in force.',
  ),
  SETTINGS_ORDERED_AGAIN: row(
    'An order of the checkpoint was missing from the settings, and was given again.',
    'portage settings shows what is in force. End what should not be.',
  ),
  SETTINGS_CHECKPOINT_UNUSABLE: row(
    'The checkpoint of the settings cannot be used: halts from before a wipe are not known.',
    'portage halt and portage deny what must not run, then correct or remove the file, or the object.',
  ),
} satisfies Record<string, Row>
