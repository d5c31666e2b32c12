/** Values come from the config or from Portage's own code, never from strangers. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** @param isRoot if there is no trace: true begins one with the span, false records no span */
  inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>, isRoot: boolean): Promise<Result>
  fields(): Readonly<Record<string, string>>
}

let tracing: Tracing | undefined

export function useTracing(used: Tracing | undefined): void {
  tracing = used
}

/** Runs `work` as a span of the current trace. Outside a trace, runs `work` without a span. */
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
