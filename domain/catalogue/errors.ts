import { type ErrorCode, errorCatalogue, isErrorCode } from './catalogue.ts'
import type { ErrorRow } from './row.ts'

export { type ErrorCode, errorCatalogue, isErrorCode }

/** People see these values, so they must not contain secrets. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>

export class RelayerError extends Error {
  readonly code: ErrorCode
  readonly retriable: boolean
  readonly facts: Facts
  readonly title: string
  readonly remedy: string
  readonly about: string
  readonly haltRoute: boolean
  /** True if a process with another config could accept the message that this process refuses. */
  readonly ofConfig: boolean

  constructor(code: ErrorCode, options: { detail?: string; facts?: Facts; cause?: unknown; ofConfig?: boolean } = {}) {
    const { title, remedy, retriable, haltRoute = false } = errorCatalogue[code]
    const about = aboutOf(options)
    super([title, about === title ? '' : about, `→ ${remedy}`].filter(Boolean).join(' '), { cause: options.cause })
    this.name = 'RelayerError'
    this.code = code
    this.retriable = retriable
    this.facts = options.facts ?? {}
    this.title = title
    this.remedy = remedy
    this.about = about
    this.haltRoute = haltRoute
    this.ofConfig = options.ofConfig ?? false
  }
}

function rowOf(code: string | undefined): Partial<ErrorRow> {
  return isErrorCode(code) ? errorCatalogue[code] : {}
}

export function awaitsNewSignatures(code: string | undefined): boolean {
  return rowOf(code).awaitNewSignatures === true
}

export function waitsForItself(code: string): boolean {
  return rowOf(code).waitsForItself === true
}

export function passesSoon(code: string): boolean {
  return rowOf(code).passesSoon === true
}

/** Whether no lane takes the transfer: neither the lane that its submission chose nor, without a choice, any other. */
export function isWithoutLane(code: string | undefined): boolean {
  return code === 'LANE_NONE' || code === 'LANE_CHOSEN'
}

export function knownCode(code: unknown): ErrorCode {
  return isErrorCode(code) ? code : 'INTERNAL'
}

export function toRelayerError(error: unknown): RelayerError {
  if (error instanceof RelayerError) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new RelayerError('INTERNAL', { detail, cause: error })
}

function aboutOf({ detail, facts = {} }: { detail?: string; facts?: Facts }): string {
  const listed = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
  return [detail, listed && `(${listed})`].filter(Boolean).join(' ')
}

export function isPluginFailure(error: unknown): error is RelayerError {
  return error instanceof RelayerError && ['PLUGIN_INVALID', 'PLUGIN_CHANGED', 'PLUGIN_FAILED'].includes(error.code)
}
