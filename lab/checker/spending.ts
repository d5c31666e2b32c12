import { JsonRpcProvider } from 'ethers'

/** A mined transaction of a lane. Addresses in lower case, amounts in wei. */
export interface LaneTransaction {
  readonly chain: string
  readonly hash: string
  readonly from: string
  readonly to: string
  readonly selector: string
  readonly value: bigint
  readonly gasLimit: bigint
  readonly maxFee: bigint
  readonly succeeded: boolean
}

interface RawTransaction {
  hash: string
  from: string
  to: string | null
  input: string
  value: string
  gas: string
  gasPrice: string
  maxFeePerGas?: string
}

/** All transactions of these accounts up to the head. Throws the provider's errors. */
export async function laneTransactions(chain: string, url: string, addresses: readonly string[]): Promise<LaneTransaction[]> {
  const node = new JsonRpcProvider(url, undefined, { staticNetwork: true, batchMaxCount: 50, cacheTimeout: -1 })
  const own = new Set(addresses.map((address) => address.toLowerCase()))
  try {
    const head = await node.getBlockNumber()
    const read = (height: number) =>
      node.send('eth_getBlockByNumber', [`0x${height.toString(16)}`, true]) as Promise<{ transactions: RawTransaction[] }>
    const blocks = await Promise.all(Array.from({ length: head + 1 }, (_, height) => read(height)))
    const found = blocks.flatMap(({ transactions }) => transactions).filter(({ from }) => own.has(from.toLowerCase()))
    return await Promise.all(
      found.map(async (one) => ({
        chain,
        hash: one.hash,
        from: one.from.toLowerCase(),
        to: (one.to ?? '').toLowerCase(),
        selector: one.input.slice(0, 10),
        value: BigInt(one.value),
        gasLimit: BigInt(one.gas),
        maxFee: BigInt(one.maxFeePerGas ?? one.gasPrice),
        succeeded: (await node.getTransactionReceipt(one.hash))?.status === 1,
      })),
    )
  } finally {
    node.destroy()
  }
}
