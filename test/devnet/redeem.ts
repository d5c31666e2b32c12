import { Contract, JsonRpcProvider, Wallet, type ContractTransactionReceipt } from 'ethers'
import type { DevnetAccount } from '../../devnet/accounts.ts'
import type { WormholeChain } from '../../devnet/wormhole.ts'

const abi = [
  'function completeTransfer(bytes vaa)',
  'function completeTransferAndUnwrapETH(bytes vaa)',
  'function isTransferCompleted(bytes32) view returns (bool)',
]

/** Redeems by hand, with ethers alone, as any user could: proof that a VAA is good. Throws what the node says. */
export async function redeem(chain: WormholeChain, account: DevnetAccount, vaa: Uint8Array, options: { unwrap: boolean; nonce?: number }) {
  const provider = new JsonRpcProvider(chain.anvil.url, undefined, { staticNetwork: true, pollingInterval: 50 })
  try {
    const bridge = new Contract(chain.tokenBridge, abi, new Wallet(account.privateKey, provider))
    const method = options.unwrap ? 'completeTransferAndUnwrapETH' : 'completeTransfer'
    const sent = await bridge.getFunction(method)(vaa, {
      gasLimit: 500_000,
      ...(options.nonce === undefined ? {} : { nonce: options.nonce }),
    })
    return (await sent.wait()) as ContractTransactionReceipt
  } finally {
    provider.destroy()
  }
}
