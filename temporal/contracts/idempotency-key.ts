import { defineSignal } from '@temporalio/workflow'

export interface IdempotencyKeyInput {
  workMs: number
}

/** `released`: the request failed, and may be sent again. */
export type KeptAnswer = { kind: 'answered'; status: number; body: unknown } | { kind: 'released' }

export const answeredSignal = defineSignal<[KeptAnswer]>('answered')
export const requestMark = 'request'

export function idempotencyKeyId(digest: string): string {
  return `idempotency-key:${digest}`
}
