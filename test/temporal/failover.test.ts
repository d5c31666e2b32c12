import type { WorkflowStartInput } from '@temporalio/client'
import { describe, expect, test } from 'vitest'
import { failoverInterceptor } from '../../temporal/client/connection/connect.ts'
import { defaultFailoverTimes, failoverTimesOf } from '../../temporal/contracts/failover.ts'

const started = {
  workflowType: 'batch',
  headers: {},
  options: { workflowId: 'id', taskQueue: 'ledger', args: [], memo: { members: ['a'] } },
}

async function startedWith(settings: Parameters<typeof failoverInterceptor>[0]): Promise<WorkflowStartInput['options']> {
  let options: WorkflowStartInput['options'] | undefined
  await failoverInterceptor(settings).startWithDetails?.(started, async (input) => {
    options = input.options
    return { runId: 'run', eagerlyStarted: false }
  })
  if (!options) throw new Error('the interceptor did not pass the start on')
  return options
}

describe('the time-outs that a workflow is started with', () => {
  test('default failover times add nothing to the start of a workflow', async () => {
    expect(
      await startedWith({ workflowTaskSeconds: 10, heartbeatSeconds: defaultFailoverTimes.heartbeatMs / 1_000, laneTaskSeconds: 60 }),
    ).toEqual(started.options)
    expect(failoverTimesOf(started.options.memo)).toEqual(defaultFailoverTimes)
    expect(failoverTimesOf(undefined)).toEqual(defaultFailoverTimes)
  })

  test('configured failover times are added to the memo, and the workflow uses them', async () => {
    const { memo, workflowTaskTimeout } = await startedWith({ workflowTaskSeconds: 2, heartbeatSeconds: 3, laneTaskSeconds: 4.5 })
    expect(memo).toEqual({ members: ['a'], failover: { heartbeatMs: 3_000, laneTaskMs: 4_500 } })
    expect(failoverTimesOf(memo)).toEqual({ heartbeatMs: 3_000, laneTaskMs: 4_500 })
    expect(Number(workflowTaskTimeout?.seconds)).toBe(2)
  })
})
