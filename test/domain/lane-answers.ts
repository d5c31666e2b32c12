import { inFlight, unmined } from '../../domain/lane/entries.ts'
import { type LaneState, workflowOf } from '../../domain/lane/lane.ts'
import type { LaneAnswer, LaneRequest } from '../../domain/lane/messages.ts'
import { worstCost } from '../../domain/fees/fees.ts'
import { assertSame, type Books, worstOf } from './lane-books.ts'
import assert from 'node:assert/strict'

export function checkFound(
  books: Books,
  before: LaneState,
  request: Extract<LaneRequest, { kind: 'find' }>,
  answer: LaneAnswer,
  after: LaneState,
): void {
  const { intentId, callHash } = request
  const nonce = books.held.get(intentId)
  assert.deepEqual([after.next, after.counts], [before.next, before.counts], 'nothing new is given')
  if (callHash === undefined) assertSame(after, before, 'a look changes nothing')
  if (nonce !== undefined && !before.replaced) return checkHeld(answer, nonce, callHash === undefined ? undefined : request.id)
  const reasons = {
    withdrawn: books.withdrawn.has(intentId) || holdsLaterRound(books, before, intentId),
    none: !before.replaced,
    replaced: before.replaced !== undefined,
  }
  assert.ok(answer.kind === 'refused' && answer.why in reasons, 'refused')
  assert.ok(reasons[answer.why as keyof typeof reasons], `refused: ${answer.why}, ${answer.detail}`)
}

function holdsLaterRound(books: Books, before: LaneState, intentId: string): boolean {
  return [...books.held].some(([other, nonce]) => {
    const ofOwner = workflowOf(other) === workflowOf(intentId) && other > intentId
    return ofOwner && nonce >= (before.observed?.latest ?? 0) && !before.entries[nonce]?.fill
  })
}

export function checkGrant(
  books: Books,
  before: LaneState,
  request: Extract<LaneRequest, { kind: 'grant' }>,
  answer: LaneAnswer,
  ofBefore: boolean,
): void {
  const { held, costs, values, withdrawn, signed } = books
  const { intentId } = request.owner
  const had = held.get(intentId)
  if (had !== undefined && !before.replaced) return checkHeld(answer, had, request.id)
  const value = BigInt(request.owner.value ?? '0')
  const cost = worstCost(request.attempt) + value
  const committed = unmined(before).reduce((sum, { nonce }) => sum + worstOf(books, nonce), 0n)
  const open = unmined(before)
  const reusable = open.find((entry) => entry.fill === 'released' && entry.attempts.length === 0)
  const balance = BigInt(before.observed?.balance ?? '0')
  const reasons = {
    withdrawn: withdrawn.has(intentId) || holdsLaterRound(books, before, intentId),
    none: false,
    paused: before.paused !== undefined,
    draining: before.closing?.mode === 'draining' && !request.operatorTransaction,
    forbidden: before.closing?.mode === 'forbidden',
    replaced: before.replaced !== undefined,
    unsynced: ofBefore || !before.synced || open.some((entry) => entry.fill === 'inherited'),
    window: !reusable && inFlight(before) >= before.config.window,
    funds: committed + cost > balance || (!request.operatorTransaction && balance < BigInt(before.config.minimumBalance ?? '0')),
    conflict: false,
  }
  if (answer.kind === 'refused') return assert.ok(reasons[answer.why], `refused: ${answer.why}, ${answer.detail}`)
  assert.equal(answer.kind, 'granted')
  if (answer.kind !== 'granted') return
  assert.deepEqual(Object.values(reasons).includes(true), false, `granted against ${JSON.stringify(reasons)}`)
  const { nonce } = answer.entry
  assert.equal(nonce, reusable?.nonce ?? before.next, 'no nonce is left out')
  assert.ok(nonce >= (before.observed?.latest ?? 0), 'the chain has used it already')
  assert.ok(![...held.values()].includes(nonce), `nonce ${nonce} is held by another`)
  assert.ok(!signed.has(nonce), `nonce ${nonce} was signed for by another`)
  assert.deepEqual(answer.entry.attempts, [request.attempt])
  held.set(intentId, nonce)
  costs.set(nonce, [cost])
  values.set(nonce, value)
}

/** @param id id of a request whose caller will drive the nonce; undefined for a request that only looks */
function checkHeld(answer: LaneAnswer, nonce: number, id: string | undefined): void {
  assert.ok(answer.kind === 'granted' && answer.entry.nonce === nonce, 'an intent that holds a nonce is given that one')
  if (id !== undefined) assert.ok(answer.entry.maybeSent || answer.entry.grantedTo === id, 'asked for twice = maybe sent')
}
