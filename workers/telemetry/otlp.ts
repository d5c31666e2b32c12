import { context, propagation, type Span, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { envDetectorSync, Resource } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js'
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js'
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { trimEnd } from '../../domain/text/trim-end.ts'
import type { Logger } from '../../observability/logger.ts'
import { redactText } from '../../observability/redact.ts'
import { within } from '../../runtime/wait.ts'
import type { SpanAttributes } from '../../observability/tracing.ts'
import type { TracedRun, TraceSinks } from '../../workflows/trace-headers.ts'
import type { Role } from '../roles/roles.ts'

const logAgainMs = 5 * 60_000
const closeMs = 3_000

const rootAttribute = 'portage.root'

interface TracingOptions {
  readonly endpoint: string | undefined
  readonly ratio: number
  readonly role: Role
  readonly logger: Logger
}

export type ProcessTracing = ReturnType<typeof createTracing>

/** Records and sends the spans of traces that begin at the intake. Other calls do not begin a trace. */
export function createTracing({ endpoint, ratio, role, logger }: TracingOptions) {
  // There is no keep-alive: the exporter tries a batch once, and a collector may close a kept connection meanwhile.
  const url = endpoint === undefined ? {} : { url: new URL('v1/traces', `${trimEnd(endpoint, '/')}/`).href }
  const exporter = new OTLPTraceExporter({ ...url, keepAlive: false })
  const given = envDetectorSync.detect() as Resource
  const resource = new Resource({ 'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'portage', 'portage.role': role }).merge(given)
  const processor = new BatchSpanProcessor(redacting(exporter, logger))
  const provider = new BasicTracerProvider({ resource, sampler: createSampler(ratio), spanProcessors: [processor] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const tracer = provider.getTracer('portage')
  return {
    inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>, isRoot: boolean): Promise<Result> {
      const flags = trace.getSpanContext(context.active())?.traceFlags ?? TraceFlags.NONE
      if (!isRoot && !(flags & TraceFlags.SAMPLED)) return work()
      const marked = isRoot ? { ...attributes, [rootAttribute]: true } : attributes
      return tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL, attributes: marked }, (span) => ended(span, work))
    },
    fields(): Readonly<Record<string, string>> {
      const current = trace.getSpanContext(context.active())
      return current && current.traceFlags & TraceFlags.SAMPLED ? { trace_id: current.traceId, span_id: current.spanId } : {}
    },
    client: new OpenTelemetryWorkflowClientInterceptor({ tracer }),
    interceptors: {
      activity: [(info) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(info, { tracer }) })],
    } satisfies WorkerInterceptors,
    sinks: {
      traces: {
        ended: {
          fn: ({ workflowType, workflowId, runId }, run) =>
            processor.onEnd(spanOfRun(run, `RunWorkflow:${workflowType}`, { temporalWorkflowId: workflowId, run_id: runId }, resource)),
          callDuringReplay: false,
        },
      },
    } satisfies InjectedSinks<TraceSinks>,
    async close(): Promise<void> {
      await within(closeMs, provider.shutdown(), () => undefined).catch(() => {})
    },
  }
}

async function ended<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = toRelayerError(error)
    span.setStatus({ code: SpanStatusCode.ERROR, message })
    span.setAttribute('error.type', code)
    throw error
  } finally {
    span.end()
  }
}

function createSampler(ratio: number): Sampler {
  const chance = new TraceIdRatioBasedSampler(ratio)
  return {
    shouldSample(parentContext, traceId, _name, _kind, attributes) {
      const parent = trace.getSpanContext(parentContext)
      const isSampled = parent ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : attributes[rootAttribute] === true
      if (!isSampled) return { decision: SamplingDecision.NOT_RECORD }
      return parent ? { decision: SamplingDecision.RECORD_AND_SAMPLED } : chance.shouldSample(parentContext, traceId)
    },
    toString: () => `Intake{${ratio}}`,
  }
}

/** Sends spans without the secrets that error texts may contain, such as URLs. Spans that cannot be sent are lost. */
function redacting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let loggedAt = -Infinity
  const log = ({ code, error }: ExportResult) => {
    if (code === ExportResultCode.SUCCESS || performance.now() - loggedAt < logAgainMs) return
    loggedAt = performance.now()
    logger.warn('traces could not be sent, and are lost; transfers go on', {
      code: 'TRACES_LOST',
      reason: error?.message ?? 'no reason was given',
    })
  }
  return {
    export(spans, done) {
      exporter.export(spans.map(redacted), (result) => {
        log(result)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

function redacted(span: ReadableSpan): ReadableSpan {
  const { message } = span.status
  const status = { ...span.status, ...(message !== undefined && { message: redactText(message) }) }
  const events = span.events.map(({ attributes = {}, ...event }) => ({ ...event, attributes: redactedTexts(attributes) }))
  return Object.create(span, {
    status: { value: status },
    events: { value: events },
    attributes: { value: redactedTexts(span.attributes) },
  }) as ReadableSpan
}

function redactedTexts<Values extends object>(values: Values): Values {
  const entries = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? redactText(value) : (value as unknown)])
  return Object.fromEntries(entries) as Values
}

function spanOfRun(run: TracedRun, name: string, attributes: SpanAttributes, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, startedAt, endedAt } = run
  const traceFlags = Number.parseInt(run.flags, 16)
  return {
    ...{ name, kind: SpanKind.INTERNAL, attributes: { ...attributes }, resource, parentSpanId },
    spanContext: () => ({ traceId, spanId, traceFlags }),
    ...{ startTime: toTime(startedAt), endTime: toTime(endedAt), duration: toTime(Math.max(0, endedAt - startedAt)), ended: true },
    ...{ status: { code: SpanStatusCode.UNSET }, links: [], events: [], instrumentationLibrary: { name: 'portage' } },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  }
}

const toTime = (ms: number): [seconds: number, nanoseconds: number] => [Math.floor(ms / 1_000), (ms % 1_000) * 1e6]
