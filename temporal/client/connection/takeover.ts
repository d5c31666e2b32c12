import type { CompiledWorkflowOptions, WorkflowClientInterceptor } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { defaultTakeover, type Takeover } from '../../contracts/takeover.ts'

/** The server's own, s. */
const defaultWorkflowTaskSeconds = 10

/** As in the config's `worker`. */
export interface TakeoverSettings {
  readonly workflowTaskSeconds: number
  readonly heartbeatSeconds: number
  readonly laneTaskSeconds: number
}

/** Gives every workflow that a client starts the configured time-outs. Values as they are by default add nothing to it. */
export function takeoverInterceptor(settings: TakeoverSettings): WorkflowClientInterceptor {
  const takeover: Takeover = { heartbeatMs: settings.heartbeatSeconds * 1_000, laneTaskMs: settings.laneTaskSeconds * 1_000 }
  const isDefault = takeover.heartbeatMs === defaultTakeover.heartbeatMs && takeover.laneTaskMs === defaultTakeover.laneTaskMs
  const workflowTaskTimeout =
    settings.workflowTaskSeconds === defaultWorkflowTaskSeconds ? undefined : msToTs(settings.workflowTaskSeconds * 1_000)
  const extended = (options: CompiledWorkflowOptions): CompiledWorkflowOptions => ({
    ...options,
    ...(workflowTaskTimeout && { workflowTaskTimeout }),
    ...(!isDefault && { memo: { ...options.memo, takeover } }),
  })
  return {
    startWithDetails: (input, next) => next({ ...input, options: extended(input.options) }),
    startUpdateWithStart: (input, next) => next({ ...input, workflowStartOptions: extended(input.workflowStartOptions) }),
  }
}
