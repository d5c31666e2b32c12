import { answeredSignal, type IdempotencyKeyInput, type KeptAnswer } from '../temporal/contracts/idempotency-key.ts'
import { condition, setHandler } from '@temporalio/workflow'

/** Ends with the answer to a request. If none comes within `workMs`, it ends so that the request may be sent again. */
export async function idempotencyKey({ workMs }: IdempotencyKeyInput): Promise<KeptAnswer> {
  let answer: KeptAnswer | undefined
  setHandler(answeredSignal, (given) => void (answer ??= given))
  await condition(() => answer !== undefined, workMs)
  return answer ?? { kind: 'released' }
}
