import type { Child } from '../../devnet/child.ts'
import { type Devnet, startDevnet } from '../../devnet/index.ts'
import { until } from '../../devnet/until.ts'
import type { SentTransfer } from '../../devnet/wormhole/users.ts'
import { type ProcessUsage, startCpuMeter } from '../cpu-meter.ts'
import { holdMessages } from '../held.ts'
import { sendTokens } from '../send-tokens.ts'
import { round } from '../statistics.ts'
import { verdictOf, type Verdict } from '../verdict.ts'
import type { Contender, Store } from './contenders.ts'
import { type DeliveryRates, deliveryRates, type DeliveryWatch, watchDeliveries } from './deliveries.ts'

export interface PeerRun extends DeliveryRates, Verdict {
  /** CPU time per measured transfer, ms. `store`: Temporal or Redis. */
  readonly cpuMs: Readonly<Record<string, number>>
  readonly rssPeakMiB: Readonly<Record<string, number>>
}

/** `seconds`: from the restart to the last delivery. Undefined if nothing was delivered after the restart. */
export interface KillRun extends Verdict {
  readonly deliveredBefore: number
  readonly seconds: number | undefined
  /** Number of transactions of the keys that contain no delivery, for example second tries that reverted. */
  readonly wastedTransactions: number
}

export interface PeerOptions {
  readonly transfers: number
  readonly keys: number
}

/**
 * Maximum number of warm-up transfers (usually a quarter of the measured ones). They give V8 time to compile the code
 * before the measurement.
 */
const mostWarm = 200
/**
 * Time without a delivery after which a relayer counts as finished, ms. Redis's queue retries the job of a dead process
 * after 60 s. A relayer without a store has nothing to retry.
 */
const [quietMs, quietWithoutStoreMs] = [100_000, 20_000]
const downMs = 2_000

/** Delivers transfers whose messages all arrive at the same time. Throws Error if nothing is delivered. */
export async function peerRun(contender: Contender, options: PeerOptions, log: (line: string) => void): Promise<PeerRun> {
  const transfers = shareOf(contender, options.transfers)
  return onDevnet(contender, options.keys, log, async (devnet, store) => {
    const untilHeld = holdMessages(devnet)
    const relayer = await startRelayer(devnet, store)
    try {
      const warm = await sendTokens(devnet, Math.min(mostWarm, Math.ceil(transfers / 4)))
      await untilHeld(warm)
      await deliver(devnet, relayer, warm.length)
      const sent = await sendTokens(devnet, transfers)
      await untilHeld(sent)
      const anvils = Object.values(devnet.chains).map(({ anvil }) => anvil.pid)
      const meter = await startCpuMeter({ relayer: [relayer.pid], store: store.pids, anvils, driver: [process.pid] })
      const begin = Date.now()
      const { blocks } = await deliver(devnet, relayer, transfers)
      await store.settle(warm.length + transfers)
      const usage = await meter.stop()
      const check = await devnet.check([...warm, ...sent])
      return {
        ...deliveryRates(blocks, begin),
        ...verdictOf(check, warm.length + transfers),
        cpuMs: each(usage, ({ cpuMs }) => round(cpuMs / transfers)),
        rssPeakMiB: each(usage, ({ rssPeakMiB }) => rssPeakMiB),
      }
    } finally {
      await relayer.stop(15_000)
    }
  })
}

/**
 * Kills the relayer with SIGKILL after a quarter of the deliveries, and starts it again. No message is published in
 * between.
 */
export async function killRun(contender: Contender, options: PeerOptions, log: (line: string) => void): Promise<KillRun> {
  const transfers = shareOf(contender, options.transfers)
  return onDevnet(contender, options.keys, log, async (devnet, store) => {
    const untilHeld = holdMessages(devnet)
    let relayer = await startRelayer(devnet, store)
    try {
      const sent: SentTransfer[] = await sendTokens(devnet, transfers)
      await untilHeld(sent)
      const watch = await watchDeliveries(devnet.chains.bsc)
      try {
        devnet.guardian.release()
        await untilDelivered(watch, Math.ceil(transfers / 4), relayer)
        relayer.kill('SIGKILL')
        await relayer.exited
        await new Promise((resolve) => setTimeout(resolve, downMs))
        const deliveredBefore = watch.count
        const restarted = Date.now()
        relayer = await startRelayer(devnet, store)
        await untilDelivered(watch, transfers, relayer, store.pids.length > 0 ? quietMs : quietWithoutStoreMs)
        const seconds = watch.count > deliveredBefore ? round((watch.lastAt - restarted) / 1_000) : undefined
        const check = await devnet.check(sent)
        return { ...verdictOf(check, transfers), deliveredBefore, seconds, wastedTransactions: check.wastedTransactions }
      } finally {
        await watch.stop()
      }
    } finally {
      await relayer.stop(15_000)
    }
  })
}

function shareOf({ share }: Contender, transfers: number): number {
  return Math.max(10, Math.ceil(transfers * share))
}

async function onDevnet<T>(
  contender: Contender,
  keysPerChain: number,
  log: (line: string) => void,
  work: (devnet: Devnet, store: Store) => Promise<T>,
): Promise<T> {
  const devnet = await startDevnet({ keysPerChain, ui: false, log })
  try {
    const store = await contender.open(devnet)
    try {
      return await work(devnet, store)
    } finally {
      await store.stop()
    }
  } finally {
    await devnet.stop()
  }
}

/** Starts the relayer, and resolves once it has subscribed, because the spy sends no message again. */
async function startRelayer({ guardian: { spy } }: Devnet, store: Store): Promise<Child> {
  await until(() => spy.subscribers === 0, { timeoutMs: 30_000, what: 'the spy to notice the end of a relayer' })
  const relayer = await store.start()
  const giveUp = () => relayer.ended && `the relayer ${relayer.ended}: ${relayer.tail()}`
  try {
    await until(() => spy.subscribers > 0, { timeoutMs: 120_000, what: 'the relayer to subscribe', giveUp })
  } catch (error) {
    await relayer.stop(0)
    throw error
  }
  return relayer
}

async function deliver(devnet: Devnet, relayer: Child, count: number): Promise<DeliveryWatch> {
  const watch = await watchDeliveries(devnet.chains.bsc)
  try {
    devnet.guardian.release()
    await untilDelivered(watch, count, relayer)
  } finally {
    await watch.stop()
  }
  return watch
}

/** Resolves once `count` transfers have been delivered, or once no transfer has been delivered for `quiet` ms. */
async function untilDelivered(watch: DeliveryWatch, count: number, relayer: Child, quiet = quietMs): Promise<void> {
  const began = Date.now()
  const isOver = () => watch.count >= count || Date.now() - Math.max(began, watch.lastAt) > quiet
  const giveUp = () => relayer.ended && `the relayer ${relayer.ended}: ${relayer.tail()}`
  await until(isOver, { timeoutMs: 1_800_000, everyMs: 50, what: `${count} deliveries`, giveUp })
}

function each(usage: Readonly<Record<string, ProcessUsage>>, of: (one: ProcessUsage) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(usage).map(([name, one]) => [name, of(one)]))
}
