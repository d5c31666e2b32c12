import assert from 'node:assert/strict'
import { checkpointOf, fromCheckpoint, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { type IntervalSet, missingBetween, setOf } from '../../domain/stream/intervals.ts'
import { isResolved, isStarted, isUnresolved, isWanted, room } from '../../domain/stream/numbers.ts'
import { outsideReason, setOutside } from '../../domain/stream/outside-window.ts'
import { firstIn, heightOf, placeOf } from '../../domain/stream/places.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamAnswer, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'
import { config, LogChain } from './placed-blocks.ts'
import { demandNothingTwice, demandTrue, reopening } from './placed-rules.ts'
import { parkOrRelease } from './stream-requests.ts'

type Found = (readonly [number: string, height: number])[]

/** Compares a placed stream with the truth after every request. Each method is one possible event. */
export class PlacedModel {
  readonly chain = new LogChain()
  stream: StreamState = initialStream(config)
  running = new Set<string>()
  readonly delivered = new Set<string>()
  readonly ended = new Set<string>()
  readonly #agents: StreamState[] = [this.stream, this.stream]
  #sent: StreamRequest[] = []
  #copies: { state: StreamState; running: Set<string> }[] = []
  #checkpoints: StreamCheckpoint[] = []
  #watermark = 0n
  /** A reopened number may be counted again. */
  #reopened = 0

  reorg(depth: number, index: number): void {
    const deep = this.#isUnbound() ? 0 : depth
    if (this.chain.fork(deep, index)) this.#forget()
  }

  /** No block hash binds numbers above the cursor (docs/concepts/streams.md). */
  #isUnbound(): boolean {
    const { cursor, next, exceptions } = this.stream
    if (cursor && this.chain.hashAt(cursor.height) !== cursor.hash) return false
    const above = firstIn(cursor ? cursor.height + 1 : 0)
    return BigInt(next) > above || exceptions.some(({ number }) => BigInt(number) >= above)
  }

  hide(which: number): void {
    const id = pick(this.chain.all().slice(-3), which)?.[1]
    if (id !== undefined && !this.running.has(id) && !this.#isOver(id)) this.chain.hide(id)
  }

  // The stream learns of a delivery only from the outcome of its transfer.

  deliver(which: number): void {
    const id = pick([...this.running], which)
    if (id === undefined) return
    this.running.delete(id)
    this.delivered.add(id)
  }

  /** Another relayer delivers before Portage has started the transfer. */
  deliverForeign(which: number): void {
    const id = pick(this.chain.all(this.chain.final), which)?.[1]
    if (id !== undefined && !this.running.has(id) && !this.ended.has(id)) this.delivered.add(id)
  }

  end(which: number): void {
    const id = pick([...this.running], which)
    if (id === undefined) return
    this.running.delete(id)
    this.ended.add(id)
  }

  /** A deep fork removes the delivery. The audit of deliveries reports this. */
  undo(which: number): void {
    const id = pick([...this.delivered], which)
    const number = id?.split('-')[0] ?? ''
    if (id === undefined || this.chain.idOf(number) !== id || !isResolved(this.stream, number)) return
    this.delivered.delete(id)
    this.#forget()
    this.tell(0, { kind: 'undone', numbers: setOf([number]) })
  }

  refresh(a: number): void {
    this.#agents[a % 2] = this.stream
  }

  scan(a: number, size: number, crash: boolean): StreamAnswer | undefined {
    const known = this.#agent(a)
    const from = known.cursor ? known.cursor.height + 1 : Math.max(0, this.chain.final - 2)
    const to = Math.min(this.chain.final, from + size)
    if (from > to) return undefined
    const [parentHash, hash] = [this.chain.hashAt(from - 1), this.chain.hashAt(to)]
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
    const [from, to] = [Number(low), Math.min(Number(high), Number(low) + size, this.chain.final)]
    if (from > to) return
    const read = this.#start(known, from, to, crash ? 1 : Infinity)
    if (!read) return
    const answer = this.tell(a, { kind: 'backfilled', from, to, ...read, delivered: this.#deliveredOf(read.numbers) })
    if (answer?.kind === 'full') this.#some(a, read.numbers)
  }

  /** Also starts transfers again for open numbers that have none. */
  audit(a: number, crash: boolean): void {
    const known = this.#agent(a)
    const own = this.chain.all(this.chain.final).filter(([number]) => isStarted(known, number) && !outsideReason(known, number)?.condensed)
    const over = own.filter(([, id]) => this.delivered.has(id)).map(([number]) => number)
    this.tell(a, { kind: 'seen', numbers: over.map((number) => [number] as const), delivered: setOf(over) })
    for (const [number, id] of own)
      if (this.ended.has(id)) this.tell(a, { kind: 'closed', number, outcome: 'rejected', reason: 'not a message' })
    for (const [, id] of own) {
      if (this.#isOver(id)) continue
      this.running.add(id)
      if (crash) return
    }
  }

  /** Lost logs become gaps, and places without a log leave the condensed intervals. */
  auditBlocks(a: number, from: number, size: number): void {
    const known = this.#agent(a)
    const to = Math.min(from + size, known.cursor?.height ?? -1)
    if (from > to || !known.cursor || this.chain.hashAt(known.cursor.height) !== known.cursor.hash) return
    const logs = this.chain.read(from, to)
    const isDue = (number: string) => isResolved(known, number) || outsideReason(known, number)?.condensed
    const lost = logs.filter(([number, id]) => isDue(number) && !this.#isOver(id) && !this.running.has(id))
    this.tell(a, { kind: 'audited', upTo: '0', height: to, present: setOf(lost.map(([number]) => number)) })
    const open = setOf(logs.filter(([, id]) => !this.#isOver(id)).map(([number]) => number))
    const inside = missingBetween(open, String(firstIn(from)), String(firstIn(to + 1) - 1n))
    const condensed = known.outside.filter(({ condensed: is }) => is).flatMap(setOutside)
    const ignored = inside.filter(([low, high]) =>
      condensed.some(([start, end]) => BigInt(start) <= BigInt(high) && BigInt(low) <= BigInt(end)),
    )
    if (ignored.length > 0) this.tell(a, { kind: 'seen', numbers: [], ignored })
  }

  /** A place without a log has no transfer, so its number is ignored. */
  fillGaps(a: number, crash: boolean): void {
    const known = this.#agent(a)
    let free = room(known)
    const [numbers, delivered, ignored]: [(readonly [string])[], string[], string[]] = [[], [], []]
    for (const { from, to } of known.gaps) {
      for (let number = BigInt(from); number <= BigInt(to); number++) {
        const id = this.chain.idOf(String(number))
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

  repeat(which: number): void {
    this.#apply([pick(this.#sent, which)].flatMap((request) => request ?? []))
  }

  park(which: number): void {
    // An agent that has not read the blocks does not know which numbers of a condensed interval are parked.
    const request = parkOrRelease({ ...this.stream, outside: this.stream.outside.filter(({ condensed }) => !condensed) }, which)
    if (request) this.tell(0, request)
  }

  /** The numbers between the strangers' parked transfers then count as parked too. */
  condense(which: number): void {
    const known = this.chain.all(this.chain.final).map(([number]) => number)
    const { open, outside, cursor, backfill, gaps } = this.stream
    const [low = '0', high = '0'] = [pick(known, which), pick(known, which + 2)]
    const inside = open.filter(({ number }) => BigInt(number) >= BigInt(low) && BigInt(number) <= BigInt(high))
    if (inside.length === 0 || outside.length + backfill.left.length + gaps.length > 0 || heightOf(high) > (cursor?.height ?? -1)) return
    const length = BigInt(high) - BigInt(low)
    const counted = Number(length) + 1 - inside.length
    const packed = `${low}x${length}`
    this.stream = {
      ...this.stream,
      open: open.filter((one) => !inside.includes(one)),
      outside: [{ code: 'DUST', condensed: true, ...(counted > 0 && { counted }), packed }],
    }
    this.#watermark = 0n
    this.#check()
  }

  operator(request: StreamRequest): void {
    this.#apply([request])
  }

  skip(which: number): void {
    const [number, id] = pick(this.chain.all(this.chain.final), which) ?? []
    if (number === undefined || id === undefined || this.delivered.has(id) || !isUnresolved(this.stream, number)) return
    this.running.delete(id)
    this.ended.add(id)
    this.tell(0, { kind: 'skip', number, by: 'ops', reason: 'test' })
  }

  unskip(height: number, index: number): void {
    const number = placeOf(height, index)
    if (BigInt(number) < BigInt(this.stream.next)) this.#apply([{ kind: 'unskip', number, by: 'ops', reason: 'test' }])
  }

  trust(): void {
    const open = this.chain.all(this.chain.final).find(([, id]) => !this.#isOver(id))
    const number = String((open ? BigInt(open[0]) : firstIn(this.chain.final + 1)) - 1n)
    if (BigInt(number) < 0n) return
    const answer = this.#apply([{ kind: 'trust', number, by: 'chain' }])[0]
    assert.equal(answer?.kind === 'refused', BigInt(number) >= BigInt(this.stream.next))
  }

  copy(): void {
    const state = JSON.parse(JSON.stringify(this.stream)) as StreamState
    this.#copies = [...this.#copies, { state, running: new Set(this.running) }].slice(-3)
    this.#checkpoints = [...this.#checkpoints, JSON.parse(JSON.stringify(checkpointOf(this.stream))) as StreamCheckpoint].slice(-3)
  }

  /** Transfers that were started since the copy are gone. */
  restore(which: number): void {
    const copy = pick(this.#copies, which)
    if (!copy) return
    this.stream = copy.state
    this.running = new Set([...copy.running].filter((id) => !this.#isOver(id)))
    this.#goneBack()
  }

  wipe(which: number, checkpoint: boolean): void {
    const given = checkpoint ? pick(this.#checkpoints, which) : undefined
    const kept = given?.cursor && this.chain.hashAt(given.cursor.height) === given.cursor.hash ? given : undefined
    this.stream = kept ? fromCheckpoint(config, kept) : initialStream(config)
    this.running = new Set()
    this.#goneBack()
  }

  /** Requests from before the loss may still arrive, so the watermark may fall and numbers may be counted again. */
  #goneBack(): void {
    this.#watermark = 0n
    this.#reopened += this.chain.all().length
  }

  /** From here on nothing fails. Throws if the stream does not come to its end. */
  settle(): void {
    this.#apply([{ kind: 'resume' }, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' }])
    this.chain.show()
    this.chain.mine()
    this.chain.finalize(1_000)
    for (let round = 0; round < 200; round++) {
      for (const step of [
        () => this.scan(0, 5, false),
        () => this.fill(0, 5, false),
        () => this.auditBlocks(0, (round * 5) % (this.chain.final + 1), 5),
        () => this.fillGaps(0, false),
        () => this.audit(0, false),
      ]) {
        this.refresh(0)
        step()
      }
      if (this.chain.all().every(([, id]) => this.running.has(id) || this.#isOver(id))) this.startedAll = true
      for (const id of [...this.running]) this.deliver([...this.running].indexOf(id))
      const { completedNumber, nextHeight } = viewStream(this.stream)
      const isWhole = BigInt(completedNumber ?? 0) === firstIn(this.chain.final + 1) - 1n && nextHeight === this.chain.final + 1
      if (isWhole && round * 5 > this.chain.final && this.chain.all().every(([, id]) => this.#isOver(id))) return
    }
    assert.fail(`not settled: ${JSON.stringify(this.stream)}`)
  }

  startedAll = false
  /** Number of audits that found logs which were hidden before. */
  found = 0

  get counted(): { readonly completed: number; readonly most: number } {
    return { completed: this.stream.counts.completed, most: this.delivered.size + this.#reopened }
  }

  #isOver(id: string): boolean {
    return this.delivered.has(id) || this.ended.has(id)
  }

  #agent(a: number): StreamState {
    return this.#agents[a % 2] ?? this.stream
  }

  /** Undefined: the process died after `survives` starts. */
  #start(known: StreamState, from: number, to: number, survives: number) {
    const numbers: Found = []
    const passed: string[] = []
    for (const [number, id] of this.chain.read(from, to)) {
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
    return setOf(numbers.map(([number]) => number).filter((number) => this.delivered.has(this.chain.idOf(number) ?? '')))
  }

  /** The cursor does not move, so the other numbers are read again later. */
  #some(a: number, numbers: Found): void {
    const fresh = numbers.filter(([number]) => !isStarted(this.stream, number))
    const first = fresh.slice(0, room(this.stream))
    this.tell(a, { kind: 'seen', numbers: first, delivered: this.#deliveredOf(first) })
  }

  #reread(a: number): void {
    const height = Math.max(0, (this.stream.cursor?.height ?? 0) - 7)
    this.#watermark = 0n
    this.tell(a, { kind: 'reread', block: { height, hash: this.chain.hashAt(height) }, by: 'quorum' })
  }

  /** After a fork of final blocks or an undone delivery, old requests would no longer be true. */
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
    if (state.gaps.some((gap) => gap.state === 'hidden') && requests[0]?.kind === 'audited') this.found++
    this.stream = state
    this.#check()
    return response.answers
  }

  #check(): void {
    const watermark = BigInt(viewStream(this.stream).completedNumber ?? 0)
    assert(watermark >= this.#watermark, `watermark fell from ${this.#watermark} to ${watermark}`)
    this.#watermark = watermark
    demandNothingTwice(this.stream)
    demandTrue(this.stream, this.chain, (id) => this.#isOver(id))
    const { completed, most } = this.counted
    assert(completed <= most, `counted ${completed} of ${most}`)
  }
}
