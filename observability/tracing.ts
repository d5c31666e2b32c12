/** Attributes of a span. Their values come from the config or Portage's code, never from strangers. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** @param isRoot outside of a trace: true begins a trace with this span, false records no span */
  inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>, isRoot: boolean): Promise<Result>
  fields(): Readonly<Record<string, string>>
}

let tracing: Tracing | undefined

export function useTracing(used: Tracing | undefined): void {
  tracing = used
}

/** Runs `work` as a span of the current trace, or without a span if there is no trace. */
export function inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, false) : work()
}

/** Runs `work` as a span of the current trace, or of a new one if there is none. */
export function inTrace<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.inSpan(name, attributes, work, true) : work()
}

export function traceFields(): Readonly<Record<string, string>> {
  return tracing?.fields() ?? {}
}
