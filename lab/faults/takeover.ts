import type { BridgeChoice } from '../demo/load.ts'
import type { Anvil } from '../devnet/chain/anvil.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { laneProcess } from './fleet-processes.ts'
import type { ChainKey, FaultTargets } from './fault-targets.ts'
import { sendSteadily } from './load.ts'

/** A kill of one process of a key, after which the other process of the key continued. */
export interface Takeover {
  readonly chain: string
  /** Whether the killed process had a granted nonce without a signature. All higher nonces then wait for this nonce. */
  readonly owedNonce: boolean
  /** Time from the death to the first block with a delivery that the dead process cannot have sent. */
  readonly ms: number
}

/**
 * Users' load during the kills. `perSecond`: transfers per second in both directions together. `transfersEach`: rough
 * number of transfers per kill.
 */
const takeoverLoad = { perSecond: 2, transfersEach: 30 } as const
/** Every third kill strikes while a granted nonce has no signature. */
const owedEvery = 3
/** Failpoint: kills the process at its second granted nonce, before the process signs. */
const owed = 'after-grant=kill@2'

/** Number of kills that use about half of the run's transfers. */
export function takeoversOf(transfers: number): number {
  return Math.floor(transfers / 2 / takeoverLoad.transfersEach)
}

/**
 * Waits after each kill until the other process of the key delivers. Throws Error if the other process does not
 * deliver.
 */
export async function measureTakeovers(
  targets: FaultTargets,
  bridge: BridgeChoice,
  kills: number,
): Promise<{ readonly takeovers: readonly Takeover[]; readonly sent: number }> {
  let isOver = false
  const measure = async () => {
    const takeovers: Takeover[] = []
    for (let index = 0; index < kills; index++) takeovers.push(await measureOne(targets, index))
    return takeovers
  }
  // `finally` ends the load after an error too.
  const [sent, takeovers] = await Promise.all([
    sendSteadily(targets, bridge, takeoverLoad.perSecond, () => isOver),
    measure().finally(() => (isOver = true)),
  ])
  return { takeovers, sent }
}

async function measureOne({ devnet, fleet, say, wait }: FaultTargets, index: number): Promise<Takeover> {
  const lane = devnet.lanes[index % devnet.lanes.length] as LaneKey
  const { anvil } = devnet.chains[lane.chain as ChainKey]
  const owedNonce = index % owedEvery === owedEvery - 1
  await fleet.whole()
  // Deliveries are seen when a block is mined, so a varying wait spreads the kills over the block interval.
  await untilDelivering(anvil, lane)
  await wait((index * 370) % 1_000)
  const name = laneProcess(lane, devnet, 1 + (Math.floor(index / devnet.lanes.length) % 2))
  const died = owedNonce ? await (await fleet.doom(name, owed)).died : await fleet.killOne(name, 1_000)
  if (died === undefined) throw new Error(`${name} was not up`)
  const ms = (await nextDelivery(anvil, lane)) - died
  say(`${name} killed${owedNonce ? ' with a granted nonce without a signature' : ''}: the other process delivered after ${ms} ms`)
  return { chain: lane.chain, owedNonce, ms }
}

async function untilDelivering(anvil: Anvil, lane: LaneKey): Promise<void> {
  await deliveryAfter(anvil, lane, await height(anvil), new Set())
}

/**
 * Resolves once a block has a delivery that was not in the pool when the function was called. Returns the time, ms
 * since the epoch.
 */
async function nextDelivery(anvil: Anvil, lane: LaneKey): Promise<number> {
  // The pool is read before the height, so a later delivery that was not in the pool comes from a living process.
  const pool = await anvil.rpc<Record<'pending' | 'queued', Record<string, Record<string, { hash: string }>>>>('txpool_content')
  const known = [pool.pending, pool.queued].flatMap((part) => Object.values(part).flatMap((byNonce) => Object.values(byNonce)))
  return deliveryAfter(anvil, lane, await height(anvil), new Set(known.map(({ hash }) => hash)))
}

async function deliveryAfter(anvil: Anvil, { address }: LaneKey, from: number, known: ReadonlySet<string>): Promise<number> {
  let seen = from
  const look = async () => {
    const head = await height(anvil)
    const at = Date.now()
    for (; seen < head; seen++) {
      const block = await anvil.rpc<{ transactions: readonly { hash: string; from: string; to: string | null }[] }>(
        'eth_getBlockByNumber',
        [`0x${(seen + 1).toString(16)}`, true],
      )
      // A transaction from a lane to itself is a no-op.
      const isDelivery = (one: (typeof block.transactions)[number]) =>
        one.from.toLowerCase() === address && one.to?.toLowerCase() !== address && !known.has(one.hash)
      if (block.transactions.some(isDelivery)) return at
    }
    return undefined
  }
  return until(look, { timeoutMs: 120_000, everyMs: 20, what: `a delivery by ${address}` })
}

async function height({ rpc }: Anvil): Promise<number> {
  return Number(await rpc<string>('eth_blockNumber'))
}
