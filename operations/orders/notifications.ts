import { z } from 'zod'
import { orderOfNotifier, testNotifier } from '../../temporal/client/settings/notifiers.ts'
import { assertReceiver } from '../notifications/receiver-report.ts'
import { field, type Given, type OrderContext, type OrderResult, type OrderSpec } from './spec.ts'
import { optional, values } from './values.ts'

/** ms: longer than one delivery may take, shorter than proxies allow. */
const testMs = 25_000

const common = { level: 'admin', subject: 'receiver', reason: 'required' } as const
const asked = z.object({ asked: z.literal(true) })
const replayFields = { since: field('--since <time>', values.pastTime, 'in UTC: 2026-11-22 or 2026-11-22T17:00Z') }
const enableFields = { fromNow: field('--from-now', optional(values.flag), 'leave out events of the time while it was disabled') }

export const notificationOrders = {
  'notifications test': {
    ...common,
    route: '/v1/notifications/:receiver/test',
    summary: 'Send a receiver a notification of the type notification.test, and wait until it has accepted it',
    details: 'The command ends with 1 if it does not.',
    examples: ['portage notifications test pager'],
    fields: {},
    reason: { usual: 'a test' },
    answer: z.object({ taken: z.boolean(), why: z.string().optional().describe('Why it was not accepted.') }),
    async run({ client, config, allow }, receiver) {
      assertReceiver(config.notifications, receiver)
      const result = (await testNotifier(client, receiver, allow({}), testMs)) ?? {
        taken: false,
        why: `no attempt within ${testMs / 1_000} s: does a process of the role ledger have it in its config?`,
      }
      const text = result.taken ? `${receiver} has taken it` : `${receiver} did not take it: ${result.why}`
      return { json: { receiver, ...result }, text, failed: !result.taken }
    },
  },
  'notifications replay': {
    ...common,
    route: '/v1/notifications/:receiver/replay',
    summary: 'Send a receiver all events since a time again, under the same ids',
    details: 'Transfers as long as Temporal keeps them, and the latest 100 of all other events.',
    examples: ['portage notifications replay ledger --since 2026-11-22T17:00Z --reason "it lost its database"'],
    fields: replayFields,
    answer: asked,
    run: (context, receiver, { since }: Given<typeof replayFields>) =>
      send(context, receiver, `receives again all events since ${new Date(since).toISOString()}`, { kind: 'replay', since }),
  },
  'notifications disable': {
    ...common,
    route: '/v1/notifications/:receiver/disable',
    summary: 'Send a receiver nothing any more',
    details: 'New events wait in Temporal.',
    examples: ['portage notifications disable pager --reason "it is being moved"'],
    fields: {},
    answer: asked,
    run: (context, receiver) => send(context, receiver, 'receives nothing any more', { kind: 'disable' }),
  },
  'notifications enable': {
    ...common,
    route: '/v1/notifications/:receiver/enable',
    summary: 'Send a receiver notifications again, from where it was left, and at once',
    details: 'Also after its answer 410, which says that it wants no more.',
    examples: ['portage notifications enable pager --reason "it was moved"'],
    fields: enableFields,
    answer: asked,
    run: (context, receiver, { fromNow }: Given<typeof enableFields>) =>
      send(context, receiver, 'receives notifications again', { kind: 'enable', ...(fromNow && { fromNow }) }),
  },
} satisfies Record<string, OrderSpec>

type Unsigned<One> = One extends unknown ? Omit<One, 'order'> : never
type NotifierOrder = Parameters<typeof orderOfNotifier>[2]

async function send(
  { client, config, allow }: OrderContext,
  receiver: string,
  said: string,
  wanted: Unsigned<NotifierOrder>,
): Promise<OrderResult> {
  assertReceiver(config.notifications, receiver)
  await orderOfNotifier(client, receiver, { ...wanted, order: allow({}) })
  return { json: { receiver, asked: true }, text: { asked: `${receiver} ${said}` } }
}
