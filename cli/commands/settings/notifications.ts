import { listReceivers, type ReceiverReport } from '../../../operations/notifications/receiver-report.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { orderCommands } from '../../orders.ts'
import { list, type Part, section, timeText } from '../../output/output.ts'

export const notificationsCommand: CommandSpec = {
  description: 'Receivers of signed webhooks: their events, and notifications that they have not accepted.',
  commands: {
    list: {
      description: 'The receivers of the config, and the progress of each.',
      examples: ['portage notifications list'],
      run: ({ withTemporal }: Call) =>
        withTemporal(async (client, { notifications }) => {
          const receivers = await listReceivers(client, notifications)
          return { json: { receivers }, text: [table(receivers), ...failing(receivers)] }
        }),
    },
    ...orderCommands('notifications'),
  },
}

const headings = ['receiver', 'state', 'sent', 'unsent', 'oldest unsent', 'as of']

function table(receivers: readonly ReceiverReport[]): Part {
  const rows = receivers.map(({ name, state, sent, unsent, oldestUnsentAt, asOf }) => [
    ...[name, state, sent, unsent],
    ...[oldestUnsentAt, asOf].map((at) => at && timeText(at)),
  ])
  return list('no receivers: docs/operate/notifications.md', headings, rows)
}

function failing(receivers: readonly ReceiverReport[]): Part[] {
  const rows = receivers.filter(({ problem, disabled }) => problem ?? disabled)
  return section(rows, ['receiver', 'why', 'since', 'next try'], ({ name, problem, failingSince, nextTryAt, disabled }) => {
    const why = disabled ? (disabled.why === 'gone' ? 'it wants no more (410)' : 'disabled by an operator') : problem
    return [name, why, ...[disabled?.at ?? failingSince, nextTryAt].map((at) => at && timeText(at))]
  })
}
