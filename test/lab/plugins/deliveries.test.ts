import { expect, test } from 'vitest'
import { demandEnd } from '../../../lab/plugins/deliveries.ts'

type Report = Awaited<ReturnType<Parameters<typeof demandEnd>[2]['read']>>
const scripted = (...reports: Report[]) => {
  let at = 0
  return { read: async () => reports[Math.min(at++, reports.length - 1)]!, views: async () => '; isDone() answers 0x' }
}

test('a message may take its time until it ends as wanted', async () => {
  await expect(demandEnd('delivered', 'a', scripted({}, { state: 'waiting' }, { state: 'delivered' }))).resolves.toBeUndefined()
  await expect(demandEnd('declined', 'a', scripted({}, { state: 'declined' }))).resolves.toBeUndefined()
})

test.each<['delivered' | 'declined', Report, string]>([
  [
    'delivered',
    { state: 'declined', code: 'PLUGIN_DECLINED', reason: 'too old' },
    'a is declined PLUGIN_DECLINED too old, and not delivered',
  ],
  [
    'delivered',
    { state: 'parked', code: 'DELIVERY_REVERTED', reason: 'foreign emitter' },
    'a is parked DELIVERY_REVERTED foreign emitter, and not delivered; isDone() answers 0x',
  ],
  ['delivered', { state: 'cancelled' }, 'a is cancelled, and not delivered'],
  ['declined', { state: 'delivered' }, 'a is delivered, and not declined'],
])('a message that must be %s fails at once if it ends otherwise: %o', async (wanted, report, problem) => {
  await expect(demandEnd(wanted, 'a', scripted({}, report))).rejects.toThrow(problem)
})

test('a message that takes too long fails with its state, code and reason', async () => {
  const waiting: Report = { state: 'waiting', code: 'PLUGIN_FAILED', reason: 'a: decode threw' }
  await expect(demandEnd('delivered', 'a', scripted(waiting), 0)).rejects.toThrow(
    'a is still waiting PLUGIN_FAILED a: decode threw after 0 s, and not delivered; isDone() answers 0x',
  )
  await expect(demandEnd('delivered', 'a', scripted({}), 0)).rejects.toThrow('a is still not known after 0 s')
})
