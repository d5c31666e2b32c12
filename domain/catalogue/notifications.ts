import { cause, commands, outage, type Row, row } from './row.ts'

const { reason } = commands
const list = 'portage notifications list'
const enable = `portage notifications enable <receiver> ${reason}`
const waits = 'Events wait in Temporal for as long as it keeps closed workflows.'

export const notificationRows = {
  RECEIVER_GONE: {
    title: 'A receiver of notifications has answered 410, which means that it wants no more notifications. Portage has disabled it.',
    remedy: 'If the url of the receiver is still right, run `portage notifications enable`. Otherwise remove the receiver from the config.',
    ...cause('notifications', waits, [list, enable]),
  },
  RECEIVER_UNSERVED: {
    title: 'One of the receivers has no process that notifies it.',
    remedy: 'Start a process of the role ledger with this receiver in its `notifications`, and with its secrets.',
    ...cause('notifications', `${waits} Portage sends these events once a process serves the receiver.`, [
      'portage run --role ledger',
      list,
    ]),
  },
  RECEIVER_FAILING: {
    title: 'A receiver of notifications does not answer, or refuses notifications.',
    remedy:
      '`portage notifications list` shows the last error. After 401 or 403, check that the receiver has the secret that signs. After 404 or 3xx, check its url. If `portage notifications test` succeeds, the waiting notifications are sent at once.',
    ...cause('notifications', 'Portage retries less and less often. Other receivers are notified as usual.', [
      list,
      'portage notifications test <receiver>',
    ]),
  },
  RECEIVER_DISABLED: {
    title: 'An operator has disabled a receiver of notifications.',
    remedy: 'Enable the receiver. With `--from-now` it is not notified of the events since it was disabled.',
    ...cause('notifications', waits, [enable]),
  },
  NOTIFIER_UNREACHABLE: outage('The notifier of this receiver did not answer.', 'Check that a worker serves the queue `ledger`.'),
  RECEIVER_REFUSES: row(
    'A receiver refuses a notification. Portage sends the notification again.',
    "Look for the id in the receiver's own log. After 401 or 403, check that it has the secret. After 404 or 3xx, check its url.",
  ),
  NOTIFICATION_GIVEN_UP: row(
    'A receiver refused a notification at every try. Portage no longer sends this notification.',
    'Repair the receiver, then run `portage notifications replay`.',
  ),
  RECEIVER_SECRET_UNUSABLE: row(
    'A secret of a receiver cannot be used. Until it is corrected, the receiver gets no notifications.',
    'Put `whsec_` and 24 to 64 random bytes in base64 there: `echo "whsec_$(openssl rand -base64 32)"` makes such a secret.',
  ),
  RUN_FOREIGN: row(
    'A run that Portage did not write claims to be a delivery or a reversal. No receiver is notified of it.',
    'Somebody else writes to Temporal: find out who can reach it (SECURITY.md), look at the run, and terminate or delete it if it is not yours.',
  ),
} satisfies Record<string, Row>
