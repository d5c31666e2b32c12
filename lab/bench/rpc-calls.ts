import type { PortageProcess } from '../devnet/portage-process.ts'

/** JSON-RPC calls of the process so far, of all chains, the most frequent method first. */
export async function rpcCallsByMethod({ apiUrl }: Pick<PortageProcess, 'apiUrl'>): Promise<[string, number][]> {
  return sumByMethod(await (await fetch(`${apiUrl}/metrics`)).text())
}

/** The same, of the text of a metrics endpoint. */
export function sumByMethod(metrics: string): [string, number][] {
  const sums = new Map<string, number>()
  for (const [, method = '', count] of metrics.matchAll(/^portage_rpc_calls_total\{.*method="([^"]*)".*\} (\d+)/gm))
    sums.set(method, (sums.get(method) ?? 0) + Number(count))
  return [...sums].toSorted(([, a], [, b]) => b - a)
}
