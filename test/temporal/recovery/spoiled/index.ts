import { defineSignal, setHandler, sleep, workflowInfo } from '@temporalio/workflow'
import { audit as soundAudit } from '../../../../workflows/audit.ts'
import { batch as soundBatch } from '../../../../workflows/batch.ts'
import { operatorTransaction as soundOperatorTransaction } from '../../../../workflows/operator-transaction.ts'
import { lane as soundLane } from '../../../../workflows/lane.ts'
import { settings as soundSettings } from '../../../../workflows/settings.ts'
import { stream as soundStream } from '../../../../workflows/stream.ts'

/** The signal `spoil` adds a command that no build replays, as in a history that a restored Temporal leaves behind. */
function spoilt<Input, Result>(workflow: (input: Input) => Promise<Result>): (input: Input) => Promise<Result> {
  return (input) => {
    // A reset gives the new run the signals of the earlier run.
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
