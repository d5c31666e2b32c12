import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { mine, startMining, stopMining } from '../helpers/e2e-chain.ts'

/** A chain whose transactions stay in the pool. */
export interface Stuck {
  /** Mines a block that has no room for a redemption: what is in the pool stays there. */
  passBlock(): Promise<void>
  /** Mines blocks again, with room, at the first interval. */
  end(): Promise<void>
}

/** The gas limit of a devnet's blocks, and one below that of any redemption. */
const roomy = 60_000_000
const tight = 40_000

/** Stops the chain's blocks; from then on they come only when a test mines them. */
export async function stuckInPool(anvil: Anvil): Promise<Stuck> {
  const gasLimit = (limit: number) => anvil.rpc('evm_setBlockGasLimit', [`0x${limit.toString(16)}`])
  await stopMining(anvil)
  return {
    async passBlock() {
      await gasLimit(tight)
      await mine(anvil)
      await gasLimit(roomy)
    },
    end: () => startMining(anvil),
  }
}
