import type { Devnet } from '../devnet/index.ts'
import { until } from '../devnet/until.ts'
import type { ChainKey } from '../faults/fault-targets.ts'

/** Stops the chain's blocks, so that transactions stay in the pool. */
export async function stopBlocks({ chains }: Devnet, chain: ChainKey): Promise<void> {
  await chains[chain].anvil.rpc('evm_setIntervalMining', [0])
}

/** Starts the chain's blocks again. A running anvil accepts only whole seconds as the block interval. */
export async function goOn({ chains }: Devnet, chain: ChainKey): Promise<void> {
  const { rpc, blockTimeSeconds } = chains[chain].anvil
  await rpc('evm_setIntervalMining', [blockTimeSeconds])
}

async function inPool({ chains, lanes }: Devnet, chain: ChainKey): Promise<number> {
  const { rpc } = chains[chain].anvil
  const count = async (address: string, at: string) => Number(await rpc<string>('eth_getTransactionCount', [address, at]))
  const own = lanes.filter((lane) => lane.chain === chain)
  const each = await Promise.all(own.map(async ({ address }) => (await count(address, 'pending')) - (await count(address, 'latest'))))
  return each.reduce((sum, one) => sum + one, 0)
}

/** Resolves when the pool has at least `least` transactions of the lanes. Throws Error after two minutes. */
export async function untilInPool(devnet: Devnet, chain: ChainKey, least: number): Promise<void> {
  const what = `${least} signed transactions in the pool of ${chain}`
  await until(async () => (await inPool(devnet, chain)) >= least, { timeoutMs: 120_000, everyMs: 100, what })
}

/** Resolves when the pool has no transaction of the lanes. Throws Error after two minutes. */
export async function untilEmpty(devnet: Devnet, chain: ChainKey): Promise<void> {
  const what = `the pool of ${chain} to be empty`
  await until(async () => (await inPool(devnet, chain)) === 0, { timeoutMs: 120_000, everyMs: 100, what })
}
