/** Attributes of a span. They come from the config and the request, never from strangers. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** @param isRoot whether the span may begin a trace. If false, it is recorded only inside a trace */
  inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>, isRoot: boolean): Promise<Result>
  fields(): Readonly<Record<string, string>>
}

let tracing: Tracing | undefined

/** Sets what records the spans of this process. Undefined: no spans are recorded. */
export function useTracing(used: Tracing | undefined): void {
  tracing = used
}

/** Runs the work as a span of the current trace. Outside a trace, only runs the work. */
export function inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, false) : work()
}

/** Like `inSpan`, but begins a trace if there is none. */
export function inTrace<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, true) : work()
}

export function traceFields(): Readonly<Record<string, string>> {
  return tracing?.fields() ?? {}
}
