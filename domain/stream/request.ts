import type { Finding, Reading, StreamRequest, StreamUpdate } from './stream.ts'
import { assertHeight, assertIntervals, assertNumber, assertRange, assertText } from './checks.ts'

/** Numbers in one finding, so that an update stays far below Temporal's limits. */
const mostNumbers = 5_000

/** Refuses an update that the reducer could not work with, before it is recorded. Throws Error that names the field. */
export function assertStreamUpdate(update: unknown): asserts update is StreamUpdate {
  const { requests } = (update ?? {}) as Partial<StreamUpdate>
  if (!Array.isArray(requests)) throw new Error('requests: must be a list')
  requests.forEach((request: StreamRequest, index) => assertStreamRequest(request, `requests[${index}]`))
}

export function assertStreamRequest(request: StreamRequest, path: string): void {
  switch (request?.kind) {
    case 'scanned':
      assertText(request.parentHash, `${path}.parentHash`, 128)
      assertText(request.hash, `${path}.hash`, 128)
      return assertReading(request, path)
    case 'backfilled':
      return assertReading(request, path)
    case 'seen':
      return assertFinding(request, path)
    case 'reread':
      assertHeight(request.block?.height, `${path}.block.height`)
      assertText(request.block.hash, `${path}.block.hash`, 128)
      return assertText(request.by, `${path}.by`)
    case 'audited':
      assertNumber(request.upTo, `${path}.upTo`)
      assertHeight(request.height, `${path}.height`)
      return assertIntervals(request.present, `${path}.present`)
    case 'classified':
      return assertClassified(request, path)
    case 'completed':
      assertRange(request.from, request.to, path)
      return assertIntervals(request.numbers, `${path}.numbers`)
    case 'undone':
      return assertIntervals(request.numbers, `${path}.numbers`)
    case 'closed':
      return assertClosed(request, path)
    case 'parked':
      assertNumber(request.number, `${path}.number`)
      if (!/^[A-Z_]{1,32}$/.test(request.code)) throw new Error(`${path}.code: must be an error code`)
      return
    case 'unparked':
      return assertNumber(request.number, `${path}.number`)
    case 'skip':
    case 'unskip':
      assertNumber(request.number, `${path}.number`)
      assertText(request.by, `${path}.by`)
      return assertText(request.reason, `${path}.reason`)
    case 'backfill':
      assertText(request.by, `${path}.by`)
      return assertRange(request.from, request.to, path)
    case 'trust':
      assertNumber(request.number, `${path}.number`)
      if (request.height !== undefined) assertHeight(request.height, `${path}.height`)
      return assertText(request.by, `${path}.by`)
    case 'setMaxOpen':
      assertText(request.by, `${path}.by`)
      return request.maxOpen === undefined ? undefined : assertMaxOpen(request.maxOpen, path)
    case 'configured':
      return assertMaxOpen(request.maxOpen, path)
    case 'pause':
      assertText(request.by, `${path}.by`)
      return assertText(request.reason, `${path}.reason`)
    case 'resume':
      return
    default:
      throw new Error(`${path}.kind: unknown`)
  }
}

function assertMaxOpen(maxOpen: number, path: string): void {
  assertHeight(maxOpen, `${path}.maxOpen`)
  if (maxOpen === 0) throw new Error(`${path}.maxOpen: must be at least 1; to stop the stream, pause it`)
}

function assertReading(reading: Reading & { readonly from: number; readonly to: number }, path: string): void {
  assertRange(reading.from, reading.to, path)
  assertFinding(reading, path, reading)
  assertIntervals(reading.passed, `${path}.passed`)
}

/** @param range blocks that the numbers must come from, all with their heights */
function assertFinding(finding: Finding, path: string, range?: { readonly from: number; readonly to: number }): void {
  if (!Array.isArray(finding.numbers) || finding.numbers.length > mostNumbers) {
    throw new Error(`${path}.numbers: must be a list of at most ${mostNumbers}`)
  }
  finding.numbers.forEach((one, index) => {
    const [number, height]: readonly unknown[] = Array.isArray(one) ? one : []
    assertNumber(number, `${path}.numbers[${index}][0]`)
    if (height === undefined && !range) return
    assertHeight(height, `${path}.numbers[${index}][1]`)
    if (range && (height < range.from || height > range.to)) throw new Error(`${path}.numbers[${index}][1]: outside of the blocks read`)
  })
  if (finding.delivered !== undefined) assertIntervals(finding.delivered, `${path}.delivered`)
  if (finding.ignored !== undefined) assertIntervals(finding.ignored, `${path}.ignored`)
}

function assertClassified(request: Extract<StreamRequest, { kind: 'classified' }>, path: string): void {
  assertNumber(request.from, `${path}.from`)
  assertNumber(request.to, `${path}.to`)
  if (BigInt(request.from) > BigInt(request.to)) throw new Error(`${path}.to: below from`)
  if (!['not-final', 'held', 'unobserved'].includes(request.state)) throw new Error(`${path}.state: unknown`)
}

function assertClosed(request: Extract<StreamRequest, { kind: 'closed' }>, path: string): void {
  assertNumber(request.number, `${path}.number`)
  if (!['rejected', 'declined', 'cancelled'].includes(request.outcome)) throw new Error(`${path}.outcome: unknown`)
  if (request.outcome === 'cancelled' || request.by !== undefined) assertText(request.by, `${path}.by`)
  assertText(request.reason, `${path}.reason`)
}
