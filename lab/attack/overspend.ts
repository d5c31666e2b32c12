import { laneId } from '../../domain/lane/lane.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import { laneTransactions } from '../checker/spending.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import { type AttackScene, mostPerDay, mostPerHour, treasury } from './scene.ts'

/** wei per gas: a payment may cost about 0.07 coins, less than a transaction may. */
const spike = 1_500n * 10n ** 9n
/** Twice what the limits of a key allow at that price. */
const payments = 25
/** wei: each payment's amount is its own, so the chain shows how often it was made. */
const firstAmount = 10n ** 6n
/** Longest wait for a payment to be sent or refused, ms. */
const decidedWithinMs = 40_000

/**
 * Prices rise on both chains, and somebody with access to Temporal orders worthless payments to the treasury from each
 * lane until its key refuses. The judge adds up what the keys signed.
 */
export async function overspend(scene: AttackScene): Promise<string> {
  let over = false
  const dear = keepDear(scene, () => over)
  try {
    const counts = await Promise.all(scene.devnet.lanes.map((lane) => drainLane(scene, lane.chain as ChainKey, lane.address)))
    return `${counts.join(', ')} of ${payments} payments mined`
  } finally {
    over = true
    await dear
  }
}

async function drainLane({ client, devnet, payments: paid, wait }: AttackScene, chain: ChainKey, address: string): Promise<number> {
  const { anvil } = devnet.chains[chain]
  const lane = laneId('evm', anvil.chainId, address)
  const count = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))
  const before = await count()
  for (let index = 0; index < payments; index++) {
    const amount = firstAmount + BigInt(paid.length)
    const intent = { to: treasury, data: '0x', value: String(amount) }
    const workflowId = `operator-transaction:${lane}:spend-${index}`
    paid.push({ chain, amount, id: workflowId })
    await client.workflow.start('operatorTransaction', {
      workflowId,
      taskQueue: ledgerQueue,
      args: [{ lane, intent, by: 'root', reason: 'x' }],
    })
  }
  for (let waited = 0, mined = -1; waited < decidedWithinMs; waited += 4_000) {
    const now = await count()
    // Nothing was mined for 4 seconds, which is four blocks: the key refuses.
    if (now > before && now === mined) break
    mined = now
    await wait(4_000)
  }
  return (await count()) - before
}

/** The base fee of an empty block falls by an eighth. */
async function keepDear({ devnet, wait }: AttackScene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await Promise.all(
      Object.values(devnet.chains).map(({ anvil }) => anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${spike.toString(16)}`])),
    )
    await wait(300)
  }
}

/** Keys whose transactions may have cost more than a limit of an hour or a day: a run is shorter than an hour. */
export async function overspentKeys({ devnet, say }: AttackScene): Promise<number> {
  const over = await Promise.all(
    devnet.lanes.map(async ({ chain, address }) => {
      const [name, signed] = [chain as ChainKey, await laneTransactions(chain, devnet.chains[chain as ChainKey].anvil.url, [address])]
      const cost = signed.reduce((sum, { gasLimit, maxFee }) => sum + gasLimit * maxFee, 0n)
      const allowed = mostPerHour[name] < mostPerDay[name] ? mostPerHour[name] : mostPerDay[name]
      if (cost > allowed) say(`overspent: ${address} on ${chain}, ${cost} wei`)
      return cost > allowed
    }),
  )
  return over.filter(Boolean).length
}
