import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { mine, startMining, stopMining } from '../helpers/e2e-chain.ts'

export interface Stuck {
  /** Mines a block without room for a redemption, so that the pool's transactions stay there. */
  passBlock(): Promise<void>
  end(): Promise<void>
}

/** Gas limits of blocks: the usual one of the devnet, and one below the gas of any redemption. */
const roomy = 60_000_000
const tight = 40_000

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
