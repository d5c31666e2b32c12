import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { AnySent } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { expectAllProved, sendNatives } from '../helpers/e2e-native.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ native: 'fixed', nodesPerChain: 1, auditMinutes: 0.1 })
})
afterAll(() => stage?.close())

/** What the process says of itself at `GET /ready`. */
const readiness = async ({ apiUrl }: PortageProcess) => {
  const response = await fetch(`${apiUrl}/ready`)
  return { status: response.status, body: (await response.json()) as { checks: { name: string; ok: boolean }[] } }
}

test('a process that starts while no node of a chain answers works on the others, and on that one once it is there', async () => {
  const away = stage.devnet.nodes.bsc.map((node) => node.add({ fault: { kind: 'cut' } }))
  const portage = await stage.portage()
  const isReady = async () => {
    const { status, body } = await readiness(portage)
    return status === 200 && body.checks.filter(({ ok }) => !ok).length === 1 && body
  }
  // The block that is seen first of the other chain may come after the process is ready.
  const { checks } = await until(isReady, { timeoutMs: 60_000, what: 'all but one to be well' })
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'chain bsc', vital: false, problem: 'no block was seen yet' }])

  const [there, back] = await Promise.all([stage.send('ethereum', [coin]), stage.send('bsc', [coin])])
  const natives: AnySent[] = [...(await sendNatives(stage, 'ethereum', 2)), ...(await sendNatives(stage, 'bsc', 2))]
  await stage.outcomes(back)
  // What cannot be read there keeps a transfer in the submitter, or waiting in its workflow.
  const state = await stage.status((there[0] as Sent).id).then(
    (one) => one.state,
    () => 'not started',
  )
  expect(state).not.toBe('delivered')

  for (const rule of away) rule.end()
  // What is tried again waits longer each time that it fails, up to half a minute for a node and for a message.
  await stage.outcomes(there, 120_000)
  await expectAllProved(stage, [...there, ...back, ...natives])
  await until(async () => (await readiness(portage)).body.checks.every(({ ok }) => ok), {
    timeoutMs: 60_000,
    what: 'both chains to be seen',
  })
}, 300_000)
