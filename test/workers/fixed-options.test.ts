import { expect, test } from 'vitest'
import { guarded } from '../../activities/run-step.ts'
import type { createWorker } from '../../workers/process/create-worker.ts'

type Options = Parameters<typeof createWorker>[2]

test('a role cannot override what every Worker has in common', () => {
  const options: Options[] = [
    { taskQueue: 'q', sinks: {} },
    // @ts-expect-error the connection is that of the process
    { taskQueue: 'q', namespace: 'other' },
    // @ts-expect-error the config says how long a Worker may take to stop
    { taskQueue: 'q', shutdownGraceTime: 1 },
    // @ts-expect-error tracing has the interceptors
    { taskQueue: 'q', interceptors: {} },
  ]
  expect(options).toHaveLength(4)
})

test('only functions with one input are steps', () => {
  expect(Object.keys(guarded({ step: async (input: string) => input }))).toEqual(['step'])
  // @ts-expect-error a value is no step
  expect(Object.keys(guarded({ step: 5 }))).toEqual(['step'])
})
