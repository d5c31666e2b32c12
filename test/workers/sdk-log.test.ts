import { ApplicationFailure } from '@temporalio/common'
import { DefaultLogger } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { toFailure } from '../../activities/run-step.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import { dropDetails, sdkLine } from '../../workers/process/temporal.ts'

const failed = (error: unknown) =>
  sdkLine({ level: 'WARN', message: 'Activity failed', meta: { activityType: 'prepare', taskToken: 'CiQw', error } })

describe('a step that failed', () => {
  test.each<[ErrorCode, 'warn' | 'debug']>([
    ['NATIVE_NOT_FINAL', 'debug'],
    ['BRIDGE_BUDGET', 'debug'],
    ['HALTED', 'debug'],
    ['LANE_FULL', 'debug'],
    ['VAA_NO_QUORUM', 'debug'],
    ['NODE_UNAVAILABLE', 'warn'],
    ['TEMPORAL_UNAVAILABLE', 'warn'],
  ])('%s is logged at %s, without a stack', (code, level) => {
    const { level: logged, fields } = failed(toFailure(new RelayerError(code, { detail: 'so it is' })))
    expect(logged).toBe(level)
    expect(fields).toEqual({ activityType: 'prepare', code, reason: expect.stringContaining('so it is') })
  })

  test('an unexpected error is a warning with its stack and causes', () => {
    const unexpected = toFailure(new TypeError('a slip of ours'))
    expect(failed(unexpected)).toEqual({ level: 'warn', fields: { code: 'INTERNAL', activityType: 'prepare', error: unexpected } })
    const foreign = ApplicationFailure.create({ message: 'x', type: 'SomebodyElses' })
    expect(failed(foreign)).toEqual({ level: 'warn', fields: { code: 'INTERNAL', activityType: 'prepare', error: foreign } })
  })
})

test('other lines of the SDK keep their level; those of a healthy start are not shown', () => {
  expect(sdkLine({ level: 'ERROR', message: 'Workflow task failed' })).toEqual({ level: 'error', fields: { code: 'TEMPORAL_SDK' } })
  expect(sdkLine({ level: 'INFO', message: 'Worker state changed' })).toEqual({ level: 'debug', fields: {} })
  expect(sdkLine({ level: 'WARN', message: 'No activities registered, not polling for activity tasks' })).toMatchObject({ level: 'debug' })
  const retried = { target: 'temporalio_client::retry', error: 'tcp connect error' }
  expect(sdkLine({ level: 'WARN', message: 'gRPC call query_workflow retried 5 times', meta: retried })).toMatchObject({ level: 'debug' })
})

test("a line of a transfer keeps its level and ids, without the SDK's own fields", () => {
  const ofSdk = { namespace: 'default', taskQueue: 'chain:bsc', workflowId: 'a', workflowType: 'transfer', sdkComponent: 'workflow' }
  const meta = { ...ofSdk, runId: 'r', transfer: 'a', code: 'LANE_NONE' }
  const fields = { transfer: 'a', code: 'LANE_NONE', run_id: 'r' }
  expect(sdkLine({ level: 'INFO', message: 'transfer waits', meta })).toEqual({ level: 'info', fields })
  expect(sdkLine({ level: 'WARN', message: 'transfer parked', meta })).toEqual({ level: 'warn', fields })
  expect(sdkLine({ level: 'INFO', message: 'x', meta: { ...ofSdk, runId: 'r' } })).toMatchObject({ level: 'debug', fields: ofSdk })
})

test("the SDK's lines of each task are dropped; shown lines stay", () => {
  const kept: string[] = []
  const collector = new DefaultLogger('TRACE', ({ message }) => kept.push(message))
  dropDetails(collector)
  for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) collector[level](level)
  expect(kept).toEqual(['info', 'warn', 'error'])
})
