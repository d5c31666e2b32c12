import { expect, test, vi } from 'vitest'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { listAudits, runAudit, startAudit } from '../../temporal/client/streams/audits.ts'

test('an ordered audit keeps its author and reason, without markup', async () => {
  const start = vi.fn(async (_: string, options: object) => ({ ...options, workflowId: 'audit:bsc-by-hand' }))
  const client = { withDeadline: (_: number, work: () => Promise<unknown>) => work(), workflow: { start } } as unknown as TemporalClient
  const input = { chain: 'bsc', hours: 2, graceMs: 0 }
  expect(await startAudit(client, input, { by: 'night-shift', reason: 'a reorg <b>' })).toBe('audit:bsc-by-hand')
  await startAudit(client, input, { by: 'night-shift' })
  const said = start.mock.calls.map(([, options]) => options as { memo: object; staticSummary: string })
  expect(said.map(({ memo }) => memo)).toEqual([{ by: 'night-shift', reason: 'a reorg <b>' }, { by: 'night-shift' }])
  expect(said[0]?.staticSummary).toMatch(/^deliveries on bsc in the last 2 hours, asked by night-shift: a reorg [^<>]*$/)
  expect(said[1]?.staticSummary).toBe('deliveries on bsc in the last 2 hours, asked by night-shift')
})

test('an audit that no worker can run is refused at once', async () => {
  const start = vi.fn()
  const workflowService = { describeTaskQueue: async () => ({ pollers: [] }) }
  const client = {
    ...{ withDeadline: (_: number, work: () => Promise<unknown>) => work(), options: { namespace: 'default' } },
    ...{ workflowService, workflow: { start } },
  } as unknown as TemporalClient
  const audit = runAudit(client, { chain: 'bsc', hours: 2, graceMs: 0 }, { by: 'night-shift' })
  await expect(audit).rejects.toMatchObject({
    ...{ code: 'CHAIN_WITHOUT_WORKER', facts: { chain: 'bsc' } },
    message: expect.stringContaining('portage run --role chain --chain bsc'),
  })
  expect(start).not.toHaveBeenCalled()
})

test('an audit with an unreadable result does not hide other audits', async () => {
  const run = (runId: string) => ({ workflowId: `audit:${runId}`, runId, status: { name: 'COMPLETED' }, startTime: new Date(0) })
  const results: Readonly<Record<string, () => unknown>> = {
    junk: () => {
      throw new RelayerError('ENCRYPTION_BROKEN')
    },
    honest: () => ({ checked: 3 }),
  }
  const client = {
    withDeadline: (_: number, work: () => Promise<unknown>) => work(),
    workflow: {
      list: async function* () {
        yield* Object.keys(results).map(run)
      },
      getHandle: (_: string, id: string) => ({ result: async () => results[id]?.() }),
    },
  } as unknown as TemporalClient
  expect((await listAudits(client, ['bsc'], 5)).map(({ workflowId, report }) => [workflowId, report])).toEqual([
    ['audit:junk', undefined],
    ['audit:honest', { checked: 3 }],
  ])
})
