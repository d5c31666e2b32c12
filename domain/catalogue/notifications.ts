import { cause, commands, outage, type CatalogueRow, row } from './row.ts'

const { reason } = commands
const list = 'portage notifications list'
const enable = `portage notifications enable <receiver> ${reason}`
const waits = 'Events wait in Temporal for as long as Temporal keeps closed workflows.'

export const notificationRows = {
  RECEIVER_GONE: {
    title: 'A receiver of notifications has answered 410, which means that it wants no more notifications. Portage has disabled it.',
    remedy: 'If the url of the receiver is still right, run `portage notifications enable`; otherwise remove the receiver from the config.',
    ...cause('notifications', waits, [list, enable]),
  },
  RECEIVER_UNSERVED: {
    title: 'No process serves one of the receivers of notifications.',
    remedy: 'Start a process of the role ledger with this receiver in its `notifications`, and with its secrets.',
    severity: 'notifications',
    does: `${waits} Portage sends these events once a process serves the receiver.`,
    next: ['portage run --role ledger', list],
  },
  RECEIVER_FAILING: {
    title: 'A receiver of notifications does not answer, or refuses notifications.',
    remedy:
      '`portage notifications list` shows the last error. After 401 or 403, check that the receiver has the secret with which Portage signs. After 404 or 3xx, check the url of the receiver. If `portage notifications test` succeeds, the waiting notifications are sent at once.',
    severity: 'notifications',
    does: 'Portage retries less and less often. Other receivers are notified as usual.',
    next: [list, 'portage notifications test <receiver>'],
  },
  RECEIVER_DISABLED: {
    title: 'An operator has disabled a receiver of notifications.',
    remedy: 'Enable the receiver. With `--from-now`, the receiver is not notified of the events that it missed.',
    ...cause('notifications', waits, [enable]),
  },
  NOTIFIER_UNREACHABLE: outage('The notifier of this receiver did not answer.', 'Check that a worker serves the queue `ledger`.'),
  RECEIVER_REFUSES: row(
    'A receiver refuses a notification. Portage sends the notification again.',
    "Look for the id in the receiver's own log. After 401 or 403, check that the receiver has the secret. After 404 or 3xx, check the url of the receiver.",
  ),
  NOTIFICATION_GIVEN_UP: row(
    'A receiver refused a notification at every try. Portage no longer sends this notification.',
    'Repair the receiver, then run `portage notifications replay`.',
  ),
  RECEIVER_SECRET_UNUSABLE: row(
    'A secret of a receiver cannot be used. Until the secret is corrected, the receiver gets no notifications.',
    'A secret is `whsec_` and 24 to 64 random bytes in base64: `echo "whsec_$(openssl rand -base64 32)"` makes one.',
  ),
  RUN_FOREIGN: row(
    'A run that Portage did not write claims to be a delivery or a reversal. No receiver is notified of this run.',
    'Somebody else writes to Temporal: find out who can reach Temporal (SECURITY.md). Look at the run, and terminate or delete it if it is not yours.',
  ),
} satisfies Record<string, CatalogueRow>
