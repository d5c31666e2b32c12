import { assertCheckpoint, checkpointOf, fromCheckpoint, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { hasNumber, type IntervalSet, setOf } from '../../domain/stream/intervals.ts'
import { applyToStream, completedHeight, completedNumber, initialStream } from '../../domain/stream/reducer.ts'
import type { StreamAnswer, StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { type ModelStep, numberOf, numbersOf } from './trace.ts'
import type { TlaRecord, TlaValue } from './value.ts'

export interface StreamScope {
  readonly numbers: number
  readonly maxOpen: number
  readonly scans: boolean
}

/** Repeats the steps of Stream.tla with the reducer of `domain/stream`. Block n has message n. */
export class StreamReplay {
  readonly #config: StreamConfig
  readonly #numbers: readonly number[]
  #state: StreamState
  #saved: StreamCheckpoint | undefined
  #backup: StreamState | undefined
  #now = 0

  constructor({ numbers, maxOpen, scans }: StreamScope) {
    this.#config = { stream: 'native-bridge:1:2', origin: '1/0xa', first: '1', maxOpen, ...(scans && { start: 1 }) }
    this.#numbers = Array.from({ length: numbers }, (_, index) => index + 1)
    this.#state = initialStream(this.#config)
  }

  step({ name, args }: ModelStep): void {
    switch (name) {
      case 'Seen':
        return this.#seen(args)
      case 'Scan':
        return this.#scan(args)
      case 'Backfill':
        return this.#backfill(args)
      case 'Audit':
        return void this.#ask({
          kind: 'audited',
          upTo: String(numberOf(args[0])),
          height: numberOf(args[0]),
          present: this.#table(args[0]),
        })
      case 'Complete':
        return void this.#ask({ kind: 'completed', numbers: only(args[0]), from: ++this.#now, to: this.#now })
      case 'Close':
        return void this.#ask({ kind: 'closed', number: String(numberOf(args[0])), outcome: 'declined', reason: 'fee' })
      case 'Skip':
        return void this.#ask({ kind: 'skip', number: String(numberOf(args[0])), by: 'operator', reason: 'test' })
      case 'Unskip':
        return void this.#ask({ kind: 'unskip', number: String(numberOf(args[0])), by: 'operator', reason: 'test' })
      case 'Revert':
        return void this.#ask({ kind: 'undone', numbers: only(args[0]) })
      case 'Save':
        return this.#save(args[0] ?? null)
      case 'Backup':
        return void (this.#backup = this.#state)
      case 'Lose':
        return this.#lose(args[0] === true)
      default:
    }
  }

  /** The stream's state in the form of the model's variable `ledger`. */
  get abstraction(): TlaValue {
    const { next, open, gaps, exceptions, unknownCompletions, cursor, start = 0, backfill } = this.#state
    const among = (set: IntervalSet) => new Set(this.#numbers.filter((number) => hasNumber(set, String(number))))
    const gapOf = (number: number) => gaps.find(({ from, to }) => hasNumber([[from, to]], String(number)))?.state ?? 'none'
    return {
      ...{ next: Number(next), open: new Set(open.map(({ number }) => Number(number))), gaps: this.#numbers.map(gapOf) },
      exceptions: new Set(exceptions.map(({ number }) => Number(number))),
      ...{ unknown: among(unknownCompletions), cursor: cursor?.height ?? 0, start, unread: among(backfill.left) },
    }
  }

  #seen([number, done, full]: readonly TlaValue[]): void {
    const delivered = done === true ? only(number) : []
    this.#expect({ kind: 'seen', numbers: [[String(numberOf(number)), numberOf(number)]], delivered }, full === true ? 'full' : undefined)
  }

  #scan([from, to, logs, passed, delivered]: readonly TlaValue[]): void {
    const { cursor } = this.#state
    const hash = `block-${numberOf(to)}`
    const range = { from: numberOf(from), to: numberOf(to), hash, parentHash: cursor?.hash ?? 'genesis' }
    this.#ask({ kind: 'scanned', ...range, ...reading(numbersOf(logs), passed, delivered) })
  }

  #backfill([number, passed, delivered]: readonly TlaValue[]): void {
    const block = numberOf(number)
    const logs = passed === true ? [] : [block]
    this.#ask({ kind: 'backfilled', from: block, to: block, ...reading(logs, new Set(passed === true ? [block] : []), delivered) })
  }

  /** The source's table: all numbers that the source has used. */
  #table(count: TlaValue | undefined): IntervalSet {
    return setOf(this.#numbers.filter((number) => number <= numberOf(count)).map(String))
  }

  #save(wanted: TlaValue): void {
    const { number, height } = wanted as TlaRecord
    const [ownNumber, ownHeight] = [Number(completedNumber(this.#state) ?? 0), completedHeight(this.#state) ?? 0]
    if (ownNumber !== number) throw new Error(`the checkpoint vouches up to ${ownNumber}, the model's up to ${numberOf(number)}`)
    // The reducer knows only some heights, so its checkpoint may be lower than the model's, but never higher.
    if (ownHeight > numberOf(height)) throw new Error(`the checkpoint's height is ${ownHeight}, above the model's ${numberOf(height)}`)
    const { completedHeight: _, ...checkpoint } = checkpointOf(this.#state)
    this.#saved = { ...checkpoint, ...(numberOf(height) > 0 && { completedHeight: numberOf(height) }) }
    assertCheckpoint(this.#saved, this.#config.stream)
  }

  #lose(restored: boolean): void {
    if (restored && this.#backup) this.#state = this.#backup
    else this.#state = this.#saved ? fromCheckpoint(this.#config, this.#saved) : initialStream(this.#config)
    this.#backup = undefined
  }

  #expect(request: StreamRequest, kind: StreamAnswer['kind'] = 'done'): void {
    const answer = this.#ask(request)
    if (answer !== kind) throw new Error(`the model expects ${kind}, the reducer answers ${answer}`)
  }

  #ask(request: StreamRequest): StreamAnswer['kind'] {
    const { state, response } = applyToStream(this.#state, { requests: [request] }, ++this.#now)
    this.#state = state
    return response.answers[0]?.kind ?? 'refused'
  }
}

const only = (number: TlaValue | undefined): IntervalSet => setOf([String(numberOf(number))])

function reading(logs: readonly number[], passed: TlaValue | undefined, delivered: TlaValue | undefined) {
  const set = (value: TlaValue | undefined) => setOf(numbersOf(value).map(String))
  return { numbers: logs.map((log) => [String(log), log] as const), passed: set(passed), delivered: set(delivered) }
}
