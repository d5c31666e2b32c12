import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { within } from '../../runtime/wait.ts'
import type { ChainFacts, NodeHead, Read } from './facts.ts'

/** ms. All are read at once: the longest bounds the answer. */
export const limits = { temporalMs: 5_000, nodeMs: 2_500, chainMs: 6_000, spyMs: 2_500 } as const

/** An error or a timeout is an answer, too. Never throws. */
export async function read<Value>(limitMs: number, ask: () => Promise<Value>): Promise<Read<Value>> {
  const late = () => {
    throw new RelayerError('INTERNAL', { detail: `no answer within ${limitMs / 1_000} s` })
  }
  try {
    const value = await within(limitMs, ask(), late)
    return { asOf: Date.now(), value }
  } catch (error) {
    return { asOf: Date.now(), error: toRelayerError(error) }
  }
}

export function valueOf<Value>(answer: Read<Value> | undefined): Value | undefined {
  return answer && 'value' in answer ? answer.value : undefined
}

export function errorOf(answer: Read<unknown> | undefined): RelayerError | undefined {
  return answer && 'error' in answer ? answer.error : undefined
}

export function headsOf(chain: ChainFacts | undefined): NodeHead[] {
  return (chain?.nodes ?? []).flatMap(({ head }) => valueOf(head) ?? [])
}
