import type { PortageProcess } from '../devnet/portage-process.ts'

export async function rpcCallsByMethod({ apiUrl }: Pick<PortageProcess, 'apiUrl'>): Promise<[string, number][]> {
  return sumByMethod(await (await fetch(`${apiUrl}/metrics`)).text())
}

/** Adds up portage_rpc_calls_total of a metrics text. The most frequent method comes first. */
export function sumByMethod(metrics: string): [string, number][] {
  const sums = new Map<string, number>()
  for (const [, method = '', count] of metrics.matchAll(/^portage_rpc_calls_total\{.*method="([^"]*)".*\} (\d+)/gm))
    sums.set(method, (sums.get(method) ?? 0) + Number(count))
  return [...sums].toSorted(([, a], [, b]) => b - a)
}

/** Methods that Portage calls once per block or lane, regardless of the number of transfers. */
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

export function perBlockCalls(calls: readonly (readonly [method: string, count: number])[]): number {
  return calls.reduce((sum, [method, count]) => sum + (perBlockMethods.has(method) ? count : 0), 0)
}

export async function headHeights({ apiUrl }: Pick<PortageProcess, 'apiUrl'>): Promise<number> {
  const text = await (await fetch(`${apiUrl}/metrics`)).text()
  return [...text.matchAll(/^portage_head_height\{.*\} (\d+)/gm)].reduce((sum, [, height]) => sum + Number(height), 0)
}
