import type { CompiledWorkflowOptions, WorkflowClientInterceptor } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { defaultFailoverTimes, type FailoverTimes } from '../../contracts/failover.ts'

/** The server's default, s. */
const defaultWorkflowTaskSeconds = 10

export interface FailoverSettings {
  readonly workflowTaskSeconds: number
  readonly heartbeatSeconds: number
  readonly laneTaskSeconds: number
}

/** Gives started workflows the configured time-outs, unless they are the defaults. */
export function failoverInterceptor(settings: FailoverSettings): WorkflowClientInterceptor {
  const failover: FailoverTimes = { heartbeatMs: settings.heartbeatSeconds * 1_000, laneTaskMs: settings.laneTaskSeconds * 1_000 }
  const isDefault = failover.heartbeatMs === defaultFailoverTimes.heartbeatMs && failover.laneTaskMs === defaultFailoverTimes.laneTaskMs
  const workflowTaskTimeout =
    settings.workflowTaskSeconds === defaultWorkflowTaskSeconds ? undefined : msToTs(settings.workflowTaskSeconds * 1_000)
  const extended = (options: CompiledWorkflowOptions): CompiledWorkflowOptions => ({
    ...options,
    ...(workflowTaskTimeout && { workflowTaskTimeout }),
    ...(!isDefault && { memo: { ...options.memo, failover } }),
  })
  return {
    startWithDetails: (input, next) => next({ ...input, options: extended(input.options) }),
    startUpdateWithStart: (input, next) => next({ ...input, workflowStartOptions: extended(input.workflowStartOptions) }),
  }
}
