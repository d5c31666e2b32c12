import { Wallet } from 'ethers'
import type { DevnetAccount } from './accounts.ts'
import type { AnvilNode } from './anvil.ts'
import type { Mined } from './contracts.ts'
import { minedOf } from './mined.ts'
import { until } from '../until.ts'

export interface Call {
  readonly to: string
  readonly data: string
  readonly value?: bigint
}

/** Fees far above the base fees of a devnet, so that the next block includes the calls. */
const fees = { type: 2, maxFeePerGas: 200_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const

/**
 * Returns a function that sends calls of one account in as few blocks as possible, and waits for the chain to mine
 * them. A call that reverted has no logs in the result. `gasLimit`: gas limit of each call.
 */
export function createSender(
  anvil: AnvilNode,
  account: DevnetAccount,
  gasLimit: bigint,
): (calls: readonly Call[]) => Promise<readonly Mined[]> {
  const wallet = new Wallet(account.privateKey)
  const count = async (tag: string) => Number(await anvil.rpc<string>('eth_getTransactionCount', [wallet.address, tag]))
  const sendAll = async (calls: readonly Call[]) => {
    const first = await count('pending')
    const hashes = await Promise.all(
      calls.map(async (call, index) => {
        const raw = await wallet.signTransaction({ ...fees, gasLimit, ...call, chainId: anvil.chainId, nonce: first + index })
        return anvil.rpc<string>('eth_sendRawTransaction', [raw])
      }),
    )
    return { hashes, next: first + calls.length }
  }
  let line: Promise<unknown> = Promise.resolve()
  return async (calls) => {
    // Only one batch is sent at a time, so that two batches never use the same nonce.
    const sending = line.then(() => sendAll(calls))
    line = sending.catch(() => {})
    const { hashes, next } = await sending
    await until(async () => (await count('latest')) >= next, {
      timeoutMs: 120_000,
      everyMs: 100,
      what: `${calls.length} transactions of ${account.address} to be mined on chain ${anvil.chainId}`,
    })
    return Promise.all(hashes.map((hash) => minedOf(anvil, hash)))
  }
}
