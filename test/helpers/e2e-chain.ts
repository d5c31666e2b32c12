import { Contract, JsonRpcProvider, Wallet } from 'ethers'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { until } from '../../lab/devnet/until.ts'
import type { WormholeChain } from '../../lab/devnet/wormhole/wormhole.ts'
import type { DevnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { alive } from './alive.ts'

const mined = new Map<string, { stop(): Promise<void> }>()

/** Stops the chain's blocks. Afterwards, only the test mines blocks. */
export async function stopMining({ url, rpc }: Anvil): Promise<void> {
  await mined.get(url)?.stop()
  mined.delete(url)
  await rpc('evm_setIntervalMining', [0])
}

/** Resumes mining, with a block every `seconds`. Default: the interval with which the chain started. */
export async function startMining(anvil: Anvil, seconds = anvil.blockTimeSeconds): Promise<void> {
  await stopMining(anvil)
  // A running anvil accepts only whole seconds. For other intervals, this process mines the blocks.
  if (Number.isInteger(seconds)) await anvil.rpc('evm_setIntervalMining', [seconds])
  else mined.set(anvil.url, mineEvery(anvil, seconds))
}

/** Mines blocks until `stop` is called or the node ends. Once `stop()` has resolved, no more blocks are mined. */
function mineEvery({ rpc, pid }: Anvil, seconds: number): { stop(): Promise<void> } {
  let stopped = false
  let wake = () => {}
  const loop = (async () => {
    while (!stopped && alive(pid)) {
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, seconds * 1000)
      })
      if (!stopped) await rpc('evm_mine').catch(() => {})
    }
  })()
  return {
    async stop() {
      stopped = true
      wake()
      await loop
    },
  }
}

export async function mine({ rpc }: Anvil, blocks = 1): Promise<void> {
  await rpc('anvil_mine', [`0x${blocks.toString(16)}`])
}

export async function mineDear({ rpc }: Anvil, baseFeeWei: bigint): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${baseFeeWei.toString(16)}`])
  await rpc('evm_mine')
}

export async function nonceOf({ rpc }: Anvil, address: string): Promise<number> {
  return Number(await rpc<string>('eth_getTransactionCount', [address, 'latest']))
}

/**
 * Mines blocks with this base fee until the account's next nonce is `nonce`. Anvil drops transactions that offer less.
 */
export function mineDearUntil(anvil: Anvil, baseFeeWei: bigint, address: string, nonce: number): Promise<unknown> {
  const look = async () => {
    await mineDear(anvil, baseFeeWei)
    return (await nonceOf(anvil, address)) >= nonce
  }
  return until(look, {
    timeoutMs: 60_000,
    everyMs: 400,
    what: `blocks with a base fee of ${baseFeeWei} wei to take ${address} to nonce ${nonce}`,
  })
}

export interface Pooled {
  readonly hash: string
  readonly nonce: number
  /** Maximum fee, wei per gas. The gas price of a legacy transaction. */
  readonly maxFeePerGas: bigint
  readonly to: string
}

export async function pooled({ rpc }: Anvil, address: string): Promise<Pooled[]> {
  interface Raw {
    hash: string
    nonce: string
    maxFeePerGas?: string
    gasPrice?: string
    to: string
  }
  const pool = await rpc<Record<'pending' | 'queued', Record<string, Record<string, Raw>>>>('txpool_content')
  return [pool.pending, pool.queued]
    .flatMap((part) => Object.entries(part).filter(([account]) => account.toLowerCase() === address))
    .flatMap(([, byNonce]) => Object.values(byNonce))
    .map(({ hash, nonce, gasPrice = '0', maxFeePerGas = gasPrice, to }) => ({
      hash,
      nonce: Number(nonce),
      maxFeePerGas: BigInt(maxFeePerGas),
      to: to.toLowerCase(),
    }))
    .toSorted((a, b) => a.nonce - b.nonce)
}

export function inPool(anvil: Anvil, address: string, count: number): Promise<Pooled[]> {
  const look = async () => {
    const found = await pooled(anvil, address)
    return found.length >= count && found
  }
  return until(look, { timeoutMs: 60_000, everyMs: 50, what: `${count} transactions of ${address} in the pool` })
}

const abi = ['function completeTransfer(bytes vaa)', 'function completeTransferAndUnwrapETH(bytes vaa)']

/** Redeems a transfer, and resolves with the hash as soon as the node has the transaction. Throws the node's error. */
export async function redeemSoon(
  chain: WormholeChain,
  account: DevnetAccount,
  vaa: Uint8Array,
  options: { readonly unwrap?: boolean; readonly tipWei?: bigint } = {},
): Promise<string> {
  const { unwrap = false, tipWei = 2_000_000_000n } = options
  const provider = new JsonRpcProvider(chain.anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 })
  try {
    const bridge = new Contract(chain.tokenBridge, abi, new Wallet(account.privateKey, provider))
    const fees = { maxPriorityFeePerGas: tipWei, maxFeePerGas: tipWei + 100_000_000_000n }
    const sent = await bridge.getFunction(unwrap ? 'completeTransferAndUnwrapETH' : 'completeTransfer')(vaa, { gasLimit: 500_000, ...fees })
    return String(sent.hash)
  } finally {
    provider.destroy()
  }
}
