import type { Anvil } from '../devnet/chain/anvil.ts'

/** Shortest block interval that a running anvil accepts, ms. */
const blockMs = 1000

interface RawBlock {
  readonly transactions: readonly { readonly hash: string; readonly from: string }[]
}

export interface ForkOptions {
  readonly depth: number
  /** Accounts (lower case) whose removed transactions vanish. Other accounts' transactions return to the pool. */
  readonly lost: readonly string[]
}

/** Replaces the newest blocks with the same number of empty blocks, in one step (anvil_reorg). */
export async function reorganize(anvil: Anvil, { depth, lost }: ForkOptions): Promise<void> {
  const { rpc } = anvil
  await withoutBlocks(anvil, async () => {
    const head = Number(await rpc<string>('eth_blockNumber'))
    const raws = await transactionsFrom(rpc, head - depth + 1, head, lost)
    await rpc('anvil_reorg', [depth, []])
    await giveBack(rpc, raws)
  })
}

/**
 * Goes back to a snapshot that is `depth` blocks old (evm_revert). With `longer`, the new chain is immediately one
 * block longer than the old one. Resolves once the chain has reached its old height, because another fork below this
 * height could remove final blocks.
 */
export async function forkFromSnapshot(
  anvil: Anvil,
  options: ForkOptions & { readonly longer: boolean },
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const { rpc } = anvil
  const { depth, lost, longer } = options
  const height = async () => Number(await rpc<string>('eth_blockNumber'))
  // The blocks after the snapshot are mined one by one, because a block too many would make the fork deeper than
  // finality.
  const highest = await withoutBlocks(anvil, async () => {
    const snapshot = await rpc<string>('evm_snapshot')
    const from = await height()
    for (let block = 1; block <= depth; block++) {
      await wait(blockMs)
      await rpc('evm_mine')
    }
    await wait(blockMs / 2)
    const raws = await transactionsFrom(rpc, from + 1, from + depth, lost)
    await rpc('evm_revert', [snapshot])
    await giveBack(rpc, raws)
    if (longer) await rpc('anvil_mine', [`0x${(depth + 1).toString(16)}`])
    return from + depth
  })
  while ((await height()) < highest) await wait(blockMs)
}

/** Runs `act` while the chain mines no blocks. */
export async function withoutBlocks<T>({ rpc, blockTimeSeconds }: Anvil, act: () => Promise<T>): Promise<T> {
  await rpc('evm_setIntervalMining', [0])
  try {
    return await act()
  } finally {
    await rpc('evm_setIntervalMining', [blockTimeSeconds])
  }
}

async function transactionsFrom(rpc: Anvil['rpc'], from: number, to: number, lost: readonly string[]): Promise<string[]> {
  const raws: string[] = []
  for (let height = Math.max(0, from); height <= to; height++) {
    const block = await rpc<RawBlock>('eth_getBlockByNumber', [`0x${height.toString(16)}`, true])
    for (const { hash, from: sender } of block.transactions) {
      if (!lost.includes(sender.toLowerCase())) raws.push(await rpc<string>('eth_getRawTransactionByHash', [hash]))
    }
  }
  return raws
}

async function giveBack(rpc: Anvil['rpc'], raws: readonly string[]): Promise<void> {
  // A node refuses a transaction that is still in its pool. This refusal does no harm.
  for (const raw of raws) await rpc('eth_sendRawTransaction', [raw]).catch(() => undefined)
}
