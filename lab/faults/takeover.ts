import type { BridgeChoice } from '../demo/load.ts'
import type { Anvil } from '../devnet/chain/anvil.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { laneProcess } from './fleet-processes.ts'
import type { ChainKey, FaultTargets } from './fault-targets.ts'
import { sendSteadily } from './load.ts'

/** A takeover between two processes of one key. One was killed, and the other continued. */
export interface Takeover {
  readonly chain: string
  /**
   * Whether the killed process had a granted nonce that it had not signed. All higher nonces then wait until another
   * process gets the step of this nonce.
   */
  readonly owedNonce: boolean
  /** Time from the death until a block has a delivery that the dead process cannot have sent. */
  readonly ms: number
}

/**
 * The users' load during the kills. `perSecond`: transfers per second over both directions. `transfersEach`: about how
 * many transfers one kill uses.
 */
const takeoverLoad = { perSecond: 2, transfersEach: 30 } as const
/** One of this many kills strikes while a granted nonce has no signature. */
const owedEvery = 3
/** Failpoint: the process dies when it gets its second nonce, before it signs. */
const owed = 'after-grant=kill@2'

/** Number of kills in a run. They use about half of its transfers. */
export function takeoversOf(transfers: number): number {
  return Math.floor(transfers / 2 / takeoverLoad.transfersEach)
}

/**
 * Kills lane processes one after another under a steady load, at varying moments. After each, waits until the other
 * process of the key continues. Returns the measured kills and the number of transfers that were sent. Throws if the
 * other process does not continue.
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
  // An error here also ends the load.
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
  // Vary the moment, because nothing ties the kills to blocks.
  await untilDelivering(anvil, lane)
  await wait((index * 370) % 1_000)
  const name = laneProcess(lane, devnet, 1 + (Math.floor(index / devnet.lanes.length) % 2))
  const died = owedNonce ? await (await fleet.doom(name, owed)).died : await fleet.killOne(name, 1_000)
  if (died === undefined) throw new Error(`${name} was not up`)
  const ms = (await nextDelivery(anvil, lane)) - died
  say(`${name} killed${owedNonce ? ' with a nonce that nothing is signed for' : ''}: the other delivered after ${ms} ms`)
  return { chain: lane.chain, owedNonce, ms }
}

/** Waits for a block with a delivery of this lane. */
async function untilDelivering(anvil: Anvil, lane: LaneKey): Promise<void> {
  await deliveryAfter(anvil, lane, await height(anvil), new Set())
}

/**
 * Time at which a block first had a delivery that was not in the pool when this function was called, ms since the
 * epoch.
 */
async function nextDelivery(anvil: Anvil, lane: LaneKey): Promise<number> {
  // Read the pool first. Then a transaction that is in no pool and in no block yet was sent by a living process.
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
