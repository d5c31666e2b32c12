const kib = 1_024
const mib = 1_024 * kib

/** Bytes of an answer that is one number or hash; an error may quote the request. */
const small = 64 * kib
/** Most of anything else: a receipt, a transaction, what a call returns. */
const usual = mib
/** Longer ones. A block of 200 million gas lists 9,500 transactions in 700 kB; go-ethereum ends a response at 25 MB, its receipts and logs with it. */
const longer: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 16 * mib,
  eth_getBlockReceipts: 24 * mib,
  eth_getLogs: 24 * mib,
}
const short = new Set([
  'eth_chainId',
  'eth_blockNumber',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_gasPrice',
  'eth_sendRawTransaction',
])

/** Most bytes of a response, whatever was asked for. */
const mostBytes = 32 * mib

/** All that the answers of one node may hold in memory while they come. */
export const mostBytesAtOnce = 2 * mostBytes

/** Most bytes of the response to these calls. */
export function mostBytesFor(methods: readonly string[]): number {
  const sum = methods.reduce((total, method) => total + (short.has(method) ? small : (longer[method] ?? usual)), 0)
  return Math.min(mostBytes, sum)
}
