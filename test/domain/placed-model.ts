import assert from 'node:assert/strict'
import { missingBetween, setOf } from '../../domain/stream/intervals.ts'
import { isResolved, isStarted, isUnresolved, room } from '../../domain/stream/numbers.ts'
import { outsideReason, setOutside } from '../../domain/stream/outside-window.ts'
import { firstIn, heightOf, placeOf } from '../../domain/stream/places.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamAnswer, StreamRequest } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'
import { config, LogChain } from './placed-blocks.ts'
import { demandNothingTwice, demandTrue, reopening } from './placed-rules.ts'
import { ScannedModel } from './scanned-model.ts'
import { parkOrRelease } from './stream-requests.ts'

/** Compares a placed stream with the truth after every request. */
export class PlacedModel extends ScannedModel {
  readonly chain = new LogChain()
  readonly delivered = new Set<string>()
  /** Upper bound of the numbers reopened so far. Each of them may be counted again. */
  #reopened = 0
  /** Number of audits that found logs which were hidden before. */
  found = 0

  constructor() {
    super(config)
  }

  get final(): number {
    return this.chain.final
  }

  hashAt(height: number): string {
    return this.chain.hashAt(height)
  }

  idOf(number: string): string | undefined {
    return this.chain.idOf(number)
  }

  protected read(from: number, to: number) {
    return this.chain.read(from, to).map(([number, id]) => [number, id, heightOf(number)] as const)
  }

  protected isDelivered(id: string): boolean {
    return this.delivered.has(id)
  }

  protected override apply(requests: readonly StreamRequest[]): readonly StreamAnswer[] {
    if (requests.some(({ kind }) => reopening.has(kind))) this.goneBack()
    const answers = super.apply(requests)
    if (this.stream.gaps.some((gap) => gap.state === 'hidden') && requests[0]?.kind === 'audited') this.found++
    return answers
  }

  reorg(depth: number, index: number): void {
    const deep = this.#isUnbound() ? 0 : depth
    if (this.chain.fork(deep, index)) this.forget()
  }

