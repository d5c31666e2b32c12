import assert from 'node:assert/strict'
import { checkpointOf, fromCheckpoint, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { type IntervalSet, setOf } from '../../domain/stream/intervals.ts'
import { isStarted, isWanted, room } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamAnswer, StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'

type Found = readonly (readonly [number: string, height: number])[]

/**
 * A stream with two agents that read its blocks, perhaps late. The rules are checked after every request. Each method
 * is one possible event.
 */
export abstract class ScannedModel {
  stream: StreamState
  running = new Set<string>()
  /** Ids that ended without a delivery. */
  readonly ended = new Set<string>()
  startedAll = false
  protected watermark = 0n
  readonly #config: StreamConfig
  readonly #agents: StreamState[]
  #sent: StreamRequest[] = []
  #copies: { state: StreamState; running: Set<string> }[] = []
  #checkpoints: StreamCheckpoint[] = []

  constructor(config: StreamConfig) {
    this.#config = config
    this.stream = initialStream(config)
    this.#agents = [this.stream, this.stream]
  }

  /** Height of the newest final block. */
  abstract get final(): number
  abstract hashAt(height: number): string
  /** Logs of these blocks that nodes show. */
  protected abstract read(from: number, to: number): readonly (readonly [number: string, id: string, height: number])[]
  abstract idOf(number: string): string | undefined
  protected abstract isDelivered(id: string): boolean
  protected abstract check(): void
  /** Called after the stream was restored or lost. */
  protected abstract goneBack(): void
  /** Called before an agent reports some numbers of a range without reading the range. */
  protected readInPart(_numbers: Found): void {}

  protected isOver(id: string): boolean {
    return this.isDelivered(id) || this.ended.has(id)
  }

  protected agent(a: number): StreamState {
    return this.#agents[a % 2] ?? this.stream
  }

  refresh(a: number): void {
    this.#agents[a % 2] = this.stream
  }

  scan(a: number, size: number, crash: boolean): StreamAnswer | undefined {
    const known = this.agent(a)
    const from = known.cursor ? known.cursor.height + 1 : Math.max(0, this.final - 2)
    const to = Math.min(this.final, from + size)
    if (from > to) return undefined
    const [parentHash, hash] = [this.hashAt(from - 1), this.hashAt(to)]
    const read = this.#start(known, from, to, crash ? 1 : Infinity)
    if (!read) return undefined
    const answer = this.tell(a, { kind: 'scanned', from, to, parentHash, hash, ...read, delivered: this.deliveredOf(read.numbers) })
    if (answer?.kind === 'full') this.#some(a, read.numbers)
    if (answer?.kind === 'forked') this.#reread(a)
    return answer
  }

  fill(a: number, size: number, crash: boolean): void {
    const known = this.agent(a)
    const [low, high] = pick(known.backfill.left, a) ?? []
    if (low === undefined || high === undefined) return
    const [from, to] = [Number(low), Math.min(Number(high), Number(low) + size, this.final)]
    if (from > to) return
    const read = this.#start(known, from, to, crash ? 1 : Infinity)
    if (!read) return
    const answer = this.tell(a, { kind: 'backfilled', from, to, ...read, delivered: this.deliveredOf(read.numbers) })
    if (answer?.kind === 'full') this.#some(a, read.numbers)
  }

  repeat(which: number): void {
    const request = pick(this.#sent, which)
    if (request) this.apply([request])
  }

  operator(request: StreamRequest): void {
    this.apply([request])
  }

  copy(): void {
    const [state, checkpoint] = [structuredClone(this.stream), structuredClone(checkpointOf(this.stream))]
    this.#copies = [...this.#copies, { state, running: new Set(this.running) }].slice(-3)
    this.#checkpoints = [...this.#checkpoints, checkpoint].slice(-3)
  }

  /** Restores the stream from a copy, and removes the transfers that were started after the copy. */
  restore(which: number): void {
    const copy = pick(this.#copies, which)
    if (!copy) return
    this.stream = copy.state
    this.running = new Set([...copy.running].filter((id) => !this.isOver(id)))
    this.goneBack()
  }

  wipe(which: number, checkpoint: boolean): void {
    const given = checkpoint ? pick(this.#checkpoints, which) : undefined
    const kept = given?.cursor && this.hashAt(given.cursor.height) === given.cursor.hash ? given : undefined
    this.stream = kept ? fromCheckpoint(this.#config, kept) : initialStream(this.#config)
    this.running = new Set()
    this.goneBack()
  }

  protected deliveredOf(numbers: readonly (readonly [string, number?])[]): IntervalSet {
    return setOf(numbers.map(([number]) => number).filter((number) => this.isDelivered(this.idOf(number) ?? '')))
  }

  /** Drops old requests, copies and checkpoints, which a fork of final blocks or an undone delivery has made untrue. */
  protected forget(): void {
    this.#sent = []
    this.#copies = []
    this.#checkpoints = []
    this.watermark = 0n
    for (const index of [0, 1]) this.#agents[index] = this.stream
  }

  tell(a: number, ...requests: StreamRequest[]): StreamAnswer | undefined {
    this.#sent = [...this.#sent, ...requests].slice(-20)
    const answers = this.apply(requests)
    this.refresh(a)
    return answers.at(-1)
  }

  protected apply(requests: readonly StreamRequest[]): readonly StreamAnswer[] {
    assertStreamUpdate({ requests })
    const { state, response } = applyToStream(this.stream, { requests }, 1_000)
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
    this.stream = state
    this.check()
    return response.answers
  }

  /** Starts the transfers of a range. Undefined if the process died after `survives` starts. */
  #start(known: StreamState, from: number, to: number, survives: number) {
    const numbers: (readonly [string, number])[] = []
    const passed: string[] = []
    for (const [number, id, height] of this.read(from, to)) {
      if (!isWanted(known, number)) {
        passed.push(number)
        continue
      }
      if (numbers.length >= survives) return undefined
      if (!this.isOver(id)) this.running.add(id)
      numbers.push([number, height])
    }
    return { numbers, passed: setOf(passed) }
  }

  /** Reports some of the numbers without moving the cursor, so that the agent reads the rest again later. */
  #some(a: number, numbers: Found): void {
    const fresh = numbers.filter(([number]) => !isStarted(this.stream, number))
    const first = fresh.slice(0, room(this.stream))
    this.readInPart(first)
    this.tell(a, { kind: 'seen', numbers: first, delivered: this.deliveredOf(first) })
  }

  /** An agent that remembers no hashes reads the last blocks again. */
  #reread(a: number): void {
    const height = Math.max(0, (this.stream.cursor?.height ?? 0) - 7)
    this.watermark = 0n
    this.tell(a, { kind: 'reread', block: { height, hash: this.hashAt(height) }, by: 'quorum' })
  }
}
