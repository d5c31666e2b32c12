import assert from 'node:assert/strict'
import { hasNumber } from '../../domain/stream/intervals.ts'
import { isStarted, isWanted, room } from '../../domain/stream/numbers.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamAnswer, StreamRequest } from '../../domain/stream/stream.ts'
import { pick } from './pick.ts'
import { ScannedModel } from './scanned-model.ts'
import { config, setOf, type SourceBlock } from './stream-blocks.ts'
import { parkOrRelease } from './stream-requests.ts'

/** Compares a stream with the truth after every request. */
export class StreamModel extends ScannedModel {
  blocks: SourceBlock[] = [{ hash: 'genesis', numbers: [] }]
  final = 0
  readonly hidden = new Set<string>()
  readonly delivered = new Map<string, number>()
  /** Ids that a final proof once showed as delivered. */
  readonly proved = new Set<string>()
  targetHeight = 0
  readonly #completions: { height: number; id: string }[] = []
  #hashes = 0

  constructor() {
    super(config)
  }

  hashAt(height: number): string {
    return this.blocks[height]?.hash ?? 'none'
  }

  protected read(from: number, to: number) {
    const blocks = this.blocks.slice(from, to + 1).map(({ numbers }, index) => ({ numbers, height: from + index }))
    const logs = blocks.flatMap(({ numbers, height }) => numbers.map(([number, id]) => [String(number), id, height] as const))
    return logs.filter(([, id]) => !this.hidden.has(id))
  }

  protected isDelivered(id: string): boolean {
    return this.delivered.has(id)
  }

  protected override apply(requests: readonly StreamRequest[]): readonly StreamAnswer[] {
    if (requests.some(({ kind }) => kind === 'undone' || kind === 'unskip' || kind === 'reread')) this.watermark = 0n
    return super.apply(requests)
  }

  protected goneBack(): void {
    this.watermark = 0n
  }

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
    if (keep <= this.final) this.forget()
    this.blocks = this.blocks.slice(0, keep)
    while (this.blocks.length < length) this.mine(this.blocks.length % 2 === 0 ? transfers : 0)
  }

  /**
   * Whether the stream knows numbers above its cursor. No block hash binds them, so a fork that changes them would not
   * show (docs/concepts/streams.md).
   */
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

  /** A reorg of the target below its finality, which is immediately reported. */
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
    this.forget()
    this.tell(0, { kind: 'undone', numbers: setOf([Number(id.split('-')[0])]) })
  }

  follow(a: number): void {
    const from = (this.agent(a).target ?? 0) + 1
    if (from > this.targetHeight) return
    const ids = this.#completions.filter(({ height }) => height >= from).map(({ id }) => id)
    const numbers = setOf(ids.filter((id) => this.idOf(id.split('-')[0] ?? '') === id).map((id) => Number(id.split('-')[0])))
    this.tell(a, { kind: 'completed', numbers, from, to: this.targetHeight })
  }

  /** Audits the stream. Starts transfers again for open numbers, and for numbers of gaps as far as there is room. */
  audit(a: number, back: number, crash: boolean): void {
    const height = Math.max(0, this.final - back)
    const table = this.all(height)
    this.tell(a, { kind: 'audited', upTo: String(table.length), height, present: setOf(table.map(([number]) => number)) })
    const known = this.agent(a)
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
    this.tell(a, { kind: 'seen', numbers, delivered: this.deliveredOf(numbers) })
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

  skip(number: number): void {
    const id = this.idOf(number)
    if (id === undefined || this.delivered.has(id) || !isWanted(this.stream, String(number)) || BigInt(number) >= BigInt(this.stream.next))
      return
    this.running.delete(id)
    this.ended.add(id)
    this.tell(0, { kind: 'skip', number: String(number), by: 'ops', reason: 'test' })
  }

  /**
   * Sets a watermark from outside: a true one if `above` is 0, otherwise one above all numbers that the stream knows.
   */
  trust(above: number): void {
    const all = this.all(this.final)
    const open = all.findIndex(([, id]) => !this.proved.has(id) && !this.ended.has(id))
    const resolved = open < 0 ? all.length : open
    const number = String(Math.max(resolved, 1) + (above > 0 ? Math.max(0, Number(this.stream.next) - 1 - resolved) + above : 0))
    if (resolved === 0 && above === 0) return
    const request = { kind: 'trust', number, by: 'chain' } as const
    // Keep no copy of a false watermark for `repeat`, because the stream would believe it once it knows the number.
    const answer = above > 0 ? this.apply([request])[0] : this.tell(0, request)
    assert.equal(answer?.kind === 'refused', BigInt(number) >= BigInt(this.stream.next))
    assert.equal(viewStream(this.stream).alarms.includes('distrusted'), answer?.kind === 'refused')
  }

  /**
   * Runs all steps without failures, but hidden logs stay hidden. Throws if the watermark does not reach the last
   * number.
   */
  settle(): void {
    this.apply([{ kind: 'resume' }, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' }])
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

  #isAllStarted(): boolean {
    return this.all(this.final).every(([, id]) => this.running.has(id) || this.delivered.has(id) || this.ended.has(id))
  }

  #close(number: number): StreamRequest {
    return { kind: 'closed', number: String(number), outcome: 'rejected', reason: 'not a message' }
  }

  protected check(): void {
    const { completedNumber, completedHeight } = viewStream(this.stream)
    const { cursor } = this.stream
    const watermark = BigInt(completedNumber ?? 0)
    assert(watermark >= this.watermark, `watermark fell from ${this.watermark} to ${watermark}`)
    this.watermark = watermark
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
