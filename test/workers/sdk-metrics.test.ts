import { expect, test } from 'vitest'
import { createChainSteps, createLaneSteps } from '../../activities/index.ts'
import * as workflows from '../../workflows/index.ts'
import { ownSeries, ownTypes, withSdkMetrics } from '../../workers/telemetry/sdk-metrics.ts'

test("the SDK's metrics show only series of Portage's workflows and steps", () => {
  const ours = [
    '# HELP temporal_workflow_completed_total x workflow_type="no label"',
    '# TYPE temporal_workflow_completed_total counter',
    'temporal_workflow_completed_total{namespace="default",task_queue="chain:bsc",workflow_type="transfer"} 3',
    'temporal_local_activity_total{activity_type="admit",workflow_type="transfer"} 3',
    'temporal_request_total{operation="PollWorkflowTaskQueue",workflow_type="lane"} 3',
    'temporal_num_pollers{poller_type="workflow_task"} 8',
  ]
  const forged = Array.from({ length: 1_000 }, (_, index) => `temporal_workflow_failed_total{workflow_type="forged${index}"} 1`)
  const tricks = [
    'temporal_workflow_failed_total{workflow_type="__proto__"} 1',
    'temporal_workflow_failed_total{workflow_type="a\\"b",task_queue="ledger"} 1',
    'temporal_activity_total{activity_type="toString",workflow_type="transfer"} 1',
    'temporal_activity_total{activity_type="",workflow_type="transfer"} 1',
  ]
  expect(ownSeries([...ours, ...forged, ...tricks, ''].join('\n'))).toBe([...ours, ''].join('\n'))
})

test("the SDK's runtime is installed on another port if one is taken, or without metrics", async () => {
  const away = () => Promise.reject(new Error('bind EADDRNOTAVAIL 127.9.9.9'))
  expect(await withSdkMetrics((metrics) => ({ metrics }), away)).toEqual({ metrics: undefined })

  const ports = ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3']
  const choose = () => Promise.resolve({ prometheus: { bindAddress: ports.shift() ?? '' } })
  const taken = (metrics: { prometheus?: { bindAddress: string } } | undefined) => {
    if (metrics?.prometheus?.bindAddress !== '127.0.0.1:2') throw new Error('address already in use')
    return metrics.prometheus.bindAddress
  }
  expect(await withSdkMetrics(taken as Parameters<typeof withSdkMetrics<string>>[0], choose)).toBe('127.0.0.1:2')
})

test("an error of the SDK's runtime without metrics is thrown", async () => {
  const refuse = () => {
    throw new Error('installed before')
  }
  await expect(withSdkMetrics(refuse)).rejects.toThrow('installed before')
})

test('every workflow and step has its series', () => {
  expect(ownTypes['workflow_type']).toEqual(new Set(Object.keys(workflows)))
  const steps = { ...createChainSteps({} as never), ...createLaneSteps({} as never) }
  expect(ownTypes['activity_type']).toEqual(new Set([...Object.keys(steps), 'notify']))
})
