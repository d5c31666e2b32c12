import { expect, test, vi } from 'vitest'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { pollerGoneMs } from '../../temporal/client/connection/deployments.ts'
import { deploymentOf, mustStartAgain, versionOptions, watchDeployment } from '../../workers/process/deployment.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

const deployment = { deploymentName: 'portage', buildId: 'v2', endWhenDrained: true }
/** The statuses in the order in which Temporal's API numbers them. */
const statuses = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained'] as const
type Status = (typeof statuses)[number]

/**
 * Runs a process whose checks of its status get `answers`. Resolves when the process has ended, or has got the last
 * answer twice.
 */
async function watch(
  answers: readonly Status[],
  { endWhenDrained = true, atStart = 'unknown', current = 'v1' }: { endWhenDrained?: boolean; atStart?: Status; current?: string } = {},
): Promise<{ ended: number; said: string[]; promoted: string[] }> {
  let asked = 0
  const describeWorkerDeploymentVersion = async () => {
    const status = answers[Math.min(asked++, answers.length - 1)] ?? 'unknown'
    return { workerDeploymentVersionInfo: { status: statuses.indexOf(status), taskQueueInfos: [{ name: 'ledger', type: 1 }] } }
  }
  const promoted: string[] = []
  const describeWorkerDeployment = async () => ({
    workerDeploymentInfo: { routingConfig: { currentDeploymentVersion: { buildId: current } } },
  })
  const pollers = [{ lastAccessTime: { seconds: Date.now() / 1_000 }, deploymentOptions: deployment }]
  const describeTaskQueue = async () => ({ pollers })
  const setWorkerDeploymentCurrentVersion = async ({ buildId }: { buildId: string }) => promoted.push(buildId)
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_: number, work: () => unknown) => work(),
    workflowService: { describeWorkerDeploymentVersion, describeWorkerDeployment, setWorkerDeploymentCurrentVersion, describeTaskQueue },
  } as unknown as TemporalClient
  const { logger, lines } = recordingLogger()
  let ended = 0
  const watching = watchDeployment({
    client,
    deployment: { ...deployment, endWhenDrained },
    logger,
    atStart,
    onDrained: () => ended++,
    everyMs: 1,
  })
  await expect.poll(() => ended > 0 || asked >= answers.length + 2, { interval: 1 }).toBe(true)
  await watching.stop()
  return { ended, said: lines.map(({ message }) => message), promoted }
}

test('a version that becomes drained ends its process; each change is logged once', async () => {
  const { ended, said } = await watch(['unknown', 'inactive', 'inactive', 'current', 'draining', 'draining', 'drained'])
  expect(ended).toBe(1)
  expect(said).toEqual([
    'this version of the deployment gets no work until it is promoted: portage deploy promote',
    'this version of the deployment is the current one',
    'another version was promoted: this one finishes its transfers',
    'this version of the deployment is drained: none of its transfers is open',
  ])
})

test('the first version of a fleet is promoted at once, because nobody could order its promotion', async () => {
  const { said, promoted } = await watch(['unknown', 'inactive', 'inactive', 'current'], { current: '' })
  expect(promoted[0]).toBe('v2')
  expect(said).toEqual(['this version of the deployment is the current one'])
})

test('a version that is drained at the first or second check ends its process', async () => {
  expect((await watch(['unknown', 'drained'])).ended).toBe(1)
  expect((await watch(['drained'])).ended).toBe(1)
})

test('a process that starts with a drained version stays until it is drained again', async () => {
  expect((await watch(['drained'], { atStart: 'drained' })).ended).toBe(0)
  expect((await watch(['drained', 'current', 'drained'], { atStart: 'drained' })).ended).toBe(1)
})

test('endWhenDrained: false keeps the process', async () => {
  expect((await watch(['current', 'drained'], { endWhenDrained: false })).ended).toBe(0)
})

test.each(['current', 'ramping', 'draining'] as const)(
  'a process that ended as drained starts again if its version is %s then',
  async (status) => {
    const answers: Status[] = ['drained', status]
    const read = async () => answers.shift() ?? 'drained'
    expect(await mustStartAgain(read, { stopping: new AbortController().signal, everyMs: 1 })).toBe(true)
  },
)

test('a process that ended as drained ends for good once its polls are old, if its status is known', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const began = Date.now()
  const answers = (status: Status | undefined) => async () => {
    vi.advanceTimersByTime(10_000)
    if (!status) throw new Error('Temporal is away')
    return status
  }
  const ask = (status?: Status) => mustStartAgain(answers(status), { stopping: new AbortController().signal, everyMs: 1 })
  try {
    expect(await ask('drained')).toBe(false)
    expect(Date.now() - began).toBeGreaterThanOrEqual(pollerGoneMs)
    expect(await ask()).toBe(true)
    expect(await mustStartAgain(answers('current'), { stopping: AbortSignal.abort() })).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('Workers have the version of worker.deployment, or none without it', () => {
  expect(deploymentOf({ worker: {} as never, bridges: {} })).toBeUndefined()
  expect(versionOptions(undefined, 'PINNED')).toEqual({})
  const worker = { deployment: { name: 'portage', buildId: 'v2', endWhenDrained: true } } as never
  expect(deploymentOf({ worker, bridges: {} })).toEqual(deployment)
  expect(versionOptions(deployment, 'PINNED')).toEqual({
    workerDeploymentOptions: {
      version: { deploymentName: 'portage', buildId: 'v2' },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  })
})

test('the digests of the plug-ins are part of the version', () => {
  const worker = { deployment: { name: 'portage', buildId: 'v2', endWhenDrained: true } } as never
  const idWith = (plugins: Readonly<Record<string, string>>) => {
    const all = Object.fromEntries(Object.entries(plugins).map(([name, sha256]) => [name, { sha256 }]))
    return deploymentOf({ worker, bridges: { plugins: all as never } })?.buildId
  }
  const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
  expect(idWith({ x: one, y: other })).toMatch(/^v2-p[0-9a-f]{12}$/)
  expect(idWith({ y: other, x: one })).toBe(idWith({ x: one, y: other }))
  expect(new Set([idWith({ x: one, y: other }), idWith({ x: other, y: one }), idWith({ x: one }), idWith({})]).size).toBe(4)
})
