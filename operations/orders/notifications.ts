import { z } from 'zod'
import { orderOfNotifier, testNotifier } from '../../temporal/client/settings/notifiers.ts'
import { assertReceiver } from '../notifications/receiver-report.ts'
import { type AskedOrder, field, type Fields, type Given, option, type OrderSpec, type Unsigned } from './spec.ts'
import { values } from './values.ts'

const testMs = 25_000

const common = { level: 'admin', subject: 'receiver', reason: 'required' } as const

interface ReceiverText<Of extends Fields> extends AskedOrder<Of, Unsigned<Parameters<typeof orderOfNotifier>[2]>> {
  readonly said: (given: Given<Of>) => string
}

function receiverOrder<Of extends Fields>(name: string, { ask, said, ...text }: ReceiverText<Of>): OrderSpec {
  return {
    ...common,
    ...text,
    route: `/v1/notifications/:receiver/${name}`,
    answer: z.object({ asked: z.literal(true) }),
    async run({ client, config, allow }, receiver, given: Given<Of>) {
      assertReceiver(config.notifications, receiver)
      await orderOfNotifier(client, receiver, { ...ask(given), order: allow({}) })
      return { json: { receiver, asked: true }, text: { asked: `${receiver} ${said(given)}` } }
    },
  }
}

export const notificationOrders = {
  'notifications test': {
    ...common,
    route: '/v1/notifications/:receiver/test',
    summary: 'Send a receiver a notification of the type notification.test, and wait until the receiver has accepted it',
    notes: 'The exit code is 1 if the receiver does not accept the notification.',
    examples: ['portage notifications test pager'],
    reason: { usual: 'a test' },
    answer: z.object({ taken: z.boolean(), why: z.string().optional().describe('Why the receiver did not accept the notification.') }),
    async run({ client, config, allow }, receiver) {
      assertReceiver(config.notifications, receiver)
      const result = (await testNotifier(client, receiver, allow({}), testMs)) ?? {
        taken: false,
        why: `no attempt within ${testMs / 1_000} s: does a process of the role ledger have it in its config?`,
      }
      const text = result.taken ? `${receiver} has accepted it` : `${receiver} did not accept it: ${result.why}`
      return { json: { receiver, ...result }, text, failed: !result.taken }
    },
  },
  'notifications replay': receiverOrder('replay', {
    summary: 'Send a receiver the events since a time once more, with the same ids',
    details: 'The receiver gets the events of transfers that Temporal still keeps, and the latest 100 other events.',
    examples: ['portage notifications replay ledger --since 2026-11-22T17:00Z --reason "it lost its database"'],
    fields: { since: field('--since <time>', values.pastTime, 'in UTC: 2026-11-22 or 2026-11-22T17:00Z') },
    ask: ({ since }) => ({ kind: 'replay', since }),
    said: ({ since }) => `receives again all events since ${new Date(since).toISOString()}`,
  }),
  'notifications disable': receiverOrder('disable', {
    summary: 'Stop sending notifications to a receiver',
    details: 'New events for the receiver wait in Temporal.',
    examples: ['portage notifications disable pager --reason "it is being moved"'],
    ask: () => ({ kind: 'disable' }),
    said: () => 'receives no more notifications',
  }),
  'notifications enable': receiverOrder('enable', {
    summary: 'Send notifications to a disabled receiver again, beginning with the first event that it missed',
    details: 'The order also enables a receiver that has answered 410 (it wants no more notifications).',
    examples: ['portage notifications enable pager --reason "it was moved"'],
    fields: {
      fromNow: option('--from-now', values.flag, 'skip the events that the receiver missed, and begin with the events from now on'),
    },
    ask: ({ fromNow }) => ({ kind: 'enable', fromNow }),
    said: () => 'receives notifications again',
  }),
} satisfies Record<string, OrderSpec>
