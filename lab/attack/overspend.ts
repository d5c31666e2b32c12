import { laneId } from '../../domain/lane/lane.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import type { LaneTransaction } from '../checker/spending.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import { type AttackScene, mostPerDay, mostPerHour, treasury } from './scene.ts'

const gwei = 10n ** 9n
/** wei per gas. First a payment may cost about 0.3 coins, more than a transaction may; then 0.07, which is less. */
const [steep, spike] = [6_000n * gwei, 1_500n * gwei]
const steepForMs = 12_000
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
  const { lanes } = scene.devnet
  let price: bigint | undefined = steep
  const dear = keepDear(scene, () => price)
  try {
    for (const { chain, address } of lanes) await pay(scene, chain as ChainKey, address)
    await scene.wait(steepForMs)
    price = spike
    const counts = await Promise.all(lanes.map(({ chain, address }) => drainLane(scene, chain as ChainKey, address)))
    if (counts.every((count) => count === 0)) throw new Error('no lane paid anything')
    return `${counts.join(', ')} of ${payments} payments mined`
  } finally {
    price = undefined
    await dear
  }
}

/** Orders a payment from a lane, as somebody with access to Temporal can. */
async function pay({ client, devnet, payments: paid }: AttackScene, chain: ChainKey, address: string): Promise<void> {
  const lane = laneId('evm', devnet.chains[chain].anvil.chainId, address)
  const amount = firstAmount + BigInt(paid.length)
  const intent = { to: treasury, data: '0x', value: String(amount) }
  const workflowId = `operator-transaction:${lane}:spend-${amount}`
  paid.push({ chain, amount, id: workflowId })
  await client.workflow.start('operatorTransaction', {
    workflowId,
    taskQueue: ledgerQueue,
    args: [{ lane, intent, by: 'root', reason: 'x' }],
  })
}

async function drainLane(scene: AttackScene, chain: ChainKey, address: string): Promise<number> {
  const { devnet, wait } = scene
  const count = async () => Number(await devnet.chains[chain].anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))
  const before = await count()
  for (let index = 0; index < payments; index++) await pay(scene, chain, address)
  for (let waited = 0, mined = -1; waited < decidedWithinMs; waited += 4_000) {
    const now = await count()
    // Nothing was mined for 4 seconds, which is four blocks: the key refuses.
    if (now > before && now === mined) break
    mined = now
    await wait(4_000)
  }
  return (await count()) - before
}

/** Until the price is undefined: the base fee of an empty block falls by an eighth. */
async function keepDear({ devnet, wait }: AttackScene, priceNow: () => bigint | undefined): Promise<void> {
  for (let price = priceNow(); price !== undefined; price = priceNow()) {
    const params = [`0x${price.toString(16)}`]
    await Promise.all(Object.values(devnet.chains).map(({ anvil }) => anvil.rpc('anvil_setNextBlockBaseFeePerGas', params)))
    await wait(300)
  }
}

/** Counts keys that may have spent more than a limit of an hour or a day. A run is shorter than an hour. */
export function overspentKeys({ devnet, say }: Pick<AttackScene, 'devnet' | 'say'>, signed: readonly LaneTransaction[]): number {
  const over = devnet.lanes.filter(({ chain, address }) => {
    const own = signed.filter((one) => one.chain === chain && one.from === address.toLowerCase())
    const cost = own.reduce((sum, { gasLimit, maxFee }) => sum + gasLimit * maxFee, 0n)
    const [perHour, perDay] = [mostPerHour[chain as ChainKey], mostPerDay[chain as ChainKey]]
    const isOver = cost > (perHour < perDay ? perHour : perDay)
    if (isOver) say(`overspent: ${address} on ${chain}, ${cost} wei`)
    return isOver
  })
  return over.length
}
