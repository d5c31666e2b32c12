import { assertHeight, assertIntervals, assertNumber, assertText } from './checks.ts'
import type { ScannedBlock, Reading, RequestOf, StreamRequest, StreamUpdate } from './stream.ts'

/** Numbers in one finding, so that an update stays far below Temporal's limits. */
const mostNumbers = 5_000

/** Throws Error that names the field. */
type Check = (value: unknown, path: string) => void

const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined || check(value, path)
const oneOf =
  (...known: readonly unknown[]): Check =>
  (value, path) => {
    if (!known.includes(value)) throw new Error(`${path}: unknown`)
  }
const hash: Check = (value, path) => assertText(value, path, 128)
const text: Check = (value, path) => assertText(value, path)
const range = { from: assertHeight, to: assertHeight }
const finding = { numbers: assertNumbers, delivered: optional(assertIntervals), ignored: optional(assertIntervals) }
const reading = { ...range, ...finding, passed: assertIntervals }
const decision = { number: assertNumber, by: text, reason: text }

/** The fields of each request. */
const fields: { readonly [Kind in StreamRequest['kind']]: { readonly [Field in Exclude<keyof RequestOf<Kind>, 'kind'>]-?: Check } } = {
  scanned: { parentHash: hash, hash, ...reading },
  seen: finding,
  backfilled: reading,
  reread: { block: assertBlock, by: text },
  audited: { upTo: assertNumber, height: assertHeight, present: assertIntervals },
  classified: { from: assertNumber, to: assertNumber, state: oneOf('not-final', 'held', 'unobserved') },
  completed: { ...range, numbers: assertIntervals },
  undone: { numbers: assertIntervals },
  closed: { number: assertNumber, outcome: oneOf('rejected', 'declined', 'cancelled'), by: optional(text), reason: text },
  parked: { number: assertNumber, code: assertCode },
  unparked: { number: assertNumber },
  skip: decision,
  unskip: decision,
  backfill: { by: text, ...range },
  trust: { number: assertNumber, height: optional(assertHeight), by: text },
  setMaxOpen: { by: text, maxOpen: optional(assertMaxOpen) },
  configured: { maxOpen: assertMaxOpen },
  pause: { by: text, reason: text },
  resume: {},
}

/** Refuses an update that the reducer could not work with, before it is recorded. Throws Error that names the field. */
export function assertStreamUpdate(update: unknown): asserts update is StreamUpdate {
  const { requests } = (update ?? {}) as Partial<StreamUpdate>
  if (!Array.isArray(requests)) throw new Error('requests: must be a list')
  requests.forEach((request: StreamRequest, index) => assertStreamRequest(request, `requests[${index}]`))
}

export function assertStreamRequest(request: StreamRequest, path: string): void {
  const kind = request?.kind
  if (!Object.hasOwn(fields, kind)) throw new Error(`${path}.kind: unknown`)
  const values: Readonly<Record<string, unknown>> = { ...request }
  for (const [field, check] of Object.entries<Check>(fields[kind])) check(values[field], `${path}.${field}`)
  if ('from' in request && BigInt(request.from) > BigInt(request.to)) throw new Error(`${path}.to: below from`)
  if (kind === 'closed' && request.outcome === 'cancelled') assertText(request.by, `${path}.by`)
  if (kind === 'scanned' || kind === 'backfilled') assertPlaced(request, path)
}

/** The blocks of a reading are known: all of its numbers are in them. */
function assertPlaced({ numbers, from, to }: Reading & { readonly from: number; readonly to: number }, path: string): void {
  numbers.forEach(([, height], index) => {
    assertHeight(height, `${path}.numbers[${index}][1]`)
    if (height < from || height > to) throw new Error(`${path}.numbers[${index}][1]: outside of the blocks read`)
  })
}

function assertNumbers(value: unknown, path: string): void {
  if (!Array.isArray(value) || value.length > mostNumbers) throw new Error(`${path}: must be a list of at most ${mostNumbers}`)
  value.forEach((one: unknown, index) => {
    const [number, height]: readonly unknown[] = Array.isArray(one) ? one : []
    assertNumber(number, `${path}[${index}][0]`)
    if (height !== undefined) assertHeight(height, `${path}[${index}][1]`)
  })
}

function assertBlock(value: unknown, path: string): void {
  const block = value as Partial<ScannedBlock> | undefined
  assertHeight(block?.height, `${path}.height`)
  assertText(block?.hash, `${path}.hash`, 128)
}

function assertCode(value: unknown, path: string): void {
  if (!/^[A-Z_]{1,32}$/.test(String(value))) throw new Error(`${path}: must be an error code`)
}

function assertMaxOpen(value: unknown, path: string): void {
  assertHeight(value, path)
  if (value === 0) throw new Error(`${path}: must be at least 1; to stop the stream, pause it`)
}
