export interface Behind {
  readonly head: number
  readonly safe: number
  readonly finalized: number
}

export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export type RpcAnswer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

const blockPosition: Readonly<Record<string, number>> = {
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_feeHistory: 1,
  eth_getStorageAt: 2,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
}
const ofBlocks = new Set(['eth_getBlockByNumber', 'eth_getBlockReceipts'])
const ofObjects = new Set(['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockByHash'])

/**
 * Makes a node answer like a node that lags. Returns the changed call, or the answer if the lagging node lacks the
 * block.
 */
export function askBehind(call: RpcCall, behind: Behind): RpcCall | RpcAnswer {
  const { method, params } = call
  if (method === 'eth_blockNumber') return { result: hex(behind.head) }
  const position = blockPosition[method]
  if (position === undefined) return call
  const height = heightOf(params[position], behind)
  if (height === undefined) return call
  if (height > behind.head) return ofBlocks.has(method) ? { result: null } : { error: { code: -32_000, message: 'header not found' } }
  return {
    ...call,
    params: Array.from({ length: Math.max(params.length, position + 1) }, (_, at) => (at === position ? hex(height) : params[at])),
  }
}

/** The answer of a lagging node: null for transactions, receipts and blocks by hash that are above its head. */
export function answerBehind(method: string, result: unknown, { head }: Behind): unknown {
  if (!ofObjects.has(method) || result === null || typeof result !== 'object') return result
  const { blockNumber, number } = result as { blockNumber?: string; number?: string }
  return Number(blockNumber ?? number ?? 0) > head ? null : result
}

function heightOf(block: unknown, { head, safe, finalized }: Behind): number | undefined {
  if (block === undefined || block === 'latest' || block === 'pending') return head
  if (block === 'finalized') return finalized
  if (block === 'safe') return safe
  if (block === 'earliest') return 0
  return typeof block === 'string' && block.length < 20 ? Number(block) : undefined
}

function hex(height: number): string {
  return `0x${height.toString(16)}`
}
