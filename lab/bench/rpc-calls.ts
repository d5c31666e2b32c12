import type { PortageProcess } from '../devnet/portage-process.ts'

/** JSON-RPC calls of the process so far on all chains, the most frequent method first. */
export async function rpcCallsByMethod({ apiUrl }: Pick<PortageProcess, 'apiUrl'>): Promise<[string, number][]> {
  return sumByMethod(await (await fetch(`${apiUrl}/metrics`)).text())
}

/** JSON-RPC calls by method, from the text of a metrics endpoint. */
export function sumByMethod(metrics: string): [string, number][] {
  const sums = new Map<string, number>()
  for (const [, method = '', count] of metrics.matchAll(/^portage_rpc_calls_total\{.*method="([^"]*)".*\} (\d+)/gm))
    sums.set(method, (sums.get(method) ?? 0) + Number(count))
  return [...sums].toSorted(([, a], [, b]) => b - a)
}

/**
 * Methods that are called once per block, or once per block and lane with work. The number of transfers does not change
 * this.
 */
export const perBlockMethods: ReadonlySet<string> = new Set([
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_blockNumber',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
  'eth_getBlockReceipts',
])

/** How many of these calls come once per block. */
export function perBlockCalls(calls: readonly (readonly [method: string, count: number])[]): number {
  return calls.reduce((sum, [method, count]) => sum + (perBlockMethods.has(method) ? count : 0), 0)
}

/** Number of block heights that the process has seen, over all chains. */
export async function headHeights({ apiUrl }: Pick<PortageProcess, 'apiUrl'>): Promise<number> {
  const text = await (await fetch(`${apiUrl}/metrics`)).text()
  return [...text.matchAll(/^portage_head_height\{.*\} (\d+)/gm)].reduce((sum, [, height]) => sum + Number(height), 0)
}
