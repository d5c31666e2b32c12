import type { Anvil } from '../../lab/devnet/chain/anvil.ts'

/** A chain whose transactions stay in the pool. */
export interface Stuck {
  /** Mines a block that has no room for a redemption: what is in the pool stays there. */
  passBlock(): Promise<void>
  /** Blocks again, one per second, with room. */
  end(): Promise<void>
}

/** The gas limit of a devnet's blocks, and one below that of any redemption. */
const roomy = 60_000_000
const tight = 40_000

/** Stops the chain's blocks; from then on they come only when a test mines them. */
export async function stuckInPool({ rpc }: Anvil): Promise<Stuck> {
  const gasLimit = (limit: number) => rpc('evm_setBlockGasLimit', [`0x${limit.toString(16)}`])
  await rpc('evm_setIntervalMining', [0])
  return {
    async passBlock() {
      await gasLimit(tight)
      await rpc('evm_mine')
      await gasLimit(roomy)
    },
    end: async () => void (await rpc('evm_setIntervalMining', [1])),
  }
}
