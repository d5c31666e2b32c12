/** Attributes of a span: of the config and of what was asked, never of what others sent. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What records spans, where traces are sent somewhere. */
export interface Tracing {
  /** @param isRoot it may begin a trace; else it is only recorded as part of one */
  inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>, isRoot: boolean): Promise<Result>
  /** `trace_id` and `span_id` of what runs now; empty outside a trace. */
  fields(): Readonly<Record<string, string>>
}

const none: Readonly<Record<string, string>> = {}
let tracing: Tracing | undefined

/** Records from now on, in this process; undefined: nothing, which costs nothing. */
export function useTracing(used: Tracing | undefined): void {
  tracing = used
}

/** Runs the work as a part of the trace that it is called in. Outside a trace, and without tracing, it only runs it. */
export function inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, false) : work()
}

/** The same, and begins a trace if it is called in none. */
export function inTrace<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, true) : work()
}

/** For log lines: which trace they belong to. */
export function traceFields(): Readonly<Record<string, string>> {
  return tracing ? tracing.fields() : none
}
