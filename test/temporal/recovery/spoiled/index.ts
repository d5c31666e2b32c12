import { defineSignal, setHandler, sleep, workflowInfo } from '@temporalio/workflow'
import { audit as soundAudit } from '../../../../workflows/audit.ts'
import { batch as soundBatch } from '../../../../workflows/batch.ts'
import { operatorTransaction as soundOperatorTransaction } from '../../../../workflows/operator-transaction.ts'
import { lane as soundLane } from '../../../../workflows/lane.ts'
import { settings as soundSettings } from '../../../../workflows/settings.ts'
import { stream as soundStream } from '../../../../workflows/stream.ts'

/**
 * Workflows that replay every history. The signal `spoil` makes them add a command that no build replays. So a test can
 * make the history that a restored Temporal leaves behind.
 */
function spoilt<Input, Result>(workflow: (input: Input) => Promise<Result>): (input: Input) => Promise<Result> {
  return (input) => {
    // A reset gives the new run the signals of the earlier run, so the handler checks the run id.
    setHandler(defineSignal<[string]>('spoil'), (runId) => {
      if (runId === workflowInfo().runId) void sleep(1)
    })
    return workflow(input)
  }
}

export const audit = spoilt(soundAudit)
export const lane = spoilt(soundLane)
export const stream = spoilt(soundStream)
export const settings = spoilt(soundSettings)
export const batch = spoilt(soundBatch)
export const operatorTransaction = spoilt(soundOperatorTransaction)
