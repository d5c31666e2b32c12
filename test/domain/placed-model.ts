import assert from 'node:assert/strict'
import { checkpointOf, fromCheckpoint, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { hasGap } from '../../domain/stream/gaps.ts'
import { addInterval, hasNumber, type IntervalSet, missingBetween } from '../../domain/stream/intervals.ts'
import { isResolved, isStarted, isUnresolved, isWanted, room } from '../../domain/stream/numbers.ts'
import { outsideReason, setOutside } from '../../domain/stream/outside-window.ts'
import { firstIn, heightOf, placeOf } from '../../domain/stream/places.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamAnswer, StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'
import { parkOrRelease } from './stream-requests.ts'

export const config: StreamConfig = { stream: 'logs:a:c', origin: '1/0xcc', first: '0', start: 0, maxOpen: 4, placed: true }

interface LogBlock {
  readonly hash: string
  /** Number and id: a fork may give a place to another transfer. */
  readonly logs: readonly (readonly [number: string, id: string])[]
}

type Found = (readonly [number: string, height: number])[]

const setOf = (numbers: Iterable<string>): IntervalSet =>
  [...numbers].reduce<IntervalSet>((set, number) => addInterval(set, number), [])

/**
 * A contract whose logs have places, on a chain that forks and hides logs; transfers; two agents that hold old states;
 * and the placed stream, held against the truth after every request. Each method is one thing that can happen.
 */
export class PlacedModel {
  blocks: LogBlock[] = [{ hash: 'genesis', logs: [] }]
  final = 0
  stream: StreamState = initialStream(config)
  /** Ids. Most nodes leave these logs out. */
  readonly hidden = new Set<string>()
  /** Were hidden once: the watermark may have passed them. */
  readonly missed = new Set<string>()
  running = new Set<string>()
  readonly delivered = new Set<string>()
  readonly ended = new Set<string>()
  readonly #agents: StreamState[] = [this.stream, this.stream]
  #sent: StreamRequest[] = []
  #copies: { state: StreamState; running: Set<string> }[] = []
  #checkpoints: StreamCheckpoint[] = []
  #hashes = 0
  #watermark = 0n
  /** Numbers that a request reopened: they may be counted again. */
  #reopened = 0

  // The source.

  mine(...indexes: number[]): void {
    const [height, hash] = [this.blocks.length, `h${++this.#hashes}`]
    const places = [...new Set(indexes)].sort((a, b) => a - b).map((index) => placeOf(height, index))
    this.blocks.push({ hash, logs: places.map((number) => [number, `${number}-${hash}`]) })
  }

  finalize(blocks: number): void {
    this.final = Math.min(this.blocks.length - 1, this.final + blocks)
  }

  /** `depth`: as many final blocks are replaced, too. */
  reorg(depth: number, index: number): void {
    const keep = Math.max(1, this.final + 1 - (this.#isUnbound() ? 0 : depth))
    const { length } = this.blocks
    if (keep <= this.final) this.#forget()
    this.blocks = this.blocks.slice(0, keep)
    while (this.blocks.length < length) this.mine(...(this.blocks.length % 2 === 0 ? [index, 3] : []))
  }

  /** Whether the stream knows numbers above its cursor, which no block hash binds (docs/concepts/streams.md). */
  #isUnbound(): boolean {
    const { cursor, next, exceptions } = this.stream
    if (cursor && this.blocks[cursor.height]?.hash !== cursor.hash) return false
    const above = firstIn(cursor ? cursor.height + 1 : 0)
    return BigInt(next) > above || exceptions.some(({ number }) => BigInt(number) >= above)
  }

  hide(which: number): void {
    const id = pick(this.all(), which)?.[1]
    if (id === undefined || this.running.has(id) || this.delivered.has(id) || this.ended.has(id)) return
    this.hidden.add(id)
    this.missed.add(id)
  }

  show(): void {
    this.hidden.clear()
  }

  all(upTo = this.blocks.length - 1, from = 0): (readonly [number: string, id: string])[] {
    return this.blocks.slice(from, upTo + 1).flatMap(({ logs }) => logs)
  }

  /** What most nodes answer. */
  read(from: number, to: number): (readonly [number: string, id: string])[] {
    return this.all(to, from).filter(([, id]) => !this.hidden.has(id))
  }

  idOf(number: string): string | undefined {
    return this.blocks[heightOf(number)]?.logs.find(([one]) => one === number)?.[1]
  }

  // The transfers. The stream hears of a delivery only by the outcome of the transfer.

  deliver(which: number): void {
    const id = pick([...this.running], which)
    if (id === undefined) return
    this.running.delete(id)
    this.delivered.add(id)
  }

  /** Another relayer delivers before Portage has started the transfer. */
  deliverForeign(which: number): void {
    const id = pick(this.all(this.final), which)?.[1]
    if (id !== undefined && !this.running.has(id) && !this.ended.has(id)) this.delivered.add(id)
  }

  end(which: number): void {
    const id = pick([...this.running], which)
    if (id === undefined) return
    this.running.delete(id)
    this.ended.add(id)
  }

  /** The target forgets a delivery, and the audit of deliveries notices it. */
  undo(which: number): void {
    const id = pick([...this.delivered], which)
    const number = id?.split('-')[0] ?? ''
    if (id === undefined || this.idOf(number) !== id || heightOf(number) > this.final) return
    if (!isResolved(this.stream, number)) return
    this.delivered.delete(id)
    this.#forget()
    this.tell(0, { kind: 'undone', numbers: setOf([number]) })
  }

  // The agents.

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
    const answer = this.tell(a, { kind: 'scanned', from, to, parentHash, hash, ...read, delivered: this.#deliveredOf(read.numbers) })
    if (answer?.kind === 'full') this.#some(a, read.numbers)
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

  /** How the transfers of started numbers ended; open numbers without a transfer are started again. */
  audit(a: number, crash: boolean): void {
    const known = this.#agent(a)
    const own = this.all(this.final).filter(([number]) => isStarted(known, number) && !outsideReason(known, number)?.condensed)
    const over = own.filter(([, id]) => this.delivered.has(id)).map(([number]) => number)
    this.tell(a, { kind: 'seen', numbers: over.map((number) => [number] as const), delivered: setOf(over) })
    for (const [number, id] of own) if (this.ended.has(id)) this.tell(a, this.#close(number))
    for (const [, id] of own) {
      if (this.#isOver(id)) continue
      this.running.add(id)
      if (crash) return
    }
  }

  /** Blocks that are read again: lost logs become gaps, and places that are nothing leave condensed intervals. */
  auditBlocks(a: number, from: number, size: number): void {
    const known = this.#agent(a)
    const to = Math.min(from + size, known.cursor?.height ?? -1)
    if (from > to || !known.cursor || this.blocks[known.cursor.height]?.hash !== known.cursor.hash) return
    const logs = this.read(from, to)
    const isDue = (number: string) => isResolved(known, number) || outsideReason(known, number)?.condensed
    const lost = logs.filter(([number, id]) => isDue(number) && !this.#isOver(id) && !this.running.has(id))
    this.tell(a, { kind: 'audited', upTo: '0', height: to, present: setOf(lost.map(([number]) => number)) })
    const open = setOf(logs.filter(([, id]) => !this.#isOver(id)).map(([number]) => number))
    const inside = missingBetween(open, String(firstIn(from)), String(firstIn(to + 1) - 1n))
    const condensed = known.outside.filter(({ condensed: is }) => is).flatMap(setOutside)
    const ignored = inside.filter(([low, high]) => condensed.some(([start, end]) => BigInt(start) <= BigInt(high) && BigInt(low) <= BigInt(end)))
    if (ignored.length > 0) this.tell(a, { kind: 'seen', numbers: [], ignored })
  }

  /** Starts what is in gaps. A place without a log is nothing. */
  fillGaps(a: number, crash: boolean): void {
    const known = this.#agent(a)
    let free = room(known)
    const [numbers, delivered, ignored]: [(readonly [string])[], string[], string[]] = [[], [], []]
    for (const { from, to } of known.gaps) {
      for (let number = BigInt(from); number <= BigInt(to); number++) {
        const id = this.idOf(String(number))
        if (id !== undefined && !this.#isOver(id) && free-- <= 0) continue
        if (id === undefined) ignored.push(String(number))
        else if (this.delivered.has(id)) delivered.push(String(number))
        else if (!this.ended.has(id)) this.running.add(id)
        if (crash) return
        numbers.push([String(number)])
      }
    }
    this.tell(a, { kind: 'seen', numbers, delivered: setOf(delivered), ignored: setOf(ignored) })
  }

  /** A copy of an earlier report. */
  repeat(which: number): void {
    const request = pick(this.#sent, which)
    if (request) this.#apply([request])
  }

  // Operators, accidents.

  park(which: number): void {
    // Agents know what is parked in a condensed interval only after they have read its blocks.
    const request = parkOrRelease({ ...this.stream, outside: this.stream.outside.filter(({ condensed }) => !condensed) }, which)
    if (request) this.tell(0, request)
  }

  /** Strangers have parked more transfers than the list has room for: the numbers between count as parked. */
  condense(which: number): void {
    const known = this.all(this.final).map(([number]) => number)
    const [low, high] = [pick(known, which), pick(known, which + 2)]
    const open = this.stream.open.find(({ number }) => number === low || number === high)
    if (!open || low === undefined || high === undefined || BigInt(high) <= BigInt(low) || this.stream.outside.length > 0) return
    if (this.stream.cursor === undefined || heightOf(high) > this.stream.cursor.height) return
    if (this.stream.backfill.left.length > 0 || this.stream.gaps.length > 0) return
    const inside = this.stream.open.filter(({ number }) => BigInt(number) >= BigInt(low) && BigInt(number) <= BigInt(high))
    const length = BigInt(high) - BigInt(low)
    const counted = Number(length) + 1 - inside.length
    const packed = `${low}x${length}`
    this.stream = {
      ...this.stream,
      open: this.stream.open.filter((one) => !inside.includes(one)),
      outside: [{ code: 'DUST', condensed: true, ...(counted > 0 && { counted }), packed }],
    }
    this.#watermark = 0n
    this.#check()
  }

  operator(request: StreamRequest): void {
    this.#apply([request])
  }

  skip(which: number): void {
    const [number, id] = pick(this.all(this.final), which) ?? []
    if (number === undefined || id === undefined || this.delivered.has(id) || !isUnresolved(this.stream, number)) return
    this.running.delete(id)
    this.ended.add(id)
    this.tell(0, { kind: 'skip', number, by: 'ops', reason: 'test' })
  }

  /** An operator reopens a place, which may be nothing. */
  unskip(height: number, index: number): void {
    const number = placeOf(height, index)
    if (BigInt(number) < BigInt(this.stream.next)) this.#apply([{ kind: 'unskip', number, by: 'ops', reason: 'test' }])
  }

  /** A watermark from elsewhere that is true. */
  trust(): void {
    const open = this.all(this.final).find(([, id]) => !this.#isOver(id))
    const number = String((open ? BigInt(open[0]) : firstIn(this.final + 1)) - 1n)
    if (BigInt(number) < 0n) return
    const answer = this.#apply([{ kind: 'trust', number, by: 'chain' }])[0]
    assert.equal(answer?.kind === 'refused', BigInt(number) >= BigInt(this.stream.next))
  }

  copy(): void {
    const state = JSON.parse(JSON.stringify(this.stream)) as StreamState
    this.#copies = [...this.#copies, { state, running: new Set(this.running) }].slice(-3)
    this.#checkpoints = [...this.#checkpoints, JSON.parse(JSON.stringify(checkpointOf(this.stream))) as StreamCheckpoint].slice(-3)
  }

  /** Temporal as it was: transfers that were started since are gone. */
  restore(which: number): void {
    const copy = pick(this.#copies, which)
    if (!copy) return
    this.stream = copy.state
    this.running = new Set([...copy.running].filter((id) => !this.#isOver(id)))
    this.#goneBack()
  }

  wipe(which: number, checkpoint: boolean): void {
    const given = checkpoint ? pick(this.#checkpoints, which) : undefined
    const kept = given?.cursor && this.blocks[given.cursor.height]?.hash === given.cursor.hash ? given : undefined
    this.stream = kept ? fromCheckpoint(config, kept) : initialStream(config)
    this.running = new Set()
    this.#goneBack()
  }

  /** Requests from before may arrive now, and agents hold newer views. */
  #goneBack(): void {
    this.#watermark = 0n
    this.#reopened += this.all().length
  }

  /** Everything works from here on, and nodes hide nothing more. Throws if the stream does not come to its end. */
  settle(): void {
    this.#apply([{ kind: 'resume' }, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' }])
    this.show()
    this.mine()
    this.finalize(1_000)
    for (let round = 0; round < 200; round++) {
      for (const step of [
        () => this.scan(0, 5, false),
        () => this.fill(0, 5, false),
        () => this.auditBlocks(0, (round * 5) % (this.final + 1), 5),
        () => this.fillGaps(0, false),
        () => this.audit(0, false),
      ]) {
        this.refresh(0)
        step()
      }
      if (this.all().every(([, id]) => this.running.has(id) || this.#isOver(id))) this.startedAll = true
      for (const id of [...this.running]) this.deliver([...this.running].indexOf(id))
      const { completedNumber, nextHeight } = viewStream(this.stream)
      const isWhole = BigInt(completedNumber ?? 0) === firstIn(this.final + 1) - 1n && nextHeight === this.final + 1
      if (isWhole && round * 5 > this.final && this.all().every(([, id]) => this.#isOver(id))) return
    }
    assert.fail(`not settled: ${JSON.stringify(this.stream)}`)
  }

  startedAll = false

  get counted(): { readonly completed: number; readonly most: number } {
    return { completed: this.stream.counts.completed, most: this.delivered.size + this.#reopened }
  }

  #isOver(id: string): boolean {
    return this.delivered.has(id) || this.ended.has(id)
  }

  #agent(a: number): StreamState {
    return this.#agents[a % 2] ?? this.stream
  }

  /** Starts what the logs of the blocks show. Undefined: the process dies after `survives` starts. */
  #start(known: StreamState, from: number, to: number, survives: number) {
    const numbers: Found = []
    const passed: string[] = []
    for (const [number, id] of this.read(from, to)) {
      if (!isWanted(known, number)) {
        passed.push(number)
        continue
      }
      if (numbers.length >= survives) return undefined
      if (!this.#isOver(id)) this.running.add(id)
      numbers.push([number, heightOf(number)])
    }
    return { numbers, passed: setOf(passed) }
  }

  #deliveredOf(numbers: readonly (readonly [string, number?])[]): IntervalSet {
    return setOf(numbers.map(([number]) => number).filter((number) => this.delivered.has(this.idOf(number) ?? '')))
  }

  /** More numbers than there is room for: some are reported alone, and the cursor waits. */
  #some(a: number, numbers: Found): void {
    const fresh = numbers.filter(([number]) => !isStarted(this.stream, number))
    const first = fresh.slice(0, room(this.stream))
    this.tell(a, { kind: 'seen', numbers: first, delivered: this.#deliveredOf(first) })
  }

  #reread(a: number): void {
    const height = Math.max(0, (this.stream.cursor?.height ?? 0) - 7)
    this.#watermark = 0n
    this.tell(a, { kind: 'reread', block: { height, hash: this.blocks[height]?.hash ?? 'none' }, by: 'quorum' })
  }

  #close(number: string): StreamRequest {
    return { kind: 'closed', number, outcome: 'rejected', reason: 'not a message' }
  }

  /** Requests, copies and checkpoints from before a fork, or an undone delivery, would be about other transfers. */
  #forget(): void {
    this.#sent = []
    this.#copies = []
    this.#checkpoints = []
    this.#watermark = 0n
    for (const index of [0, 1]) this.#agents[index] = this.stream
  }

  tell(a: number, ...requests: StreamRequest[]): StreamAnswer | undefined {
    this.#sent = [...this.#sent, ...requests].slice(-20)
    const answers = this.#apply(requests)
    this.refresh(a)
    return answers.at(-1)
  }

  #apply(requests: readonly StreamRequest[]): readonly StreamAnswer[] {
    assertStreamUpdate({ requests })
    if (requests.some(({ kind }) => reopening.has(kind))) this.#goneBack()
    const { state, response } = applyToStream(this.stream, { requests }, 1_000)
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
    this.stream = state
    this.#check()
    return response.answers
  }

  #check(): void {
    const { completedNumber, completedHeight } = viewStream(this.stream)
    const { cursor, gaps, open, exceptions } = this.stream
    const watermark = BigInt(completedNumber ?? 0)
    assert(watermark >= this.#watermark, `watermark fell from ${this.#watermark} to ${watermark}`)
    this.#watermark = watermark
    // Each gap holds single numbers that somebody has named: sparse numbers never become gaps.
    for (const { from, to, state } of gaps) {
      assert(state === 'hidden' || state === 'undone', `a gap is ${state}`)
      assert(BigInt(to) - BigInt(from) < 16n, `a gap from ${from} to ${to}`)
    }
    // Nothing twice: a number is at one place only.
    for (const { number } of open) {
      assert(!hasGap(gaps, BigInt(number)) && outsideReason(this.stream, number) === undefined, `${number} is open and more`)
      assert(!exceptions.some((one) => one.number === number), `${number} is open and an exception`)
    }
    assert.equal(new Set(open.map(({ number }) => number)).size, open.length)
    if (cursor && this.blocks[cursor.height]?.hash !== cursor.hash) return
    const isSure = (id: string) => this.delivered.has(id) || this.ended.has(id) || this.missed.has(id)
    for (const [number, id] of this.all(this.final))
      if (BigInt(number) <= watermark) assert(isSure(id), `watermark ${watermark} above ${number}, which is not resolved`)
    for (const [number, id] of completedHeight === undefined ? [] : this.all(completedHeight))
      assert(isSure(id), `block height ${completedHeight} above open ${number}`)
    assert(hasNumber([['0', String(this.counted.most)]], String(this.counted.completed)), `counted ${JSON.stringify(this.counted)}`)
  }
}

/** Requests that may lower the watermark, and after which numbers may be counted again. */
const reopening = new Set<string>(['undone', 'unskip', 'reread', 'audited', 'backfill'])
