import { expect, test } from 'vitest'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { isFirstVersion, pollerGoneMs, promoteVersion } from '../../temporal/client/connection/deployments.ts'

const version = { deploymentName: 'portage', buildId: 'v2' }
const promotion = { ...version, by: 'ana: a test' }

/**
 * A client of a server that accepts every promotion.
 * @param queues per queue, the build ids of the workers that poll it, with the age of their last poll in ms
 */
function serverWith(queues: Readonly<Record<string, Readonly<Record<string, number>>>>) {
  const promoted: string[] = []
  const workflowService = {
    describeWorkerDeploymentVersion: async () => ({
      workerDeploymentVersionInfo: { taskQueueInfos: Object.keys(queues).map((name) => ({ name, type: 1 })) },
    }),
    describeTaskQueue: async ({ taskQueue }: { taskQueue: { name: string } }) => ({
      pollers: Object.entries(queues[taskQueue.name] ?? {}).map(([buildId, ageMs]) => ({
        lastAccessTime: { seconds: (Date.now() - ageMs) / 1_000 },
        deploymentOptions: { deploymentName: 'portage', buildId },
      })),
    }),
    setWorkerDeploymentCurrentVersion: async () => promoted.push('current'),
    setWorkerDeploymentRampingVersion: async ({ percentage }: { percentage: number }) => promoted.push(`${percentage} %`),
  }
  const client = { options: { namespace: 'default' }, withDeadline: (_: number, work: () => unknown) => work(), workflowService }
  return { client: client as unknown as TemporalClient, promoted }
}

test.each([
  ['a queue that only another version polls', { ledger: { v1: 0, v2: 0 }, 'chain:bsc': { v1: 0 } }, 'no worker of v2 polls chain:bsc'],
  ['workers that ended', { ledger: { v1: 0, v2: pollerGoneMs + 1_000 } }, 'no worker of v2 polls ledger'],
  ['workers that ended while no other version has any', { ledger: {} }, 'no worker of v2 polls ledger'],
])('a promotion is refused for %s', async (_, queues, why) => {
  const { client, promoted } = serverWith(queues)
  await expect(promoteVersion(client, promotion)).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(why) })
  await expect(promoteVersion(client, { ...promotion, percent: 10 })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  expect(promoted).toEqual([])
  await promoteVersion(client, { ...promotion, ignoreMissingQueues: true })
  // A share of 0 removes a version from the traffic, so no worker need poll.
  await promoteVersion(client, { ...promotion, percent: 0 })
  expect(promoted).toEqual(['current', '0 %'])
})

test('a version is promoted whose workers poll all queues except those that nobody polls any more', async () => {
  const { client, promoted } = serverWith({ ledger: { v1: 0, v2: 30_000 }, 'chain:removed': { v1: pollerGoneMs + 1_000 } })
  await promoteVersion(client, promotion)
  await promoteVersion(client, { ...promotion, percent: 10 })
  expect(promoted).toEqual(['current', '10 %'])
})

test.each([
  ['no other worker polls', { ledger: { v2: 0 } }, {}, true],
  ['a worker without a version polls', { ledger: { '': 0, v2: 0 } }, {}, false],
  ['a worker without a version has ended', { ledger: { '': pollerGoneMs + 1_000, v2: 0 } }, {}, true],
  ['another new version sorts before it', { ledger: { v1: 0, v2: 0 } }, {}, false],
  ['another version is current', { ledger: { v2: 0 } }, { currentDeploymentVersion: { buildId: 'v1' } }, false],
  ['it has no worker', { ledger: {} }, {}, false],
] as const)('a version is the first of its fleet or not: %s', async (_, queues, routingConfig, expected) => {
  const { client } = serverWith(queues)
  Object.assign(client.workflowService, { describeWorkerDeployment: async () => ({ workerDeploymentInfo: { routingConfig } }) })
  expect(await isFirstVersion(client, version)).toBe(expected)
})
