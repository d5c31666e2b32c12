import { answeredSignal, type IdempotencyKeyInput, type KeptAnswer } from '../temporal/contracts/idempotency-key.ts'
import { condition, setHandler } from '@temporalio/workflow'

/** Without an answer within `workMs`, the request may be repeated. */
export async function idempotencyKey({ workMs }: IdempotencyKeyInput): Promise<KeptAnswer> {
  let answer: KeptAnswer | undefined
  setHandler(answeredSignal, (given) => void (answer ??= given))
  await condition(() => answer !== undefined, workMs)
  return answer ?? { kind: 'released' }
}
