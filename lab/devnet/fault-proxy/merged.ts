import { callsOfMerged, mergedResult } from '../../../chains/evm/nodes/merged-call.ts'
import type { RpcCall } from './behind.ts'

type Answer = { readonly result?: unknown; readonly error?: unknown }

/**
 * Undoes merged reads (chains/evm/nodes/merge-calls.ts), so that a fault hits each read alone. Also returns how their
 * answers, in the order of `calls`, become the requested ones.
 */
export function withoutMerges<Given extends RpcCall>(asked: readonly Given[]) {
  const parts = asked.map((call): readonly Given[] => {
    const [read, block] = call.params as readonly [{ readonly to?: unknown; readonly data?: unknown } | undefined, unknown]
    const inner = call.method === 'eth_call' && read?.to === undefined ? callsOfMerged(String(read?.data)) : undefined
    return inner?.map((one, index) => ({ ...call, id: `${String(call.id)}/${index}`, params: [one, block] })) ?? [call]
  })
  return {
    calls: parts.flat(),
    combine(answers: readonly Answer[]): readonly Answer[] {
      let at = 0
      return parts.flatMap((calls, index): readonly Answer[] => {
        const own = answers.slice(at, (at += calls.length))
        const id = asked[index]?.id
        if (calls[0]?.id === id) return own
        const returned = own.map(({ result }) => (typeof result === 'string' && /^0x([0-9a-f]{2})*$/.test(result) ? result : undefined))
        return [{ jsonrpc: '2.0', id, result: mergedResult(returned) } as Answer]
      })
    },
  }
}
