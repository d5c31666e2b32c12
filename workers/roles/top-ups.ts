import type { Chain } from '../../chains/port.ts'
import { chainOf, idOf, lanesOf, signingLimits } from '../../config/chains.ts'
import type { ChainConfig, LaneSettings } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { topUpIntent } from '../../lanes/account/payments.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { problemOf } from '../../observability/severity.ts'
import { idOf as notificationId } from '../../operations/notifications/events.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import { startTopUp } from '../../temporal/client/lanes/operator-transactions.ts'
import type { ProcessParts } from './context.ts'
import { createRaise } from './lane-notices.ts'

/** Blocks between two rounds. The time between two rounds stays between `leastMs` and `mostMs`. */
const [everyBlocks, leastMs, mostMs] = [10, 1_000, 15_000] as const
const by = 'automatic'

type Payer = Pick<LaneAgent, 'lane' | 'balance' | 'checkSigning'>
type Parts = Pick<ProcessParts, 'config' | 'client' | 'logger' | 'metrics' | 'network'>

/** Tops up the lanes of each chain from the lane of `chains.<name>.topUp`, in each process with this lane's key. */
export function topUps(parts: Parts, payers: readonly Payer[]): Service[] {
  return lanesOf(parts.config).flatMap(({ id, chain: name, lane }) => {
    const config = chainOf(parts.config, name)
    const [payer, chain, { topUp }] = [payers.find((one) => one.lane === id), parts.network.chains.get(name), config]
    if (!payer || !chain || topUp?.from !== lane.address) return []
    const everyMs = Math.min(mostMs, Math.max(leastMs, everyBlocks * config.blockTimeMs))
    const onError = (error: unknown) =>
      parts.logger.warn('lanes could not be topped up; trying again soon', { lane: id, ...problemOf(error) })
    return [startPolling(createRound(parts, { chain, config, topUp, lane, payer }), { everyMs, onError })]
  })
}

interface Paying {
  readonly chain: Pick<Chain, 'name' | 'balanceOf'>
  readonly config: ChainConfig
  readonly topUp: NonNullable<ChainConfig['topUp']>
  readonly lane: LaneSettings
  readonly payer: Payer
}

/** A round orders at most one payment, because the key's limits count only signed payments. */
function createRound(parts: Parts, { chain, config, topUp, lane, payer }: Paying) {
  const { client, logger, metrics } = parts
  const { from, minimum, level, maxPaymentWei } = topUp
  const raise = createRaise(parts, 'lane.topped_up')
  const held = new Set<LaneId>()

  function hold(to: LaneId, reason: string): false {
    if (!held.has(to)) logger.warn('a lane is below its minimum, but is not topped up', { code: 'TOP_UP_HELD', lane: to, reason })
    held.add(to)
    return false
  }

  async function order(to: LaneId, address: string, balance: string): Promise<boolean> {
    if (payer.balance === undefined) return false
    const most = [BigInt(level) - BigInt(balance), BigInt(maxPaymentWei), BigInt(signingLimits(config, lane).maxPaymentWei)]
    const wei = most.reduce((a, b) => (a < b ? a : b))
    if (BigInt(payer.balance) - wei < BigInt(minimum)) return hold(to, `${payer.lane} has ${payer.balance} wei, and keeps ${minimum} wei`)
    const intent = topUpIntent(to, payer.lane, String(wei))
    try {
      await payer.checkSigning({ intent, first: { kind: 'call', gasLimit: '21000', maxFee: '0', tip: '0' } })
    } catch (error) {
      const { code, message } = toRelayerError(error)
      if (code !== 'SIGNING_REFUSED') throw error
      return hold(to, message)
    }
    const reason = `top-up of ${to}: it has ${balance} wei, less than ${minimum} wei`
    const id = await startTopUp(client, { lane: payer.lane, intent, onlyBelow: { address, minimum } }, { by, reason })
    if (id === undefined) return false
    const about = { lane: to, from: payer.lane, valueWei: intent.value, balanceWei: balance, transaction: id }
    logger.info('a lane is topped up', about)
    const at = Date.now()
    const data = { ...about, chain: chain.name }
    await raise?.(data, { id: notificationId('lane.topped_up', id, at), type: 'lane.topped_up', at, data })
    return true
  }

  return async () => {
    const lanes = config.lanes.filter(({ address }) => address !== from)
    // A lane whose balance cannot be read is skipped without a report, because failures of nodes are reported
    // elsewhere.
    const balances = await Promise.all(lanes.map(({ address }) => chain.balanceOf(address).catch(() => undefined)))
    let isOrdered = false
    for (const [index, { address }] of lanes.entries()) {
      const [to, balance] = [idOf(config, address), balances[index]]
      if (balance === undefined) continue
      const isDue = BigInt(balance) < BigInt(minimum)
      metrics.portage_lane_top_up_due.set({ lane: to }, isDue ? 1 : 0)
      if (!isDue) held.delete(to)
      else isOrdered ||= await order(to, address, balance)
    }
  }
}
