import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { type Anvil, startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { createEvmChain, createSigner, type EvmChain, type EvmChainOptions } from '../../chains/evm/index.ts'
import type { Signer, UnsignedTransaction } from '../../chains/signing-port.ts'

export const networkId = 31_337

export async function startManualAnvil(): Promise<Anvil & { mine(blocks?: number): Promise<void> }> {
  const anvil = await startAnvil({ chainId: networkId, blockTimeSeconds: 86_400 })
  return {
    ...anvil,
    async mine(blocks = 1) {
      for (let block = 0; block < blocks; block++) await anvil.rpc('evm_mine')
    },
  }
}

/** An unconnected chain that polls five times a second. */
export function testChain(urls: string | readonly string[], options: Partial<EvmChainOptions> = {}): EvmChain {
  const nodes = [urls].flat().map((url) => ({ url }))
  return createEvmChain({ name: 'test', networkId, nodes, finality: { kind: 'tag' }, blockTimeMs: 200, ...options })
}

export function devnetSigner(index: number): Promise<Signer> {
  const variable = `PORTAGE_TEST_DEVNET_KEY_${index}`
  process.env[variable] = devnetAccount(index).privateKey
  return createSigner({ kind: 'environment', variable })
}

/** A payment of 1 wei to the signer itself. Its fee has room for raises. */
export function payment(signer: Signer, nonce: number, changes: Partial<UnsignedTransaction> = {}): UnsignedTransaction {
  const base = { networkId: String(networkId), to: signer.address, data: '0x', value: '1', gasLimit: '21000' }
  return { ...base, nonce, maxFee: '5000000000', tip: '1000000000', ...changes }
}
