import { defineSignal } from '@temporalio/workflow'

/** Input of `idempotencyKey`: the key of a client's request. Its memo has `requestMark`. */
export interface IdempotencyKeyInput {
  /** Time after which the key is free again, ms. */
  workMs: number
}

/** Temporal keeps the answer as long as closed workflows. `released`: the request failed, and may be sent again. */
export type KeptAnswer = { kind: 'answered'; status: number; body: unknown } | { kind: 'released' }

/** Sent by the process that did the work. */
export const answeredSignal = defineSignal<[KeptAnswer]>('answered')
/** Key of the memo: SHA-256 of the request. */
export const requestMark = 'request'

export function idempotencyKeyId(digest: string): string {
  return `idempotency-key:${digest}`
}
