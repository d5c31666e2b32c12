import { worstCost } from '../../domain/fees/fees.ts'
import { type Attempt, type LaneConfig, type LaneState, newLane } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse, LaneAnswer, LaneRequest, Observation, RolledBack } from '../../domain/lane/messages.ts'
import { withoutWorkerMs } from '../../domain/lane/entries.ts'
import { apply, reconcileKnown } from '../../domain/lane/reducer/reducer.ts'
import { checkFound, checkGrant } from './lane-answers.ts'
import { assertSame, freeze, hasInherited, json, newBooks, worstOf, type Books } from './lane-books.ts'
import { PagedLane } from './paged-lane.ts'
import assert from 'node:assert/strict'

interface Past {
  readonly state: LaneState
  readonly books: Books
  readonly request: ApplyRequest
  /** Whether the request came as a signal, as Temporal's own tools send it, instead of as an update. */
  readonly signal: boolean
}

/** Time for which the ledger ignores lower heights after a report of a height, ms. */
const believedMs = 60_000

/**
 * Checks after every step that the state is frozen and survives JSON, that requests have the same result one by one as
 * together, and that answers fit the checker's own records.
 */
export class CheckedLane {
  state: LaneState
  /** Counts the wipes of Temporal. */
  epoch = 0
  /** Counts the ledger's runs: a reset or a continue-as-new begins a new run. */
  run = 1
  now = 1_000_000
  readonly paged: PagedLane
  #books = newBooks()
  #past: Past[] = []
  #isReset = false
  #stored: { readonly of: LaneState; readonly json: LaneState } | undefined

  constructor(config: LaneConfig) {
    this.state = newLane(config)
    this.paged = new PagedLane(this.state)
  }

  wipe(): void {
    this.state = newLane(this.state.config)
    this.paged.restart(this.state)
    this.epoch += 1
    this.#books = newBooks()
    this.#past = []
  }

  /** Sets the ledger back to an earlier state, as a restore of Temporal does. */
  setBack(steps: number): void {
    const { state, books } = this.#past[Math.max(0, this.#past.length - steps)] ?? {}
    if (!state || !books) return
    this.state = state
    this.paged.restart(state)
    this.epoch += 1
    this.#books = structuredClone(books)
    this.#past = []
  }

  /** `applied`: later requests that are applied again, with signals first (`all`) or last (`late signals`). */
  reset(steps: number, applied: 'all' | 'late signals' | 'nothing'): void {
    const since = this.#past.slice(-steps)
    const [first] = since
    if (!first) return
    this.state = first.state
    this.paged.restart(first.state)
    this.epoch += 1
    this.run += 1
    this.#isReset = true
    this.#books = structuredClone(first.books)
    this.#past = []
    if (applied === 'nothing') return
    for (const signals of [applied === 'all', applied !== 'all'])
      for (const { request, signal } of since) if (signal === signals) this.apply(request, signal)
  }

  nextRun(): void {
    this.run += 1
    this.#isReset = false
    this.#past = []
    this.paged.nextRun(this.state)
  }

