import { beforeAll, expect, test } from 'vitest'
import type { Notification } from '../../../domain/notification/notification.ts'
import { newNotifier } from '../../../domain/notification/notifier.ts'
import { NotifyRound, notifyTimes, type NotifyRoundDeps } from '../../../operations/notifications/notify-round.ts'
import { NotifiedRuns } from '../../../operations/notifications/notified-runs.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createMetrics } from '../../../observability/metrics.ts'
import { handlesClient } from '../../helpers/handles-client.ts'
import { secretSource, startReceiver, type TestReceiver, testSecrets } from './receiver.ts'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startReceiver()
})

const forged: Notification = { id: 'evt_f', type: 'transfer.delivered', at: 1, data: { transfer: 'a transfer', proof: 'encrypted' } }

const client = handlesClient(() => ({}))
const noList = () => {
  throw new Error('no list')
}
Object.defineProperty(client.workflow, 'list', { value: noList })

/** Runs a notifier whose state contains a forged notification. Returns the data that the receiver gets. */
async function told(requiresEncryption: boolean) {
  const stop = new AbortController()
  const taken = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    receiver.answer = ({ data }, response) => {
      response.writeHead(204).end()
      resolve(data)
    }
  })
  const conditions: NotifyRoundDeps['conditions'] = { read: async () => [] }
  const deps = {
    client,
    conditions,
    metrics: createMetrics(),
    logger: silentLogger(),
    times: notifyTimes,
    requiresEncryption,
  }
  const to = {
    name: 'pager',
    url: receiver.url,
    secrets: [secretSource(testSecrets.first)],
    filter: { events: ['transfer.delivered'] as const },
  }
  const state = { ...newNotifier(0), pending: [forged] }
  const running = new NotifyRound(deps, to, { state, notified: new NotifiedRuns(), signal: stop.signal }).run()
  const data = await taken
  stop.abort()
  await running
  return data
}

test("if strangers can write a notifier's state, a kept notification never has the proof encrypted", async () => {
  expect(await told(false)).toMatchObject({ transfer: 'a transfer', proof: 'temporal' })
  expect(await told(true)).toMatchObject({ transfer: 'a transfer', proof: 'encrypted' })
})
