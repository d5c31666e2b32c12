import type { ApplyRequest, Attempt, LaneRequest, Observation } from './lane.ts'

/**
 * Refuses an update that the reducer could not work with. A ledger that throws while it applies one would stand still until it is mended;
 * a refused update is not even recorded. Throws Error that names the field.
 */
export function assertApplyRequest(request: ApplyRequest): void {
  if (!Array.isArray(request?.requests)) throw new Error('requests: must be a list')
  if (request.observe) assertObservation(request.observe)
  request.requests.forEach((one, index) => assertRequest(one, `requests[${index}]`))
}

/** No pool keeps so many of one account (go-ethereum: 16 for sure, 64 queued; reth: 16). A node that says so is not to be believed. */
const mostPending = 1_000

function assertObservation(seen: Observation): void {
  for (const field of ['latest', 'finalized', 'height', 'since'] as const) assertWhole(seen[field], `observe.${field}`)
  if (seen.pending !== undefined) assertWhole(seen.pending, 'observe.pending')
  if ((seen.pending ?? 0) - seen.latest > mostPending) throw new Error(`observe.pending: more than ${mostPending} ahead of observe.latest`)
  assertDecimal(seen.balance, 'observe.balance')
  if (!Array.isArray(seen.claims)) throw new Error('observe.claims: must be a list')
  seen.claims.forEach((nonce, index) => assertWhole(nonce, `observe.claims[${index}]`))
}

function assertRequest(request: LaneRequest, path: string): void {
  switch (request?.kind) {
    case 'grant':
      for (const field of ['workflowId', 'intentId', 'callHash'] as const) assertText(request.owner?.[field], `${path}.owner.${field}`)
      if (request.owner.value !== undefined) assertDecimal(request.owner.value, `${path}.owner.value`)
      return assertAttempt(request.attempt, `${path}.attempt`)
    case 'attempt':
      assertWhole(request.nonce, `${path}.nonce`)
      assertWhole(request.index, `${path}.index`)
      return assertAttempt(request.attempt, `${path}.attempt`)
    case 'release':
    case 'withdraw':
      return assertText(request.intentId, `${path}.intentId`)
    case 'fill':
      return assertWhole(request.nonce, `${path}.nonce`)
    case 'pause':
      return assertText(request.reason, `${path}.reason`)
    case 'setWindow':
      return assertWhole(request.window, `${path}.window`)
    case 'resume':
    case 'resync':
      return
    default:
      throw new Error(`${path}.kind: unknown`)
  }
}

function assertAttempt(attempt: Attempt, path: string): void {
  if (attempt?.kind !== 'call' && attempt?.kind !== 'noop') throw new Error(`${path}.kind: must be call or noop`)
  for (const field of ['gasLimit', 'maxFee', 'tip'] as const) assertDecimal(attempt[field], `${path}.${field}`)
}

function assertDecimal(value: unknown, path: string): void {
  if (typeof value !== 'string' || !/^[0-9]{1,78}$/.test(value)) throw new Error(`${path}: must be a decimal number in quotes`)
}

function assertWhole(value: unknown, path: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`${path}: must be a whole number`)
}

function assertText(value: unknown, path: string): void {
  if (typeof value !== 'string' || value === '') throw new Error(`${path}: must be a text`)
}
