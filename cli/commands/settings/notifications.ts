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
          const rows = receivers.map(({ name, state, sent, unsent, oldestUnsentAt, asOf }) => ({
            ...{ receiver: name, state, sent, unsent },
            ...{ 'oldest unsent': oldestUnsentAt && timeText(oldestUnsentAt), 'as of': asOf && timeText(asOf) },
          }))
          return { json: { receivers }, text: [list('no receivers: docs/operate/notifications.md', rows), ...failing(receivers)] }
        }),
    },
    ...orderCommands('notifications'),
  },
}

function failing(receivers: readonly ReceiverReport[]): Part[] {
  const rows = receivers.filter(({ problem, disabled }) => problem ?? disabled)
  return section(rows, ({ name: receiver, problem, failingSince, nextTryAt, disabled }) => {
    const why = disabled ? (disabled.why === 'gone' ? 'it wants no more notifications (410)' : 'disabled by an operator') : problem
    const [since, next] = [disabled?.at ?? failingSince, nextTryAt].map((at) => at && timeText(at))
    return { receiver, why, since, 'next try': next }
  })
}
