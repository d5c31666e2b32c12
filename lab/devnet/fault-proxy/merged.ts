import { mergedData } from '../../../chains/evm/nodes/merge-calls.ts'
import type { RpcCall } from './behind.ts'

type Answer = { readonly result?: unknown; readonly error?: unknown }

/**
 * Splits merged reads (chains/evm/nodes/merge-calls.ts), so that each read has its own faults. `combine` merges the
 * answers.
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

interface ContractCall {
  readonly to: string
  readonly data: string
}

const wordDigits = 64
const word = (digits: string) => digits.toLowerCase().padStart(wordDigits, '0')

/** The calls of a merged read (the inverse of `mergedData`). Undefined if the data is not a merged read. */
function callsOfMerged(data: string): readonly ContractCall[] | undefined {
  const prefix = mergedData([])
  if (!data.startsWith(prefix)) return undefined
  const calls: ContractCall[] = []
  for (let at = prefix.length; at < data.length;) {
    const to = `0x${data.slice(at + 24, at + wordDigits)}`
    const from = at + 2 * wordDigits
    at = from + 2 * Number(`0x${data.slice(at + wordDigits, from)}`)
    calls.push({ to, data: `0x${data.slice(from, at)}` })
  }
  return calls
}

function mergedResult(returned: readonly (string | undefined)[]): string {
  const entries = returned.map(
    (bytes) => word(bytes === undefined ? '0' : '1') + word((((bytes?.length ?? 2) - 2) / 2).toString(16)) + (bytes ?? '0x').slice(2),
  )
  return `0x${entries.join('')}`
}
