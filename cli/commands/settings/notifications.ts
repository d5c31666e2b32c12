import type { Command } from 'commander'
import { assertReceiver, listReceivers, type ReceiverReport } from '../../../operations/notifications/receiver-report.ts'
import { orderOfNotifier, testNotifier } from '../../../temporal/client/settings/notifiers.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { pastTime, type Reasoned, withReason } from '../../arguments/options.ts'
import { order } from '../../orders.ts'
import { list, type Part, section, timeText } from '../../output/output.ts'

/** For a test to arrive: longer than a try takes, and than the notifier takes to hear of it, ms. */
const testMs = 30_000

export const notificationsCommand: CommandSpec = {
  description: 'Receivers of signed webhooks: who is told of what, and what they did not take.',
  commands: {
    list: {
      description: 'The receivers of the config, and how far each was told.',
      examples: ['portage notifications list'],
      run: ({ withTemporal }: Call) =>
        withTemporal(async (client, { notifications }) => {
          const receivers = await listReceivers(client, notifications)
          return { json: { receivers }, text: [table(receivers), ...failing(receivers)] }
        }),
    },
    test: {
      description:
        'Send a receiver a notification of the type notification.test, and wait until it has taken it. Ends with 1 if it does not.',
      options: (command) => named(command, 'a test'),
      examples: ['portage notifications test pager'],
      run: ({ withOrder }: Call<Reasoned>, receiver: string) =>
        withOrder(async (client, { notifications }, allow) => {
          assertReceiver(notifications, receiver)
          const result = await testNotifier(client, receiver, allow({}), testMs)
          const text = !result
            ? `${receiver} was not tried within ${testMs / 1_000} s: does a process of the role ledger have it in its config?`
            : result.taken
              ? `${receiver} has taken it`
              : `${receiver} did not take it: ${result.why}`
          return { json: { receiver, ...(result ?? { taken: false }) }, text, failed: result?.taken !== true }
        }),
    },
    replay: {
      description:
        'Tell a receiver again what happened since then, under the same ids: transfers as long as Temporal keeps them, and the latest 100 of all else.',
      options: (command) => named(command).requiredOption('--since <time>', 'in UTC: 2026-11-22 or 2026-11-22T17:00Z', pastTime),
      examples: ['portage notifications replay ledger --since 2026-11-22T17:00Z --reason "it lost its database"'],
      run: (call: Call<Reasoned & { since: number }>, receiver: string) =>
        send(call, receiver, `is told again what happened since ${new Date(call.options.since).toISOString()}`, (given) => ({
          kind: 'replay',
          since: call.options.since,
          order: given,
        })),
    },
    disable: {
      description: 'Tell a receiver nothing any more. What happens meanwhile waits in Temporal.',
      options: (command) => named(command),
      examples: ['portage notifications disable pager --reason "it is being moved"'],
      run: (call: Call<Reasoned>, receiver: string) =>
        send(call, receiver, 'is told nothing any more', (given) => ({ kind: 'disable', order: given })),
    },
    enable: {
      description: 'Tell a receiver again, also after it said that it wants no more (410): from where it was left, and at once.',
      options: (command) => named(command).option('--from-now', 'leave out what happened meanwhile'),
      examples: ['portage notifications enable pager --reason "it was moved"'],
      run: (call: Call<Reasoned & { fromNow?: true }>, receiver: string) =>
        send(call, receiver, 'is told again', (given) => ({
          kind: 'enable',
          order: given,
          ...(call.options.fromNow && { fromNow: true }),
        })),
    },
  },
}

function named(command: Command, reason?: string): Command {
  return withReason(command.argument('<receiver>', 'its name in the config'), reason)
}

function send(
  call: Call<Reasoned>,
  receiver: string,
  done: string,
  given: (order: { readonly by: string; readonly reason: string }) => Parameters<typeof orderOfNotifier>[2],
) {
  return order(call, { done: `${receiver} ${done}` }, async (client, { notifications }, allow) => {
    assertReceiver(notifications, receiver)
    await orderOfNotifier(client, receiver, given(allow({})))
    return { result: 'asked', json: { receiver, asked: true }, about: {} }
  })
}

const headings = ['receiver', 'state', 'sent', 'unsent', 'oldest unsent', 'as of']

function table(receivers: readonly ReceiverReport[]): Part {
  const rows = receivers.map(({ name, state, sent, unsent, oldestUnsentAt, asOf }) => [
    ...[name, state, sent, unsent],
    ...[oldestUnsentAt, asOf].map((at) => at && timeText(at)),
  ])
  return list('no receivers: docs/operate/notifications.md', headings, rows)
}

/** Why a receiver is told nothing now. */
function failing(receivers: readonly ReceiverReport[]): Part[] {
  const rows = receivers.filter(({ problem, disabled }) => problem ?? disabled)
  return section(rows, ['receiver', 'why', 'since', 'next try'], ({ name, problem, failingSince, nextTryAt, disabled }) => {
    const why = disabled ? (disabled.why === 'gone' ? 'it wants no more (410)' : 'disabled by an operator') : problem
    return [name, why, ...[disabled?.at ?? failingSince, nextTryAt].map((at) => at && timeText(at))]
  })
}
