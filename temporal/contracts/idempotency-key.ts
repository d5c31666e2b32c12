import { defineSignal } from '@temporalio/workflow'

/** Input of the workflow `idempotencyKey`: a key that a client has sent with a request. Its memo has `requestMark`. */
export interface IdempotencyKeyInput {
  /** So long the request may take, ms; then the key is free again. */
  workMs: number
}

/** What the request with the key was answered: its result, which is kept as long as the server keeps closed workflows. `released`: it failed, and may be sent again. */
export type KeptAnswer = { kind: 'answered'; status: number; body: unknown } | { kind: 'released' }

/** From the process that has worked on the request. */
export const answeredSignal = defineSignal<[KeptAnswer]>('answered')
/** Of the memo: SHA-256 of the request. */
export const requestMark = 'request'

export function idempotencyKeyId(digest: string): string {
  return `idempotency-key:${digest}`
}