  /** Whether the stream knows numbers above its cursor, which no block hash binds (docs/concepts/streams.md). */
  #isUnbound(): boolean {
    const { cursor, next, exceptions } = this.stream
    if (cursor && this.chain.hashAt(cursor.height) !== cursor.hash) return false
    const above = firstIn(cursor ? cursor.height + 1 : 0)
    return BigInt(next) > above || exceptions.some(({ number }) => BigInt(number) >= above)
  }

  hide(which: number): void {
    const id = pick(this.chain.all().slice(-3), which)?.[1]
    if (id !== undefined && !this.running.has(id) && !this.isOver(id)) this.chain.hide(id)
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

  /** A deep fork removes a delivery, and the audit of deliveries reports this. */
  undo(which: number): void {
    const id = pick([...this.delivered], which)
    const number = id?.split('-')[0] ?? ''
    if (id === undefined || this.chain.idOf(number) !== id || !isResolved(this.stream, number)) return
    this.delivered.delete(id)
    this.forget()
    this.tell(0, { kind: 'undone', numbers: setOf([number]) })
  }

  /** Audits the stream. Also starts transfers again for open numbers that have none. */
  audit(a: number, crash: boolean): void {
    const known = this.agent(a)
    const own = this.chain.all(this.chain.final).filter(([number]) => isStarted(known, number) && !outsideReason(known, number)?.condensed)
    const over = own.filter(([, id]) => this.delivered.has(id)).map(([number]) => number)
    this.tell(a, { kind: 'seen', numbers: over.map((number) => [number] as const), delivered: setOf(over) })
    for (const [number, id] of own)
      if (this.ended.has(id)) this.tell(a, { kind: 'closed', number, outcome: 'rejected', reason: 'not a message' })
    for (const [, id] of own) {
      if (this.isOver(id)) continue
      this.running.add(id)
      if (crash) return
    }
  }

  /** Audits a range of blocks. Lost logs become gaps, and places without a log leave the condensed intervals. */
  auditBlocks(a: number, from: number, size: number): void {
    const known = this.agent(a)
    const to = Math.min(from + size, known.cursor?.height ?? -1)
    if (from > to || !known.cursor || this.chain.hashAt(known.cursor.height) !== known.cursor.hash) return
    const logs = this.chain.read(from, to)
    const isDue = (number: string) => isResolved(known, number) || outsideReason(known, number)?.condensed
    const lost = logs.filter(([number, id]) => isDue(number) && !this.isOver(id) && !this.running.has(id))
    this.tell(a, { kind: 'audited', upTo: '0', height: to, present: setOf(lost.map(([number]) => number)) })
    const open = setOf(logs.filter(([, id]) => !this.isOver(id)).map(([number]) => number))
    const inside = missingBetween(open, String(firstIn(from)), String(firstIn(to + 1) - 1n))
    const condensed = known.outside.filter(({ condensed: is }) => is).flatMap(setOutside)
    const ignored = inside.filter(([low, high]) =>
      condensed.some(([start, end]) => BigInt(start) <= BigInt(high) && BigInt(low) <= BigInt(end)),
    )
    if (ignored.length > 0) this.tell(a, { kind: 'seen', numbers: [], ignored })
  }

  /** Fills gaps. A place without a log has no transfer, so its number is ignored. */
  fillGaps(a: number, crash: boolean): void {
    const known = this.agent(a)
    let free = room(known)
    const [numbers, delivered, ignored]: [(readonly [string])[], string[], string[]] = [[], [], []]
    for (const { from, to } of known.gaps) {
      for (let number = BigInt(from); number <= BigInt(to); number++) {
        const id = this.chain.idOf(String(number))
        if (id !== undefined && !this.isOver(id) && free-- <= 0) continue
        if (id === undefined) ignored.push(String(number))
        else if (this.delivered.has(id)) delivered.push(String(number))
        else if (!this.ended.has(id)) this.running.add(id)
        if (crash) return
        numbers.push([String(number)])
      }
    }
    this.tell(a, { kind: 'seen', numbers, delivered: setOf(delivered), ignored: setOf(ignored) })
  }

  park(which: number): void {
    // An agent that has not read the blocks does not know which numbers of a condensed interval are parked.
    const request = parkOrRelease({ ...this.stream, outside: this.stream.outside.filter(({ condensed }) => !condensed) }, which)
    if (request) this.tell(0, request)
  }

  /** Joins parked transfers of strangers into an interval. The numbers between them then count as parked too. */
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
    this.watermark = 0n
    this.check()
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
    if (BigInt(number) < BigInt(this.stream.next)) this.apply([{ kind: 'unskip', number, by: 'ops', reason: 'test' }])
  }

  trust(): void {
    const open = this.chain.all(this.chain.final).find(([, id]) => !this.isOver(id))
    const number = String((open ? BigInt(open[0]) : firstIn(this.chain.final + 1)) - 1n)
    if (BigInt(number) < 0n) return
    const answer = this.apply([{ kind: 'trust', number, by: 'chain' }])[0]
    assert.equal(answer?.kind === 'refused', BigInt(number) >= BigInt(this.stream.next))
  }

  /**
   * Called after the stream was restored or lost. Earlier requests may still arrive, so the watermark may fall and
   * numbers may be counted again.
   */
  protected goneBack(): void {
    this.watermark = 0n
    this.#reopened += this.chain.all().length
  }

  /** An older request for the range can open the same numbers again, so each can be counted once more. */
  protected override readInPart(numbers: readonly unknown[]): void {
    this.#reopened += numbers.length
  }

  /** Runs all steps without failures. Throws if a number stays unresolved, or a transfer does not end. */
  settle(): void {
    this.apply([{ kind: 'resume' }, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' }])
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
      if (this.chain.all().every(([, id]) => this.running.has(id) || this.isOver(id))) this.startedAll = true
      for (const id of [...this.running]) this.deliver([...this.running].indexOf(id))
      const { completedNumber, nextHeight } = viewStream(this.stream)
      const isWhole = BigInt(completedNumber ?? 0) === firstIn(this.chain.final + 1) - 1n && nextHeight === this.chain.final + 1
      if (isWhole && round * 5 > this.chain.final && this.chain.all().every(([, id]) => this.isOver(id))) return
    }
    assert.fail(`not settled: ${JSON.stringify(this.stream)}`)
  }

  get counted(): { readonly completed: number; readonly most: number } {
    return { completed: this.stream.counts.completed, most: this.delivered.size + this.#reopened }
  }

  protected check(): void {
    const watermark = BigInt(viewStream(this.stream).completedNumber ?? 0)
    assert(watermark >= this.watermark, `watermark fell from ${this.watermark} to ${watermark}`)
    this.watermark = watermark
    demandNothingTwice(this.stream)
    demandTrue(this.stream, this.chain, (id) => this.isOver(id))
    const { completed, most } = this.counted
    assert(completed <= most, `counted ${completed} of ${most}`)
  }
}