  /** Whether the request comes from a run before the reset, by the rule of workflows/lane.ts. */
  #isOfBefore({ run }: ApplyRequest): boolean {
    return this.#isReset && run !== undefined && run !== String(this.run)
  }

  apply(request: ApplyRequest, signal = false): { response: ApplyResponse; rolledBack: RolledBack[] } {
    const before = freeze(this.state)
    const { now } = this
    const ofBefore = this.#isOfBefore(request)
    const together = apply(before, freeze(request), now, ofBefore)
    const { state, response, rolledBack } = together
    const stored = this.#stored?.of === before ? this.#stored.json : json(before)
    assertSame(apply(stored, json(request), now, ofBefore), together, 'the same through JSON')
    const written = json(together)
    assertSame(written, together, 'plain JSON comes out')
    this.#stored = { of: state, json: freeze(written.state) }

    this.paged.apply(request, now, ofBefore, together)
    this.#past = [...this.#past, { state: before, books: structuredClone(this.#books), request, signal }].slice(-60)
    let current = freeze(reconcileKnown(before, request, now, ofBefore))
    this.#checkRecalled(before, request, current, ofBefore && !before.synced)
    if (request.observe) {
      const recalled = current
      current = freeze(apply(current, { observe: request.observe, requests: [] }, now).state)
      this.#checkObserved(recalled, request.observe, current, rolledBack)
    } else {
      assert.deepEqual(rolledBack, [])
    }
    assert.equal(response.answers.length, request.requests.length)
    for (const [index, one] of request.requests.entries()) {
      const alone = apply(current, { requests: [one] }, now, ofBefore)
      const answer = response.answers[index] as LaneAnswer
      assertSame(alone.response.answers, [answer], 'together as one by one')
      this.#checkAnswered(current, one, answer, freeze(alone.state), ofBefore)
      current = alone.state
    }
    assertSame(current, state, 'together as one by one')
    this.#checkState(state, response)
    this.state = state
    return { response, rolledBack }
  }

  /** @param intentId the intent that the ledger of `epoch` gave the nonce to; undefined for a no-op */
  signing(epoch: number, nonce: number, index: number, attempt: Attempt, intentId: string | undefined): void {
    if (epoch !== this.epoch) return
    const entry = this.state.entries[nonce]
    if (entry) assert.deepEqual(entry.attempts[index], attempt, `attempt ${index} of nonce ${nonce} is recorded before it is signed`)
    if (!intentId || attempt.kind === 'noop') return
    if (entry?.owner) assert.equal(entry.owner.intentId, intentId, `nonce ${nonce} is another's`)
    const signers = this.#books.signed.get(nonce) ?? new Set()
    signers.add(intentId)
    assert.equal(signers.size, 1, `two intents signed for nonce ${nonce}`)
    this.#books.signed.set(nonce, signers)
  }

  #checkRecalled(before: LaneState, { known, observe }: ApplyRequest, after: LaneState, piecing: boolean): void {
    assert.ok(after.next >= before.next || piecing, 'next is never lowered by what is known')
    const latest = observe?.latest ?? before.observed?.latest ?? -1
    if (!known || before.replaced || known.era !== before.era || latest < known.finalized) return
    if (piecing && known.granted === before.counts.granted) return assert.ok(after.next >= Math.min(before.next, known.next))
    if (known.granted <= before.counts.granted) return assertSame(after, before, 'a process without new knowledge changes nothing')
    assert.ok(after.next >= known.next, 'a nonce that a process knows as given is given')
    for (const nonce of this.#books.held.values()) assert.deepEqual(after.entries[nonce], before.entries[nonce], 'the owner stays')
  }

  #checkObserved(before: LaneState, seen: Observation, after: LaneState, rolledBack: RolledBack[]): void {
    if (before.replaced) return assert.deepEqual([after, rolledBack], [before, []], 'another chain says nothing of this one')
    this.#checkBroke(after)
    assert.ok(after.next >= before.next, 'next is never lowered by the chain')
    const latest = after.observed?.latest ?? 0
    const finalized = after.observed?.finalized ?? 0
    assert.ok(seen.undone || finalized >= (before.observed?.finalized ?? 0), 'final stays final')
    // The ledger has lost the entries of nonces that were final, so the checker now treats it as a new ledger.
    if (finalized < (before.observed?.finalized ?? 0)) this.epoch += 1
    for (const entry of Object.values(before.entries)) {
      const now = after.entries[entry.nonce]
      if (!now) {
        assert.ok(entry.nonce < finalized, `nonce ${entry.nonce} left before it was final`)
        continue
      }
      assertSame([now.owner, now.attempts, now.grantedTo], [entry.owner, entry.attempts, entry.grantedTo])
      assert.ok(now.maybeSent || !entry.maybeSent)
      if (now.fill === entry.fill) continue
      const fell = entry.nonce < (before.observed?.latest ?? 0) ? seen.height : 0
      const driven = Math.max(entry.sinceBlock, entry.claimedBlock, seen.since, fell)
      assert.deepEqual([now.fill, entry.fill, now.nonce], ['orphaned', undefined, latest], 'only the lowest is orphaned')
      assert.ok(!seen.claims.includes(entry.nonce) && seen.height - driven >= before.config.fillAfterBlocks, 'only when nobody drives it')
    }
    const owners = Object.values(after.entries)
      .filter(({ nonce }) => nonce >= latest && nonce < (before.observed?.latest ?? 0) && !seen.claims.includes(nonce))
      .flatMap(({ nonce, owner }) => (owner ? [{ intentId: owner.intentId, nonce }] : []))
    const isNew = !before.observed || seen.height >= before.observed.height || this.now - before.observed.leadAt > believedMs
    assert.deepEqual(rolledBack, isNew ? owners : [], 'owners whose block went away are named, unless the reporting process drives them')
    for (const [intentId, nonce] of this.#books.held) if (nonce < finalized) this.#books.held.delete(intentId)
    for (const nonce of this.#books.costs.keys()) if (nonce < finalized) this.#books.costs.delete(nonce)
  }

  #checkBroke({ broke, observed, config, next }: LaneState): void {
    const balance = BigInt(observed?.balance ?? '0')
    const low = balance < BigInt(config.minimumBalance ?? '0')
    const lowest = worstOf(this.#books, observed?.latest ?? next)
    if (broke) assert.ok(low || balance < BigInt(broke.cost) || balance < lowest || lowest === 0n, 'broke without a reason')
    else assert.ok(!low && balance >= lowest, 'broke, and does not say so')
  }

  #checkAnswered(before: LaneState, request: LaneRequest, answer: LaneAnswer, after: LaneState, ofBefore: boolean): void {
    if (request.kind === 'reset') {
      if (answer.kind === 'refused') return assert.ok(before.observed?.final && !before.replaced, 'refused though the chain is another')
      assert.deepEqual([after.next, after.synced, after.entries, after.observed], [0, false, {}, undefined])
      this.epoch += 1
      this.#past = []
      // A request from before the reset may still arrive, so withdrawn intents stay withdrawn.
      this.#books = { ...newBooks(), withdrawn: this.#books.withdrawn }
      return
    }
    for (const entry of Object.values(before.entries)) {
      const now = after.entries[entry.nonce]
      if (request.kind === 'release' && !entry.maybeSent) continue
      if (entry.fill === 'released' && entry.attempts.length === 0) continue
      assertSame(now?.attempts.slice(0, entry.attempts.length), entry.attempts, 'attempts are only ever added')
    }
    const { held, costs, values, withdrawn, signed } = this.#books
    if (request.kind === 'grant') return checkGrant(this.#books, before, request, answer, ofBefore)
    if (request.kind === 'find') return checkFound(this.#books, before, request, answer, after)
    if (request.kind === 'attempt') {
      const was = before.entries[request.nonce]?.attempts.length ?? 0
      const now = after.entries[request.nonce]?.attempts ?? []
      assert.deepEqual(answer.kind === 'attempts' ? answer.attempts : [], now)
      if (now.length === was) return
      assert.deepEqual([now.length, request.index, now.at(-1)], [was + 1, was, request.attempt])
      const value = request.attempt.kind === 'call' ? (values.get(request.nonce) ?? 0n) : 0n
      costs.set(request.nonce, [...(costs.get(request.nonce) ?? []), worstCost(request.attempt) + value])
      return
    }
    assert.ok(after.next >= before.next || request.kind === 'release')
    if (request.kind === 'release') {
      const nonce = held.get(request.intentId)
      if (answer.kind === 'held') return assert.equal(answer.nonce, nonce)
      assert.equal(answer.kind, 'free')
      if (nonce === undefined) return
      assert.ok(!signed.has(nonce), `nonce ${nonce} was given back though it was signed for`)
      assert.ok(after.next >= (before.observed?.latest ?? 0), 'next is never below the chain')
      assert.ok(after.next > Math.max(-1, ...signed.keys()), 'next is never below what may have been sent')
      held.delete(request.intentId)
      costs.delete(nonce)
    }
    if (request.kind === 'withdraw') {
      const nonce = held.get(request.intentId)
      // If the ledger is not synced, or the pool has foreign transactions, the ledger cannot promise that nothing is
      // mined.
      const unsure = request.how === 'cancel' && (!after.synced || hasInherited(after))
      const stale = this.now - (before.observed?.at ?? 0) > withoutWorkerMs
      const unminedYet = nonce !== undefined && nonce >= (before.observed?.latest ?? 0)
      const abandoned = request.how === 'abandon' && unminedYet && (before.closing?.mode === 'forbidden' || stale)
      const gone = nonce !== undefined && (abandoned || (request.how !== 'cancel' && before.replaced !== undefined))
      if (nonce === undefined && unsure) assert.equal(answer.kind, 'held', 'free is a promise')
      else assert.deepEqual(answer, nonce === undefined || gone ? { kind: 'free' } : { kind: 'held', nonce }, 'free when nothing is held')
      if (nonce === undefined || gone || request.how === 'cancel') withdrawn.add(request.intentId)
      if (!gone) return
      held.delete(request.intentId)
      assert.ok(after.entries[nonce]?.fill && !after.entries[nonce].owner, 'an abandoned nonce is the debt of the lane')
    }
  }

  #checkState(state: LaneState, response: ApplyResponse): void {
    const { latest, finalized } = state.observed ?? { latest: 0, finalized: 0 }
    const nonces = Object.values(state.entries).map(({ nonce }) => nonce)
    for (const [intentId, nonce] of this.#books.held) assert.equal(state.entries[nonce]?.owner?.intentId, intentId)
    for (const nonce of nonces) assert.ok(nonce >= finalized && (!state.synced || nonce < state.next), `nonce ${nonce} is out of range`)
    if (state.synced) for (let nonce = latest; nonce < state.next; nonce++) assert.ok(state.entries[nonce], `nonce ${nonce} has no entry`)
    for (const entry of Object.values(state.entries)) {
      assert.ok(entry.owner || entry.fill, `nonce ${entry.nonce} has neither an owner nor an end`)
      if (entry.attempts.at(-1)?.kind === 'noop') assert.ok(entry.fill, `nonce ${entry.nonce} got a no-op that nobody ordered`)
    }
    for (const order of response.orders) {
      const entry = state.entries[order.nonce]
      assert.ok(entry && order.nonce >= latest && entry.fill === order.reason)
    }
  }
}
