import { createRequire } from 'node:module'
import { concat, getCreateAddress, Interface, Wallet, type InterfaceAbi } from 'ethers'
import type { AnvilNode } from './anvil.ts'
import type { DevnetAccount } from './accounts.ts'
import { until } from '../until.ts'

export interface Artifact {
  readonly abi: Interface
  readonly bytecode: string
}

const factories = '@certusone/wormhole-sdk/lib/cjs/ethers-contracts/factories'
const load = createRequire(import.meta.url)

/** A contract of @certusone/wormhole-sdk, loaded by its path, because the package's entry point does not load. */
export function artifact(name: string): Artifact {
  const module = load(`${factories}/${name}__factory`) as Record<string, { abi: InterfaceAbi; bytecode: string }>
  const factory = module[`${name}__factory`]
  if (!factory) throw new Error(`@certusone/wormhole-sdk has no contract ${name}`)
  return { abi: new Interface(factory.abi), bytecode: factory.bytecode }
}

export interface Mined {
  readonly transactionHash: string
  readonly blockNumber: number
  readonly timestamp: number
  /** `logIndex`: index in the block, 0x hex. */
  readonly logs: readonly {
    readonly address: string
    readonly topics: readonly string[]
    readonly data: string
    readonly logIndex: string
  }[]
}

interface ScriptedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to?: string
  readonly data: string
  readonly value?: bigint
  readonly gasLimit: bigint
}

const signed = new Map<string, Promise<string>>()

/** Signs a transaction. Caches the result, because all devnets of this process deploy the same bytes. */
function signedOnce(wallet: Wallet, transaction: ScriptedTransaction): Promise<string> {
  const { chainId, nonce, to = '', data, value = 0n, gasLimit } = transaction
  const key = [wallet.address, chainId, nonce, to, data, value, gasLimit].join(' ')
  const known = signed.get(key)
  if (known) return known
  const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const made = wallet.signTransaction({ type: 2, ...fees, ...transaction })
  signed.set(key, made)
  return made
}

interface RawReceipt {
  transactionHash: string
  blockNumber: string
  status: string
  logs: Mined['logs']
}

/**
 * Mines several transactions of one account in the same block. Addresses, nonces and gas limits are known beforehand,
 * so a whole deployment takes two or three blocks.
 */
export class Script {
  private readonly anvil: AnvilNode
  private readonly wallet: Wallet
  private nonce: number
  private raw: { readonly what: string; readonly transaction: Promise<string> }[] = []

  private constructor(anvil: AnvilNode, account: DevnetAccount, nonce: number) {
    this.anvil = anvil
    this.wallet = new Wallet(account.privateKey)
    this.nonce = nonce
  }

  static async of(anvil: AnvilNode, account: DevnetAccount): Promise<Script> {
    return new Script(anvil, account, Number(await anvil.rpc<string>('eth_getTransactionCount', [account.address, 'latest'])))
  }

  /**
   * Prepares a deployment, and returns the address of the future contract. Without an artifact, `name` is a contract of
   * Wormhole.
   */
  deploy(name: string, args: readonly unknown[] = [], { abi, bytecode }: Artifact = artifact(name)): string {
    const to = getCreateAddress({ from: this.wallet.address, nonce: this.nonce }).toLowerCase()
    this.add(`deploy ${name}`, { data: concat([bytecode, abi.encodeDeploy(args)]), gasLimit: 8_000_000n })
    return to
  }

  call(to: string, abi: Interface, method: string, args: readonly unknown[], value = 0n): void {
    this.add(method, { to, data: abi.encodeFunctionData(method, args), value, gasLimit: 2_000_000n })
  }

  /** Sends the prepared transactions and mines them. Throws Error with the name of the first that reverted. */
  async mine(): Promise<Mined[]> {
    const batch = this.raw
    this.raw = []
    const hashes = await Promise.all(
      batch.map(async ({ transaction }) => this.anvil.rpc<string>('eth_sendRawTransaction', [await transaction])),
    )
    const receipts = await until(
      async () => {
        await this.anvil.rpc('evm_mine')
        const found = await Promise.all(hashes.map((hash) => this.anvil.rpc<RawReceipt | null>('eth_getTransactionReceipt', [hash])))
        return found.includes(null) ? undefined : (found as RawReceipt[])
      },
      { timeoutMs: 60_000, what: `${batch.length} transactions of the deployment to be mined` },
    )
    const reverted = receipts.findIndex((receipt) => receipt.status !== '0x1')
    if (reverted >= 0) throw new Error(`The devnet transaction "${batch[reverted]?.what}" reverted`)
    return Promise.all(receipts.map((receipt) => this.mined(receipt)))
  }

  private async mined(receipt: RawReceipt): Promise<Mined> {
    const block = await this.anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', [receipt.blockNumber, false])
    return { ...receipt, blockNumber: Number(receipt.blockNumber), timestamp: Number(block.timestamp) }
  }

  private add(what: string, transaction: { to?: string; data: string; value?: bigint; gasLimit: bigint }): void {
    const nonce = this.nonce++
    this.raw.push({ what, transaction: signedOnce(this.wallet, { chainId: this.anvil.chainId, nonce, ...transaction }) })
  }
}
