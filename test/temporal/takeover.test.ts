import type { WorkflowStartInput } from '@temporalio/client'
import { describe, expect, test } from 'vitest'
import { takeoverInterceptor } from '../../temporal/client/connection/takeover.ts'
import { defaultTakeover, takeoverOf } from '../../temporal/contracts/takeover.ts'

const started = {
  workflowType: 'batch',
  headers: {},
  options: { workflowId: 'id', taskQueue: 'ledger', args: [], memo: { members: ['a'] } },
}

async function startedWith(settings: Parameters<typeof takeoverInterceptor>[0]): Promise<WorkflowStartInput['options']> {
  let options: WorkflowStartInput['options'] | undefined
  await takeoverInterceptor(settings).startWithDetails?.(started, async (input) => {
    options = input.options
    return { runId: 'run', eagerlyStarted: false }
  })
  if (!options) throw new Error('the interceptor did not pass the start on')
  return options
}

describe('the time-outs that a workflow is started with', () => {
  test('add nothing where they are the defaults', async () => {
    expect(
      await startedWith({ workflowTaskSeconds: 10, heartbeatSeconds: defaultTakeover.heartbeatMs / 1_000, laneTaskSeconds: 60 }),
    ).toEqual(started.options)
    expect(takeoverOf(started.options.memo)).toEqual(defaultTakeover)
    expect(takeoverOf(undefined)).toEqual(defaultTakeover)
  })

  test('are in its memo beside what is there, and are what the workflow goes by', async () => {
    const { memo, workflowTaskTimeout } = await startedWith({ workflowTaskSeconds: 2, heartbeatSeconds: 3, laneTaskSeconds: 4.5 })
    expect(memo).toEqual({ members: ['a'], takeover: { heartbeatMs: 3_000, laneTaskMs: 4_500 } })
    expect(takeoverOf(memo)).toEqual({ heartbeatMs: 3_000, laneTaskMs: 4_500 })
    expect(Number(workflowTaskTimeout?.seconds)).toBe(2)
  })
})
