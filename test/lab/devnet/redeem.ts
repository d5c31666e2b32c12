import { Contract, JsonRpcProvider, Wallet, type ContractTransactionResponse } from 'ethers'
import type { DevnetAccount } from '../../../lab/devnet/chain/accounts.ts'
import { until } from '../../../lab/devnet/until.ts'
import type { WormholeChain } from '../../../lab/devnet/wormhole/wormhole.ts'

const abi = [
  'function completeTransfer(bytes vaa)',
  'function completeTransferAndUnwrapETH(bytes vaa)',
  'function isTransferCompleted(bytes32) view returns (bool)',
]

interface RedeemOptions {
  readonly unwrap: boolean
  readonly nonce?: number
}

/**
 * Redeems with ethers, as any user could. Throws the node's errors, and Error if the transaction reverts. Does not call
 * `wait()` of ethers, whose pending requests would reject uncaught when the provider is destroyed.
 */
export async function redeem(chain: WormholeChain, account: DevnetAccount, vaa: Uint8Array, options: RedeemOptions): Promise<void> {
  const hash = await queueRedeem(chain, account, vaa, options)
  const receipt = await until(
    async () => (await chain.anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash])) ?? false,
    {
      timeoutMs: 120_000,
      everyMs: 50,
      what: `${hash} to be mined`,
    },
  )
  if (receipt.status !== '0x1') throw new Error(`transaction execution reverted: ${hash}`)
}

/** Resolves with the hash when the node has accepted the transaction. The node may never mine it. */
export async function queueRedeem(
  chain: WormholeChain,
  account: DevnetAccount,
  vaa: Uint8Array,
  { unwrap, nonce }: RedeemOptions,
): Promise<string> {
  const provider = new JsonRpcProvider(chain.anvil.url, undefined, { staticNetwork: true })
  try {
    const bridge = new Contract(chain.tokenBridge, abi, new Wallet(account.privateKey, provider))
    const method = unwrap ? 'completeTransferAndUnwrapETH' : 'completeTransfer'
    const overrides = { gasLimit: 500_000, ...(nonce !== undefined && { nonce }) }
    const { hash } = (await bridge.getFunction(method)(vaa, overrides)) as ContractTransactionResponse
    return hash
  } finally {
    provider.destroy()
  }
}
