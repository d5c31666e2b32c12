import { MockActivityEnvironment } from '@temporalio/testing'
import { defaultPayloadConverter } from '@temporalio/common'
import { expect, test } from 'vitest'
import { type AuditDeps, createAuditDelivered } from '../../activities/audit/audit.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { silentLogger } from '../../observability/logger.ts'
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js'
import type { AuditInput, AuditReport } from '../../temporal/contracts/audit.ts'

const transfer = {
  bridge: 'b',
  sourceId: '2',
  sourceChain: 'a',
  targetChain: 'bsc',
  emitter: 'e',
  sequence: '7',
  digest: '0xab',
  message: 'AQ==',
}
const inputOf = (one: Partial<Transfer>) => ({ payloads: [defaultPayloadConverter.toPayload({ transfer: { ...transfer, ...one } })] })
const foreign = { payloads: [{ metadata: { encoding: Buffer.from('binary/unknown') }, data: Buffer.from('x') }] }

interface Run {
  readonly id: string
  readonly status: 'COMPLETED' | 'TERMINATED'
  readonly input?: unknown
}

/** Makes a new block at each read, because the audit waits for a new block before it reads an effect again. */
function blocks() {
  let height = 0
  return {
    get current() {
      height += 1
      return { latest: { height, hash: `block ${height}` } }
    },
    subscribe: () => () => {},
  }
}

async function audited(runs: readonly Run[]): Promise<{ report: AuditReport; again: string[] }> {
  const again: string[] = []
  const find = (id: string) => runs.find((run) => run.id === id)
  const client = {
    options: { namespace: 'default', loadedDataConverter: loadDataConverter({}) },
    withDeadline: (_: number, work: () => unknown) => work(),
    workflowService: {
      async listWorkflowExecutions({ query }: { query: string }) {
        const status = query.includes(`TransferState = 'delivered'`) ? 'COMPLETED' : 'TERMINATED'
        const listed = query.includes(`'Running'`) ? [] : runs.filter((run) => run.status === status)
        return {
          executions: listed.map(({ id }) => ({ execution: { workflowId: id, runId: `run of ${id}` } })),
          nextPageToken: new Uint8Array(),
        }
      },
      getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) => ({
        history: { events: [{ workflowExecutionStartedEventAttributes: { input: find(execution.workflowId)?.input } }] },
      }),
    },
    workflow: {
      list: async function* () {},
      getHandle: (id: string) => ({
        describe: async () => ({
          ...{ runId: `run of ${id}`, startTime: new Date(), status: { name: find(id)?.status } },
          typedSearchAttributes: { get: () => 'delivered' },
        }),
      }),
      start: async (_: string, { workflowId }: { workflowId: string }) => void again.push(workflowId),
    },
  }
  const endpoint = {
    async delivered({ message }: Transfer) {
      if (message === 'junk') throw new Error('no message')
      if (message === 'away') throw new RelayerError('NODE_UNAVAILABLE')
      return message !== 'gone' && message !== 'nameless'
    },
    mayShow: async ({ message }: Transfer) => message !== 'nameless',
  }
  const deps = {
    ...{ client, logger: silentLogger(), metrics: createMetrics() },
    bridges: new Map([['b', { endpoints: new Map([['bsc', endpoint]]) }]]),
    chains: new Map([['bsc', { blockTimeMs: 1, heads: blocks() }]]),
  } as unknown as AuditDeps
  const audit = (input: AuditInput): Promise<AuditReport> => createAuditDelivered(deps)(input)
  const environment = new MockActivityEnvironment()
  const report = await environment.run<[AuditInput], AuditReport, typeof audit>(audit, { chain: 'bsc', hours: 24, graceMs: 0 })
  return { report, again }
}

test.each<[string, Run]>([
  ['a delivered run without input', { id: 'x', status: 'COMPLETED' }],
  ['a delivered run that no key opens', { id: 'x', status: 'COMPLETED', input: foreign }],
  ['a delivered run of a bridge that the config no longer has', { id: 'x', status: 'COMPLETED', input: inputOf({ bridge: 'gone' }) }],
  ['a delivered run whose message nobody can read', { id: 'x', status: 'COMPLETED', input: inputOf({ message: 'junk' }) }],
  ['a terminated run without input', { id: 'x', status: 'TERMINATED' }],
])(
  'an audit counts %s as unsure, and continues with the other runs',
  async (_, run) => {
    const delivered: Run = { id: 'delivered', status: 'COMPLETED', input: inputOf({}) }
    const terminated: Run = { id: 'terminated', status: 'TERMINATED', input: inputOf({}) }
    const { report, again } = await audited([run, delivered, terminated])
    expect(again).toEqual(['terminated'])
    expect(report).toMatchObject({ intact: 1, unsure: 1, reopenedCount: 1 })
  },
  30_000,
)

test.each([
  ['gone', { undoneCount: 1, unsure: 0 }, [expect.stringContaining('x'), 'x']],
  // Like a burn of CCTP v2 while Circle's API returns no messages.
  ['nameless', { undoneCount: 0, unsure: 1 }, []],
])('if the target does not show a delivery, it is undone only if the target could show it: %s', async (message, counts, restarted) => {
  const run: Run = { id: 'x', status: 'COMPLETED', input: inputOf({ message }) }
  const { report, again } = await audited([run])
  expect(report).toMatchObject(counts)
  expect(again).toEqual(restarted)
})

test('an audit is tried again if no node answers', async () => {
  const run: Run = { id: 'delivered', status: 'COMPLETED', input: inputOf({ message: 'away' }) }
  await expect(audited([run])).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
})
