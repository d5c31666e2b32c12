import type { Attempt, FinalBlock, LaneConfig, Pause } from './lane.ts'
import type { ApplyRequest, LaneRequest, Observation } from './messages.ts'

/**
 * Refuses an update that the reducer could not work with: a ledger that throws while it applies one would be stuck until its code is fixed. A
 * refused update is not even recorded. Throws Error that names the field.
 */
export function assertApplyRequest(request: ApplyRequest): void {
  if (!Array.isArray(request?.requests)) throw new Error('requests: must be a list')
  if (request.observe) assertObservation(request.observe)
  if (request.known !== undefined) {
    for (const field of ['era', 'granted', 'next', 'finalized'] as const) assertWhole(request.known?.[field], `known.${field}`)
  }
  if (request.run !== undefined && typeof request.run !== 'string') throw new Error('run: must be a text')
  request.requests.forEach((one, index) => assertRequest(one, `requests[${index}]`))
}

/** No pool keeps so many of one account (go-ethereum: 16 for sure, 64 queued; reth: 16): a node that says so is wrong. */
const mostPending = 1_000

function assertObservation(seen: Observation): void {
  for (const field of ['latest', 'finalized', 'height', 'since'] as const) assertWhole(seen[field], `observe.${field}`)
  if (seen.pending !== undefined) assertWhole(seen.pending, 'observe.pending')
  if ((seen.pending ?? 0) - seen.latest > mostPending) throw new Error(`observe.pending: more than ${mostPending} ahead of observe.latest`)
  if (seen.undone !== undefined && typeof seen.undone !== 'boolean') throw new Error('observe.undone: must be true or false')
  assertDecimal(seen.balance, 'observe.balance')
  if (!Array.isArray(seen.claims)) throw new Error('observe.claims: must be a list')
  if (seen.final) assertBlock(seen.final, 'observe.final')
  seen.claims.forEach((nonce, index) => assertWhole(nonce, `observe.claims[${index}]`))
}

function assertRequest(request: LaneRequest, path: string): void {
  switch (request?.kind) {
    case 'grant':
      for (const field of ['intentId', 'callHash'] as const) assertText(request.owner?.[field], `${path}.owner.${field}`)
      if (request.owner.value !== undefined) assertDecimal(request.owner.value, `${path}.owner.value`)
      return assertAttempt(request.attempt, `${path}.attempt`)
    case 'find':
      if (request.callHash !== undefined) assertText(request.callHash, `${path}.callHash`)
      return assertText(request.intentId, `${path}.intentId`)
    case 'attempt':
      assertWhole(request.nonce, `${path}.nonce`)
      assertWhole(request.index, `${path}.index`)
      return assertAttempt(request.attempt, `${path}.attempt`)
    case 'release':
    case 'withdraw':
      return assertText(request.intentId, `${path}.intentId`)
    case 'fill':
    case 'cancelNonce':
      return assertWhole(request.nonce, `${path}.nonce`)
    case 'replace':
      for (const field of ['maxFee', 'tip'] as const) if (request[field] !== undefined) assertDecimal(request[field], `${path}.${field}`)
      return assertWhole(request.nonce, `${path}.nonce`)
    case 'pause':
      return assertPause(request.pause, `${path}.pause`)
    case 'drain':
    case 'forbid':
      return assertText(request.reason, `${path}.reason`)
    case 'configure':
      return assertConfig(request.config, `${path}.config`)
    case 'replaced':
      return assertBlock(request.block, `${path}.block`)
    case 'setWindow':
      return assertWhole(request.window, `${path}.window`)
    case 'resume':
    case 'activate':
    case 'resync':
    case 'reset':
      return
    default:
      throw new Error(`${path}.kind: unknown`)
  }
}

function assertAttempt(attempt: Attempt, path: string): void {
  if (attempt?.kind !== 'call' && attempt?.kind !== 'noop') throw new Error(`${path}.kind: must be call or noop`)
  for (const field of ['gasLimit', 'maxFee', 'tip'] as const) assertDecimal(attempt[field], `${path}.${field}`)
  if (attempt.dataFee !== undefined) assertDecimal(attempt.dataFee, `${path}.dataFee`)
}

function assertPause(pause: Pause, path: string): void {
  if (pause?.kind !== 'operator' && pause?.kind !== 'unauthorized') throw new Error(`${path}.kind: must be operator or unauthorized`)
  assertText(pause.reason, `${path}.reason`)
}

function assertBlock(block: FinalBlock, path: string): void {
  assertWhole(block?.height, `${path}.height`)
  assertText(block.hash, `${path}.hash`)
}

function assertConfig(config: LaneConfig, path: string): void {
  assertText(config?.lane, `${path}.lane`)
  for (const field of ['window', 'fillAfterBlocks'] as const) assertWhole(config[field], `${path}.${field}`)
  if (config.minimumBalance !== undefined) assertDecimal(config.minimumBalance, `${path}.minimumBalance`)
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
