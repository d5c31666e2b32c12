import { laneId } from '../../domain/lane/lane.ts'
import { startOperatorTransaction } from '../../temporal/client/lanes/operator-transactions.ts'
import { orderTransfer } from '../../temporal/client/transfers/transfer-orders.ts'
import { lookAtTransfers } from '../demo/follow.ts'
import { sendWish, wishOf } from '../demo/load.ts'
import { keyOf } from '../devnet/sent.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import type { PlannedAttack } from './plan.ts'
import { type AttackScene, treasury } from './scene.ts'

const workflowWithinMs = 30_000

/** Cancels transfers at random moments. Each must end as delivered, or as cancelled and not delivered. */
export async function cancels(scene: AttackScene, { chain, dice }: PlannedAttack): Promise<string> {
  const { client, devnet, locks, wait } = scene
  const sent = await locks[chain].run(() => sendWish(devnet, chain, wishOf('all', [0, 2, 4, 6, 8, 10])))
  scene.cancelled.push(...sent)
  const keys = new Set(sent.map(keyOf))
  const until = Date.now() + workflowWithinMs
  const over = new Set<string>()
  let ordered = 0
  while (over.size < keys.size && Date.now() < until) {
    await wait(100 + dice * 1_000)
    for (const { id, key, running } of await lookAtTransfers(client)) {
      if (!keys.has(key) || over.has(key)) continue
      const order = { by: 'dora', reason: 'the user asked for it' }
      const taken = running && (await isTaken(orderTransfer(client, { id, execution: 'RUNNING' }, 'cancel', order)))
      if (taken) ordered += 1
      if (taken || !running) over.add(key)
    }
  }
  return `${ordered} of ${keys.size} transfers`
}

function isTaken(order: Promise<unknown>): Promise<boolean> {
  return order.then(
    () => true,
    () => false,
  )
}

export async function payment(scene: AttackScene, { chain, dice }: PlannedAttack): Promise<string> {
  const { client, devnet, payments } = scene
  const lanes = devnet.lanes.filter((lane) => lane.chain === chain)
  const { address } = lanes[Math.floor(dice * lanes.length)] as LaneKey
  const lane = laneId('evm', devnet.chains[chain].anvil.chainId, address)
  const amount = 10n ** 12n + BigInt(payments.length)
  const intent = { to: treasury, value: String(amount), data: '0x' }
  const id = await startOperatorTransaction(client, { lane, intent }, { by: 'dora', reason: 'a payment' })
  payments.push({ chain, amount, id })
  return `${amount} wei from ${lane}`
}
