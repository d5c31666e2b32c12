import { TypedSearchAttributes } from '@temporalio/common'
import { expect, test } from 'vitest'
import { noSettings } from '../../../domain/settings/settings.ts'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts } from '../../../operations/causes/facts.ts'
import { readTemporal } from '../../../operations/causes/read-temporal.ts'
import { UnparsedAnswer } from '../../../temporal/client/connection/answer-limits.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { at, config as usual, facts, transfer, unpolled } from './facts.ts'

const causes = (changes: Partial<Facts>) => explain(facts(changes), usual)

/** A Temporal with one open transfer to the chain `former`, whose workflow nobody runs. */
const info = {
  ...{ type: 'transfer', workflowId: 'a', runId: 'run-a', taskQueue: 'chain:former', startTime: new Date(5), memo: {} },
  ...{ status: { name: 'RUNNING' }, historyLength: 3, searchAttributes: {} },
  typedSearchAttributes: new TypedSearchAttributes([
    { key: searchAttributes.TransferState, value: 'pending' },
    { key: searchAttributes.TargetChain, value: 'former' },
  ]),
  raw: { workflowExecutionInfo: { versioningInfo: { deploymentVersion: { buildId: 'v1' } } } },
}
const away = async () => Promise.reject(new Error('nobody answers'))
const client = {
  withDeadline: <Answer>(_: number, work: () => Promise<Answer>) => work(),
  workflow: {
    async *list({ query }: { query: string }) {
      if (query.includes("'transfer'") && query.includes('StartTime <')) yield info
    },
    getHandle: () => ({ query: away, describe: async () => info }),
  },
  workflowService: { describeTaskQueue: away },
  options: { namespace: 'default' },
} as unknown as TemporalClient

test('a transfer that no process can run is read as silent, with a chain that the config lacks', async () => {
  const config = { chains: {}, bridges: {}, notifications: [], worker: {} } as unknown as Parameters<typeof readTemporal>[1]
  const { transfers, chainWorkers } = await readTemporal(client, config, Promise.resolve({ asOf: 0, value: noSettings }))
  expect(transfers).toMatchObject([{ workflowId: 'a', state: 'pending', targetChain: 'former', isSilent: true, version: 'v1' }])
  expect([...chainWorkers]).toMatchObject([['former', { asked: 1, answered: 0 }]])
})

test.each<[string, object | null]>([
  ['null', null],
  ['a state that does not exist', { state: '__proto__', timeline: [], transfer: { bridge: 'x' } }],
  ['a reason that is no text', { state: 'waiting', reason: { replace: 1 }, timeline: [], transfer: { bridge: 'x' } }],
  ['a code that is no text', { state: 'waiting', code: [], timeline: [], transfer: { bridge: 'x' } }],
  ['no timeline', { state: 'waiting', transfer: { bridge: 'x' } }],
  ['a time after the year 9999', { state: 'waiting', timeline: [{ state: 'waiting', at: 8e15 }], transfer: { bridge: 'x' } }],
  ['a time that no date can represent', { state: 'waiting', timeline: [{ state: 'waiting', at: 9e15 }], transfer: { bridge: 'x' } }],
  ['no transfer', { state: 'waiting', timeline: [] }],
])('a workflow under the id of a transfer that answers %s counts as silent, and hides no transfer', async (_, answer) => {
  const config = { chains: {}, bridges: {}, notifications: [], worker: {} } as unknown as Parameters<typeof readTemporal>[1]
  const getHandle = () => ({ query: async () => answer, describe: async () => info })
  const forged = { ...(client as object), workflow: { ...(client.workflow as object), getHandle } } as object as TemporalClient
  const { transfers } = await readTemporal(forged, config, Promise.resolve({ asOf: 0, value: noSettings }))
  expect(transfers).toMatchObject([{ workflowId: 'a', state: 'pending', isSilent: true }])
})

test.each(['parked', 'admitting'] as const)('a group of transfers (%s) that cannot be explained hides no other group', (state) => {
  const old = { state, inStateSince: at - 6 * 3_600_000, startedAt: at - 6 * 3_600_000 } as const
  const forged = transfer('forged', { ...old, code: 'X', targetChain: 'elsewhere', inStateSince: -8e15 })
  const rows = causes({ transfers: [forged, transfer('honest', old)] })
  expect(rows.map(({ code, examples }) => [code, examples])).toContainEqual([expect.any(String), ['honest']])
  expect(rows.map(({ code }) => code)).toContain('UNREAD')
})

test('transfers whose answers are too long together are reported as not read, not as silent', async () => {
  const config = { chains: {}, bridges: {}, notifications: [], worker: {} } as unknown as Parameters<typeof readTemporal>[1]
  const getHandle = () => ({ query: async () => Promise.reject(new UnparsedAnswer(5_000_000)), describe: async () => info })
  const limitedClient = { ...(client as object), workflow: { ...(client.workflow as object), getHandle } }
  const forged = { ...(client as object), withBudget: () => limitedClient } as object as TemporalClient
  const { transfers, unread, chainWorkers } = await readTemporal(forged, config, Promise.resolve({ asOf: 0, value: noSettings }))
  expect(transfers).toMatchObject([{ workflowId: 'a', state: 'pending' }])
  expect(transfers[0]).not.toHaveProperty('isSilent')
  expect([unread.map(({ what }) => what), [...chainWorkers]]).toEqual([['some of the transfers'], []])
})

test('an old transfer that does not answer counts as slow, even if others of its chain answer', () => {
  const states = ['admitting', 'broadcasting', 'pending', 'included'] as const
  const silent = { startedAt: at - 6 * 3_600_000, isSilent: true } as const
  const old = states.map((state) => transfer(state, { state, ...silent, version: 'v1' }))
  const rows = causes({ transfers: [...old, transfer('fresh', { state: 'admitting', inStateSince: at - 1_000 })] })
  const shown = states.toSorted().map((state) => ['TRANSFERS_SLOW', 1, [state]])
  expect(rows.map(({ code, count, examples }) => [code, count, examples])).toEqual(shown)
  expect(rows[0]?.what).toBe(
    'To bsc, in the state admitting for long: the workflow does not answer, and only processes of the version v1 can run it',
  )
  expect(causes({ transfers: [transfer('a', { state: 'admitting', isSilent: true, startedAt: at - 30_000 })] })).toEqual([])
})

test('transfers to a chain that the config lacks have a row, unless another process serves them', () => {
  const lost = [transfer('a', { state: 'pending', targetChain: 'former' }), transfer('b', { targetChain: 'former' })]
  const of = (answered: number) =>
    causes({ transfers: lost, chainWorkers: new Map([['former', { queue: unpolled, asked: 2, answered }]]) }).filter(
      ({ code }) => code !== 'TRANSFERS_WAIT',
    )
  expect(of(1)).toEqual([])
  expect(of(0)).toMatchObject([{ code: 'CHAIN_WITHOUT_WORKER', count: 2, where: { id: 'chain:former' } }])
  expect(of(0)[0]?.what).toContain(
    "The config has no chain former: use this name in the config again until the chain's transfers have ended.",
  )
})
