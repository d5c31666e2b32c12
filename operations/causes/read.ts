import { setTimeout as delay } from 'node:timers/promises'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Read } from './facts.ts'

/** Longest waits, ms. Together they bound the whole: what Temporal tells and what nodes and spies tell is asked for beside each other. */
export const limits = { temporalMs: 5_000, nodeMs: 2_500, chainMs: 6_000, spyMs: 2_500 } as const

/** Asks one source of facts. Its error, or that it did not answer in time, is an answer, too. Never throws. */
export async function read<Value>(limitMs: number, ask: () => Promise<Value>): Promise<Read<Value>> {
  const stop = new AbortController()
  const late = delay(limitMs, undefined, { ref: false, signal: stop.signal }).then(() => {
    throw new RelayerError('INTERNAL', { detail: `no answer within ${limitMs / 1_000} s` })
  })
  late.catch(() => {})
  try {
    const value = await Promise.race([ask(), late])
    return { asOf: Date.now(), value }
  } catch (error) {
    return { asOf: Date.now(), error: toRelayerError(error) }
  } finally {
    stop.abort()
  }
}

/** The answer; undefined: there was none. */
export function valueOf<Value>(answer: Read<Value>): Value | undefined {
  return 'value' in answer ? answer.value : undefined
}

export function errorOf(answer: Read<unknown> | undefined): RelayerError | undefined {
  return answer && 'error' in answer ? answer.error : undefined
}
