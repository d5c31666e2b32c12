import { hasNumber, type IntervalSet } from '../../domain/stream/intervals.ts'
import { checkpointOf, fromCheckpoint, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { isStarted, isWanted, room } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamAnswer, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'
import { config, type Read, setOf, type SourceBlock } from './stream-blocks.ts'
import { parkOrRelease } from './stream-requests.ts'
import assert from 'node:assert/strict'

/** Compares a stream with the truth after every step. Each method is one possible event. */
export class StreamModel {
  blocks: SourceBlock[] = [{ hash: 'genesis', numbers: [] }]
  final = 0
  stream: StreamState = initialStream(config)
  readonly hidden = new Set<string>()
  running = new Set<string>()
  readonly delivered = new Map<string, number>()
  /** `proved`: a final proof once showed the id as delivered. `ended`: it ended without a delivery. */
  readonly proved = new Set<string>()
  readonly ended = new Set<string>()
  targetHeight = 0
  readonly #completions: { height: number; id: string }[] = []
  readonly #agents: StreamState[] = [this.stream, this.stream]
  #sent: StreamRequest[] = []
  #copies: { state: StreamState; running: Set<string> }[] = []
  #checkpoints: StreamCheckpoint[] = []
  #hashes = 0
  #watermark = 0n

  mine(transfers: number): void {
    const count = this.all().length
    const hash = `h${++this.#hashes}`
    const numbers = Array.from({ length: transfers }, (_, index) => [count + index + 1, `${count + index + 1}-${hash}`] as const)
    this.blocks.push({ hash, numbers })
  }

  finalize(blocks: number): void {
    this.final = Math.min(this.blocks.length - 1, this.final + blocks)
  }

  reorg(depth: number, transfers: number): void {
    const deep = this.#isUnbound() ? 0 : depth
    const keep = Math.max(1, deep > 0 ? this.final + 1 - deep : this.final + 1)
    const length = this.blocks.length
    if (keep <= this.final) this.#forget()
    this.blocks = this.blocks.slice(0, keep)
    while (this.blocks.length < length) this.mine(this.blocks.length % 2 === 0 ? transfers : 0)
  }

  /** No block hash binds numbers above the cursor, so a fork of them would not show (docs/concepts/streams.md). */
  #isUnbound(): boolean {
    const { cursor, next, exceptions } = this.stream
    // The stream will notice the fork, and drop the numbers above the cursor too.
    if (cursor && this.blocks[cursor.height]?.hash !== cursor.hash) return false
    const known = Math.max(Number(next) - 1, ...exceptions.map(({ number }) => Number(number)))
    return known > (cursor ? this.all(cursor.height).length : 0)
  }

  hide(which: number): void {
    const id = pick(this.all(), which)?.[1]
    if (id !== undefined) this.hidden.add(id)
  }

  all(upTo = this.blocks.length - 1): (readonly [number: number, id: string])[] {
    return this.blocks.slice(0, upTo + 1).flatMap(({ numbers }) => numbers)
  }

  idOf(number: number | string): string | undefined {
    return this.all(this.final).find(([one]) => one === Number(number))?.[1]
  }

  deliver(which: number, foreign: boolean): void {
    const ids = foreign ? this.all(this.final).map(([, id]) => id) : [...this.running]
    const id = pick(ids, which)
    if (id === undefined || this.delivered.has(id) || this.ended.has(id)) return
    this.targetHeight += 1
    this.delivered.set(id, this.targetHeight)
    this.proved.add(id)
    this.running.delete(id)
    this.#completions.push({ height: this.targetHeight, id })
  }

  /** A reorg of the target below its finality, reported at once. */
  undo(which: number): void {
    const id = pick([...this.delivered.keys()], which)
    if (id === undefined || this.idOf(Number(id.split('-')[0])) !== id) return
    this.delivered.delete(id)
    this.proved.delete(id)
    this.#completions.splice(
      this.#completions.findIndex((one) => one.id === id),
      1,
    )
    // Earlier reports and checkpoints still count this number as delivered.
    this.#forget()
    this.tell(0, { kind: 'undone', numbers: setOf([Number(id.split('-')[0])]) })
  }

  follow(a: number): void {
    const from = (this.#agent(a).target ?? 0) + 1
    if (from > this.targetHeight) return
    const ids = this.#completions.filter(({ height }) => height >= from).map(({ id }) => id)
    const numbers = setOf(ids.filter((id) => this.idOf(id.split('-')[0] ?? '') === id).map((id) => Number(id.split('-')[0])))
    this.tell(a, { kind: 'completed', numbers, from, to: this.targetHeight })
  }

  refresh(a: number): void {
    this.#agents[a % 2] = this.stream
  }

  scan(a: number, size: number, crash: boolean): StreamAnswer | undefined {
    const known = this.#agent(a)
    const from = known.cursor ? known.cursor.height + 1 : Math.max(0, this.final - 2)
    const to = Math.min(this.final, from + size)
    if (from > to) return undefined
    const [parentHash, hash] = [this.blocks[from - 1]?.hash ?? 'none', this.blocks[to]?.hash ?? 'none']
    const read = this.#start(known, from, to, crash ? 1 : Infinity)
    if (!read) return undefined
    const { numbers } = read
    const answer = this.tell(a, { kind: 'scanned', from, to, parentHash, hash, ...read, delivered: this.#deliveredOf(numbers) })
    if (answer?.kind === 'full') this.#some(a, numbers)
    if (answer?.kind === 'forked') this.#reread(a)
    return answer
  }

  fill(a: number, size: number, crash: boolean): void {
    const known = this.#agent(a)
    const [low, high] = pick(known.backfill.left, a) ?? []
    if (low === undefined || high === undefined) return
    const [from, to] = [Number(low), Math.min(Number(high), Number(low) + size, this.final)]
    if (from > to) return
    const read = this.#start(known, from, to, crash ? 1 : Infinity)
    if (!read) return
    const answer = this.tell(a, { kind: 'backfilled', from, to, ...read, delivered: this.#deliveredOf(read.numbers) })
    if (answer?.kind === 'full') this.#some(a, read.numbers)
  }

  /** Starts transfers for all open numbers again, and for numbers of gaps as far as there is room. */
  audit(a: number, back: number, crash: boolean): void {
    const height = Math.max(0, this.final - back)
    const table = this.all(height)
    this.tell(a, { kind: 'audited', upTo: String(table.length), height, present: setOf(table.map(([number]) => number)) })
    const known = this.#agent(a)
    const isDue = (number: number) => known.gaps.some(({ from, to }) => hasNumber([[from, to]], String(number)))
    const open = table.filter(([number]) => isStarted(known, String(number)))
    const due = table.filter(([number]) => isDue(number))
    const free = room(known)
    const numbers: (readonly [string])[] = []
    let fresh = 0
    for (const [number, id] of [...open, ...due]) {
      const isOver = this.delivered.has(id)
      if (!isOver && isDue(number) && fresh++ >= free) continue
      if (!isOver && !this.ended.has(id)) this.running.add(id)
      if (crash && numbers.length > 0) return
      if (this.ended.has(id)) this.tell(a, { kind: 'seen', numbers: [[String(number)]] }, this.#close(number))
      else numbers.push([String(number)])
    }
    this.tell(a, { kind: 'seen', numbers, delivered: this.#deliveredOf(numbers) })
  }

  repeat(which: number): void {
    const request = pick(this.#sent, which)
    if (request) this.#apply([request])
  }

  end(which: number): void {
    const id = pick([...this.running], which)
    const number = Number(id?.split('-')[0])
    if (id === undefined || this.idOf(number) !== id) return
    this.running.delete(id)
    this.ended.add(id)
    this.tell(0, this.#close(number))
  }

  park(which: number): void {
    const request = parkOrRelease(this.stream, which)
    if (request) this.tell(0, request)
  }

  operator(request: StreamRequest): void {
    this.#apply([request])
  }

  skip(number: number): void {
    const id = this.idOf(number)
    if (id === undefined || this.delivered.has(id) || !isWanted(this.stream, String(number)) || BigInt(number) >= BigInt(this.stream.next))
      return
    this.running.delete(id)
    this.ended.add(id)
    this.tell(0, { kind: 'skip', number: String(number), by: 'ops', reason: 'test' })
  }

  /** Sets a watermark from outside: a true one if `above` is 0, else one above all numbers that the stream knows. */
  trust(above: number): void {
    const all = this.all(this.final)
    const open = all.findIndex(([, id]) => !this.proved.has(id) && !this.ended.has(id))
    const resolved = open < 0 ? all.length : open
    const number = String(Math.max(resolved, 1) + (above > 0 ? Math.max(0, Number(this.stream.next) - 1 - resolved) + above : 0))
    if (resolved === 0 && above === 0) return
    const request = { kind: 'trust', number, by: 'chain' } as const
    // A false watermark is not kept for `repeat`, because the stream would believe it once it knows the number.
    const answer = above > 0 ? this.#apply([request])[0] : this.tell(0, request)
    assert.equal(answer?.kind === 'refused', BigInt(number) >= BigInt(this.stream.next))
    assert.equal(viewStream(this.stream).alarms.includes('distrusted'), answer?.kind === 'refused')
  }

  copy(): void {
    this.#copies = [
      ...this.#copies,
      { state: JSON.parse(JSON.stringify(this.stream)) as StreamState, running: new Set(this.running) },
    ].slice(-3)
    this.#checkpoints = [...this.#checkpoints, JSON.parse(JSON.stringify(checkpointOf(this.stream))) as StreamCheckpoint].slice(-3)
  }

  /** Transfers that were started since the copy are gone. */
  restore(which: number): void {
    const copy = pick(this.#copies, which)
    if (!copy) return
    this.stream = copy.state
    this.running = new Set([...copy.running].filter((id) => !this.delivered.has(id) && !this.ended.has(id)))
    this.#watermark = 0n
  }

  wipe(which: number, checkpoint: boolean): void {
    const given = checkpoint ? pick(this.#checkpoints, which) : undefined
    const kept = given?.cursor && this.blocks[given.cursor.height]?.hash === given.cursor.hash ? given : undefined
    this.stream = kept ? fromCheckpoint(config, kept) : initialStream(config)
    this.running = new Set()
    this.#watermark = 0n
  }

  /** From here on nothing fails, but hidden logs stay hidden. Throws if the stream does not come to its end. */
  settle(): void {
    this.#apply([{ kind: 'resume' }, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' }])
    // A fork shows only in the block above it.
    this.mine(0)
    this.finalize(1_000)
    for (let round = 0; round < 400; round++) {
      this.refresh(0)
      this.scan(0, 5, false)
      this.refresh(0)
      this.fill(0, 5, false)
      this.refresh(0)
      this.audit(0, 0, false)
      if (this.#isAllStarted() && this.stream.backfill.left.length === 0) this.startedAll = true
      for (const id of this.running) this.deliver([...this.running].indexOf(id), false)
      this.refresh(0)
      this.follow(0)
      const { completedNumber, nextHeight } = viewStream(this.stream)
      if (nextHeight === this.final + 1 && Number(completedNumber ?? 0) === this.all().length && this.stream.backfill.left.length === 0)
        return
    }
    assert.fail(`not settled: ${JSON.stringify(viewStream(this.stream))} of ${this.all().length}`)
  }

  startedAll = false

  #isAllStarted(): boolean {
    return this.all(this.final).every(([, id]) => this.running.has(id) || this.delivered.has(id) || this.ended.has(id))
  }

  #agent(a: number): StreamState {
    return this.#agents[a % 2] ?? this.stream
  }

  /** Undefined: the process died after `survives` starts. */
  #start(known: StreamState, from: number, to: number, survives: number): Read | undefined {
    const found: (readonly [string, number])[] = []
    const passed: number[] = []
    for (let height = from; height <= to; height++) {
      for (const [number, id] of this.blocks[height]?.numbers ?? []) {
        if (this.hidden.has(id)) continue
        if (!isWanted(known, String(number))) {
          passed.push(number)
          continue
        }
        if (found.length >= survives) return undefined
        if (!this.delivered.has(id) && !this.ended.has(id)) this.running.add(id)
        found.push([String(number), height])
      }
    }
    return { numbers: found, passed: setOf(passed) }
  }

  #deliveredOf(numbers: readonly (readonly [string, number?])[]): IntervalSet {
    return setOf(numbers.map(([number]) => Number(number)).filter((number) => this.delivered.has(this.idOf(number) ?? '')))
  }

  /** The cursor does not move, so the other numbers are read again later. */
  #some(a: number, numbers: readonly (readonly [string, number])[]): void {
    const fresh = numbers.filter(([number]) => !isStarted(this.stream, number))
    const first = fresh.slice(0, room(this.stream))
    this.tell(a, { kind: 'seen', numbers: first, delivered: this.#deliveredOf(first) })
  }

  #reread(a: number): void {
    let height = Math.max(0, (this.stream.cursor?.height ?? 0) - 1)
    // The agent remembers no hashes.
    height = Math.max(0, height - 6)
    this.#watermark = 0n
    this.tell(a, { kind: 'reread', block: { height, hash: this.blocks[height]?.hash ?? 'none' }, by: 'quorum' })
    this.refresh(a)
  }

  #close(number: number): StreamRequest {
    return { kind: 'closed', number: String(number), outcome: 'rejected', reason: 'not a message' }
  }

  /** After a fork of final blocks or an undone delivery, old requests would no longer be true. */
  #forget(): void {
    this.#sent = []
    this.#copies = []
    this.#checkpoints = []
    this.#watermark = 0n
    for (const index of [0, 1]) this.#agents[index] = this.stream
  }

  tell(_a: number, ...requests: StreamRequest[]): StreamAnswer | undefined {
    this.#sent = [...this.#sent, ...requests].slice(-20)
    const answers = this.#apply(requests)
    this.refresh(_a)
    return answers.at(-1)
  }

  #apply(requests: readonly StreamRequest[]): readonly StreamAnswer[] {
    assertStreamUpdate({ requests })
    const { state, response } = applyToStream(this.stream, { requests }, 1_000)
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
    this.stream = state
    if (requests.some(({ kind }) => kind === 'undone' || kind === 'unskip' || kind === 'reread')) this.#watermark = 0n
    this.#check()
    return response.answers
  }

  #check(): void {
    const { completedNumber, completedHeight } = viewStream(this.stream)
    const { cursor } = this.stream
    const watermark = BigInt(completedNumber ?? 0)
    assert(watermark >= this.#watermark, `watermark fell from ${this.#watermark} to ${watermark}`)
    this.#watermark = watermark
    if (cursor && this.blocks[cursor.height]?.hash !== cursor.hash) return
    for (const [number, id] of this.all(this.final)) {
      if (number <= watermark)
        assert(this.proved.has(id) || this.ended.has(id), `watermark ${watermark} above ${number}, which is not resolved`)
    }
    const below = completedHeight === undefined ? [] : this.all(completedHeight)
    for (const [number, id] of below) {
      assert(this.hidden.has(id) || this.proved.has(id) || this.ended.has(id), `block height ${completedHeight} above open ${number}`)
    }
  }
}
