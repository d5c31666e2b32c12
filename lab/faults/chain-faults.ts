import { Wallet } from 'ethers'
import type { Anvil } from '../devnet/chain/anvil.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import { forkFromSnapshot, reorganize, withoutBlocks } from './forks.ts'
import type { ChainKind, PlannedFault } from './plan.ts'

export interface Place {
  readonly anvil: Anvil
  readonly lanes: readonly LaneKey[]
}

const gwei = 10n ** 9n

/**
 * Injects a fault into a chain. Resolves when the fault is over. Returns false if there was nothing that the fault
 * could break.
 */
export async function breakChain(place: Place, fault: PlannedFault<ChainKind>, wait: (ms: number) => Promise<void>): Promise<boolean> {
  const { anvil, lanes } = place
  const lane = lanes[Math.floor(fault.dice * lanes.length)]
  // Accounts whose transactions vanish with removed blocks. Other transactions return to the pool.
  const lost = fault.dice < 0.5 ? lanes.map(({ address }) => address) : []
  switch (fault.kind) {
    case 'fork':
      await forkFromSnapshot(anvil, { depth: fault.depth, lost, longer: tails(fault.dice * 10) }, wait)
      await refund(anvil, lanes)
      return true
    case 'reorg':
      await reorganize(anvil, { depth: fault.depth, lost })
      await refund(anvil, lanes)
      return true
    case 'base-fee-spike':
      await spikeBaseFee(anvil, 5n * gwei + BigInt(Math.floor(fault.dice * 100)) * gwei)
      return true
    case 'eviction':
      return (await evict(anvil, lanes)) > 0
    case 'foreign-transaction':
      return lane !== undefined && useKey(anvil, lane, tails(fault.dice * 4) ? 'latest' : 'pending')
    case 'chain-stop':
      await withoutBlocks(anvil, () => wait(fault.forMs))
      return true
    case 'key-drained':
      if (!lane) return false
      await drained(anvil, lane, () => wait(fault.forMs))
      return true
  }
}

function tails(dice: number): boolean {
  return dice % 1 < 0.5
}

/** Funds empty keys again, because a fork may have removed the block that funded them. */
async function refund({ rpc }: Anvil, lanes: readonly LaneKey[]): Promise<void> {
  for (const { address } of lanes) {
    if (BigInt(await rpc<string>('eth_getBalance', [address, 'latest'])) > 0n) continue
    await rpc('anvil_setBalance', [address, `0x${(1000n * 10n ** 18n).toString(16)}`])
  }
}

/** Sets the base fee of the next block, wei. Empty blocks then lower the base fee. */
export async function spikeBaseFee({ rpc }: Anvil, wei: bigint): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`])
}

export async function evict({ rpc }: Anvil, lanes: readonly LaneKey[]): Promise<number> {
  const pool = await rpc<Record<'pending' | 'queued', Record<string, Record<string, { hash: string }>>>>('txpool_content')
  const hashes = [pool.pending, pool.queued].flatMap((part) =>
    Object.entries(part)
      .filter(([account]) => lanes.some(({ address }) => address === account.toLowerCase()))
      .flatMap(([, byNonce]) => Object.values(byNonce).map(({ hash }) => hash)),
  )
  for (const hash of hashes) await rpc('anvil_dropTransaction', [hash])
  return hashes.length
}

/**
 * Sends a transaction with a lane's key, as a thief would. `latest`: the lane's next nonce. `pending`: the nonce after
 * the pool's. Returns false if the pool refuses the transaction.
 */
export async function useKey({ rpc, chainId }: Anvil, lane: LaneKey, at: 'latest' | 'pending'): Promise<boolean> {
  const nonce = Number(await rpc<string>('eth_getTransactionCount', [lane.address, at]))
  const fees = { type: 2, maxFeePerGas: 400n * gwei, maxPriorityFeePerGas: 150n * gwei }
  const raw = await new Wallet(lane.privateKey).signTransaction({ ...fees, chainId, nonce, to: lane.address, gasLimit: 21_000n })
  return rpc('eth_sendRawTransaction', [raw]).then(
    () => true,
    () => false,
  )
}

export async function drained<T>({ rpc }: Anvil, { address }: LaneKey, act: () => Promise<T>): Promise<T> {
  const balance = await rpc<string>('eth_getBalance', [address, 'latest'])
  await rpc('anvil_setBalance', [address, '0x0'])
  try {
    return await act()
  } finally {
    await rpc('anvil_setBalance', [address, balance])
  }
}
