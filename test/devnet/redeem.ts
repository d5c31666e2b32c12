import { Contract, JsonRpcProvider, Wallet, type ContractTransactionReceipt, type ContractTransactionResponse } from 'ethers'
import type { DevnetAccount } from '../../devnet/accounts.ts'
import type { WormholeChain } from '../../devnet/wormhole.ts'

const abi = [
  'function completeTransfer(bytes vaa)',
  'function completeTransferAndUnwrapETH(bytes vaa)',
  'function isTransferCompleted(bytes32) view returns (bool)',
]

interface RedeemOptions {
  readonly unwrap: boolean
  readonly nonce?: number
}

/** Redeems by hand, with ethers alone, as any user could: proof that a VAA is good. Resolves when it is mined. Throws what the node says. */
export function redeem(chain: WormholeChain, account: DevnetAccount, vaa: Uint8Array, options: RedeemOptions) {
  return send(chain, account, vaa, options, async (sent) => (await sent.wait()) as ContractTransactionReceipt)
}

/** The same; resolves when the node has it, which may never mine it. */
export function queueRedeem(chain: WormholeChain, account: DevnetAccount, vaa: Uint8Array, options: RedeemOptions) {
  return send(chain, account, vaa, options, async ({ hash }) => hash)
}

async function send<Result>(
  chain: WormholeChain,
  account: DevnetAccount,
  vaa: Uint8Array,
  { unwrap, nonce }: RedeemOptions,
  then: (sent: ContractTransactionResponse) => Promise<Result>,
): Promise<Result> {
  const provider = new JsonRpcProvider(chain.anvil.url, undefined, { staticNetwork: true, pollingInterval: 50 })
  try {
    const bridge = new Contract(chain.tokenBridge, abi, new Wallet(account.privateKey, provider))
    const method = unwrap ? 'completeTransferAndUnwrapETH' : 'completeTransfer'
    const overrides = { gasLimit: 500_000, ...(nonce !== undefined && { nonce }) }
    return await then((await bridge.getFunction(method)(vaa, overrides)) as ContractTransactionResponse)
  } finally {
    provider.destroy()
  }
}
