import { defaultPayloadConverter, type Headers } from '@temporalio/common'
import {
  proxySinks,
  type Sinks,
  workflowInfo,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow'

/** Times are ms since the epoch. */
export interface TracedRun {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly flags: string
  readonly startedAt: number
  readonly endedAt: number
}

export interface TraceSinks extends Sinks {
  traces: { ended(run: TracedRun): void }
}

/** Header of @temporalio/interceptors-opentelemetry, which Portage uses outside of workflows. */
const traceHeader = '_tracer-data'
/** https://www.w3.org/TR/trace-context/#traceparent-header */
const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

const traced: ReadonlySet<string> = new Set(['transfer', 'batch', 'operatorTransaction'])

const { traces } = proxySinks<TraceSinks>()

/**
 * Passes the trace to steps in headers. Changes no command, turn or random number, so tracing can be turned on and off
 * while workflows run. The interceptors of @temporalio/interceptors-opentelemetry do not allow that.
 */
export const interceptors = (): WorkflowInterceptors => {
  if (!traced.has(workflowInfo().workflowType)) return {}
  let [own, given]: Headers[] = [{}, {}]
  let ids: Readonly<Record<string, string>> = {}
  const withOwn = <Input extends { readonly headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...own },
  })
  const inbound: WorkflowInboundCallsInterceptor = {
    execute(input, next) {
      const header = input.headers[traceHeader]
      const parent = parentOf(input.headers)
      if (!header || !parent) return next(input)
      const { runId, runStartTime } = workflowInfo()
      const [traceId, parentSpanId, flags] = parent
      // The span's id is unique per run, and the same at each replay.
      const spanId = runId.replaceAll('-', '').slice(-16)
      given = { [traceHeader]: header }
      own = { [traceHeader]: defaultPayloadConverter.toPayload({ traceparent: `00-${traceId}-${spanId}-${flags}` }) }
      // Only a recorded trace has its ids in the log, as in observability/tracing.ts.
      if (Number.parseInt(flags, 16) & 1) ids = { trace_id: traceId, span_id: spanId }
      const ended = () => traces.ended({ traceId, spanId, parentSpanId, flags, startedAt: runStartTime.getTime(), endedAt: Date.now() })
      const result = next(input)
      // Without `await`, the workflow ends in the same turn as without tracing.
      result.then(ended, ended)
      return result
    },
  }
  const outbound: WorkflowOutboundCallsInterceptor = {
    scheduleActivity: (input, next) => next(withOwn(input)),
    scheduleLocalActivity: (input, next) => next(withOwn(input)),
    continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...given } }),
    getLogAttributes: (input, next) => ({ ...next(input), ...ids }),
  }
  return { inbound: [inbound], outbound: [outbound] }
}

/**
 * The parent span in the headers. Undefined if the header is absent or invalid: anyone with access to Temporal may have
 * written it, so it must not fail a task.
 */
function parentOf(headers: Headers): readonly [traceId: string, spanId: string, flags: string] | undefined {
  try {
    const payload = headers[traceHeader]
    const carrier: unknown = payload && defaultPayloadConverter.fromPayload(payload)
    const text = typeof carrier === 'object' && carrier !== null && 'traceparent' in carrier ? carrier.traceparent : undefined
    const [, traceId, spanId, flags] = (typeof text === 'string' && traceparent.exec(text)) || []
    return traceId && spanId && flags ? [traceId, spanId, flags] : undefined
  } catch {
    return undefined
  }
}
