import { answeredSignal, type IdempotencyKeyInput, type KeptAnswer } from '../temporal/contracts/idempotency-key.ts'
import { condition, setHandler } from '@temporalio/workflow'

/**
 * Keeps the answer to a request. Without an answer within `workMs`, the key is released, and the request may be
 * repeated.
 */
export async function idempotencyKey({ workMs }: IdempotencyKeyInput): Promise<KeptAnswer> {
  let answer: KeptAnswer | undefined
  setHandler(answeredSignal, (given) => void (answer ??= given))
  await condition(() => answer !== undefined, workMs)
  return answer ?? { kind: 'released' }
}
