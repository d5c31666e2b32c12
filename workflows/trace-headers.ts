import { defaultPayloadConverter, type Headers } from '@temporalio/common'
import {
  proxySinks,
  type Sinks,
  workflowInfo,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow'

/** A traced run that has ended. Times in ms since the epoch. */
export interface TracedRun {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  /** W3C trace flags, hex. */
  readonly flags: string
  readonly startedAt: number
  readonly endedAt: number
}

export interface TraceSinks extends Sinks {
  traces: { ended(run: TracedRun): void }
}

/**
 * The header name of @temporalio/interceptors-opentelemetry, whose interceptors write and read it outside workflows.
 */
const traceHeader = '_tracer-data'
/** https://www.w3.org/TR/trace-context/#traceparent-header */
const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Workflows that one submission or order starts. Long-running ones (lanes, streams, settings) belong to no trace. */
const traced: ReadonlySet<string> = new Set(['transfer', 'batch', 'operatorTransaction'])

const { traces } = proxySinks<TraceSinks>()

/**
 * Bundled only where traces are sent. Passes the trace of the run's start to its steps in headers, and changes nothing
 * else: commands, turns, random numbers and times are those of a run without it, so tracing can be switched under
 * running workflows. The workflow interceptors of @temporalio/interceptors-opentelemetry make spans within the
 * workflow, which takes numbers from its random sequence and further turns of its promises.
 */
export const interceptors = (): WorkflowInterceptors => {
  if (!traced.has(workflowInfo().workflowType)) return {}
  const headers = new TraceHeaders()
  return { inbound: [headers], outbound: [headers] }
}

class TraceHeaders implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  /** For the steps of this run, whose parent is its span. */
  #own: Headers = {}
  /** From the start of the run. The next run of the transfer has the same parent. */
  #given: Headers = {}

  #ids: Readonly<Record<string, string>> = {}

  execute: NonNullable<WorkflowInboundCallsInterceptor['execute']> = (input, next) => {
    const given = input.headers[traceHeader]
    const parent = parentOf(input.headers)
    if (!given || !parent) return next(input)
    const { runId, runStartTime } = workflowInfo()
    const [traceId, parentSpanId, flags] = parent
    // Unique, and the same at each replay.
    const spanId = runId.replaceAll('-', '').slice(-16)
    this.#given = { [traceHeader]: given }
    this.#own = { [traceHeader]: defaultPayloadConverter.toPayload({ traceparent: `00-${traceId}-${spanId}-${flags}` }) }
    // As in observability/tracing.ts, a trace that is not recorded has no ids in the log.
    if (Number.parseInt(flags, 16) & 1) this.#ids = { trace_id: traceId, span_id: spanId }
    const ended = () => traces.ended({ traceId, spanId, parentSpanId, flags, startedAt: runStartTime.getTime(), endedAt: Date.now() })
    const result = next(input)
    // Not part of the result, so the workflow ends in the same turn as without tracing.
    result.then(ended, ended)
    return result
  }

  scheduleActivity: NonNullable<WorkflowOutboundCallsInterceptor['scheduleActivity']> = (input, next) => next(this.#with(input))

  scheduleLocalActivity: NonNullable<WorkflowOutboundCallsInterceptor['scheduleLocalActivity']> = (input, next) => next(this.#with(input))

  continueAsNew: NonNullable<WorkflowOutboundCallsInterceptor['continueAsNew']> = (input, next) =>
    next({ ...input, headers: { ...input.headers, ...this.#given } })

  /** Log lines of the run carry its trace, as those of its steps do. */
  getLogAttributes: NonNullable<WorkflowOutboundCallsInterceptor['getLogAttributes']> = (input, next) => ({ ...next(input), ...this.#ids })

  #with<Input extends { readonly headers: Headers }>(input: Input): Input {
    return { ...input, headers: { ...input.headers, ...this.#own } }
  }
}

/** Anyone who reaches Temporal may have started the run. An invalid header is ignored, and fails no task. */
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
