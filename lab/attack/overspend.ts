import { laneId } from '../../domain/lane/lane.ts'
import { operatorTransactionStatusQuery } from '../../temporal/contracts/operator-transaction.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { drain } from '../faults/drain.ts'
import type { LaneTransaction } from '../checker/spending.ts'
import { until } from '../devnet/until.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import { type AttackScene, mostPerDay, mostPerHour, type Payment, treasury } from './scene.ts'

const gwei = 10n ** 9n
/**
 * Gas prices, wei. A payment costs 0.3 coins at `steep`, which is above the limit of a transaction, and 0.07 coins at
 * `spike`.
 */
const [steep, spike] = [6_000n * gwei, 1_500n * gwei]
const [pricedWithinMs, decidedWithinMs] = [30_000, 120_000]
/** Payments from each lane. At `spike`, they cost up to about twice the lower one of the key's two spending limits. */
const payments = 25
/**
 * Amount in wei of the first payment. No two payments have the same amount, so the chain shows how often each was made.
 */
const firstAmount = 10n ** 6n

/**
 * Raises the gas price of both chains. Then orders tiny payments from each lane to the treasury, as any client of
 * Temporal can: first a payment whose gas costs more than the limit of a transaction, then more payments than the
 * limits of a key allow.
 */
export async function overspend(scene: AttackScene): Promise<string> {
  const { lanes } = scene.devnet
  await halt(scene)
  let price: bigint | undefined = steep
  const dear = keepDear(scene, () => price)
  const payAll = async (wei: bigint, times: number): Promise<number> => {
    price = wei
    await isDear(scene, wei)
    const ordered: Payment[] = []
    for (let index = 0; index < times; index++)
      for (const { chain, address } of lanes) ordered.push(await pay(scene, chain as ChainKey, address))
    const ends = await Promise.all(ordered.map((one) => decided(scene, one)))
    return ends.filter((ended) => !ended).length
  }
  try {
    await payAll(steep, 1)
    const before = await counts(scene)
    const open = await payAll(spike, payments)
    const mined = (await counts(scene)).map((count, index) => count - (before[index] ?? 0))
    if (mined.every((count) => count === 0)) throw new Error('no lane paid')
    return `${mined.join(', ')} of ${payments} payments mined, ${open} still open`
  } finally {
    price = undefined
    await dear
  }
}

/**
 * Halts all transfers and waits until the lanes are idle, because an attacker's transfer with a lower nonce would block
 * the payments.
 */
async function halt(scene: AttackScene): Promise<void> {
  const order = { by: 'dora', reason: 'prices rise', orders: [{ kind: 'halt', scope: {} } as const] }
  await changeSettings(scene.client, { bridges: [], nodes: {}, lanes: [] }, order)
  const remains = await drain(scene, decidedWithinMs, { streams: false })
  if (remains.lanes.length > 0) throw new Error(`lanes are not idle: ${remains.lanes.join(', ')}`)
}

async function pay({ client, devnet, payments: paid }: AttackScene, chain: ChainKey, address: string): Promise<Payment> {
  const lane = laneId('evm', devnet.chains[chain].anvil.chainId, address)
  const amount = firstAmount + BigInt(paid.length)
  const intent = { to: treasury, data: '0x', value: String(amount) }
  const workflowId = `operator-transaction:${lane}:spend-${amount}`
  const payment = { chain, amount, id: workflowId }
  paid.push(payment)
  await client.workflow.start('operatorTransaction', {
    workflowId,
    taskQueue: ledgerQueue,
    args: [{ lane, intent, by: 'root', reason: 'x' }],
  })
  return payment
}

/**
 * Resolves with true once the payment is final or refused, and with false after `decidedWithinMs`. The status's detail
 * counts too, because a payment that was refused on its second try stays open while no-ops fill its nonces.
 */
async function decided({ client }: AttackScene, { id }: Payment): Promise<boolean> {
  const isDecided = async () => {
    const { state, detail } = await client.workflow.getHandle(id).query(operatorTransactionStatusQuery)
    return (state !== 'waiting' && state !== 'pending') || detail.includes('refused')
  }
  const wait = { timeoutMs: decidedWithinMs, everyMs: 500, growingToMs: 5_000, what: `${id} to be decided` }
  return until(isDecided, wait).then(
    () => true,
    () => false,
  )
}

function counts({ devnet: { lanes, chains } }: AttackScene): Promise<number[]> {
  const count = (chain: ChainKey, address: string) => chains[chain].anvil.rpc<string>('eth_getTransactionCount', [address, 'latest'])
  return Promise.all(lanes.map(async ({ chain, address }) => Number(await count(chain as ChainKey, address))))
}

/**
 * Waits for two blocks at this price on each chain, because after only one such block, Portage may still use the
 * preceding block.
 */
async function isDear({ devnet: { chains } }: AttackScene, price: bigint): Promise<void> {
  const twoBlocks = async ({ anvil }: (typeof chains)[ChainKey]) => {
    const dear = new Set<string>()
    const look = async () => {
      const { number, baseFeePerGas } = await anvil.rpc<Record<'number' | 'baseFeePerGas', string>>('eth_getBlockByNumber', [
        'latest',
        false,
      ])
      if (BigInt(baseFeePerGas) === price) dear.add(number)
      return dear.size >= 2
    }
    await until(look, { timeoutMs: pricedWithinMs, everyMs: 200, what: `blocks at ${price} wei per gas` })
  }
  await Promise.all(Object.values(chains).map(twoBlocks))
}

/** Sets the base fee again and again, because each empty block lowers it by an eighth. */
async function keepDear({ devnet, wait }: AttackScene, priceNow: () => bigint | undefined): Promise<void> {
  for (let price = priceNow(); price !== undefined; price = priceNow()) {
    const params = [`0x${price.toString(16)}`]
    await Promise.allSettled(Object.values(devnet.chains).map(({ anvil }) => anvil.rpc('anvil_setNextBlockBaseFeePerGas', params)))
    await wait(300)
  }
}

/**
 * Number of keys that signed for more than the lower of their two limits. Both limits apply to the whole run, because a
 * run is shorter than an hour.
 */
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
