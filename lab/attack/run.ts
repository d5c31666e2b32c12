import { randomBytes } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { HDNodeWallet } from 'ethers'
import { indexesOf, sendWish, wishOf } from '../demo/load.ts'
import type { Devnet } from '../devnet/index.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import type { AnySent } from '../devnet/sent.ts'
import { drain } from '../faults/drain.ts'
import { type ChainKey, Lock } from '../faults/fault-targets.ts'
import { allRoles, keylessAndKeys, startFleet } from '../faults/fleet.ts'
import { sendOver } from '../faults/load.ts'
import { attackAll, type Attacked } from './attackers.ts'
import { type AttackSummary, judge } from './judge.ts'
import { type AttackKind, lastKind, planAttacks, type PlannedAttack } from './plan.ts'
import { deployReceivers, receiverPlugins, receiverRoutes, sendMessages, untilReceived } from './receivers.ts'
import { overspend } from './overspend.ts'
import { type AttackScene, mostPerDay, mostPerHour, type ReceiverEnds, treasury, withApi, worstCost } from './scene.ts'
import { replayRevoked } from './token-attacks.ts'
import { watchApi } from './watch-api.ts'

export interface AttackRun {
  readonly seed: string
  readonly transfers: number
  readonly durationMs: number
  readonly kinds: readonly AttackKind[]
  readonly stuckAfterMs: number
  readonly processes: number
  /**
   * Whether a process without keys runs the plug-ins, and the other processes only hold the keys. If false, each
   * process has all roles.
   */
  readonly hasPlugin: boolean
  readonly launcher?: string | undefined
}

export function planOf({ seed, durationMs, kinds }: Pick<AttackRun, 'seed' | 'durationMs' | 'kinds'>): PlannedAttack[] {
  return planAttacks({ seed, durationMs, kinds })
}

/** Number of honest transfers per honest message to each receiver. */
const messageEvery = 12

export async function runAttacks(devnet: Devnet, run: AttackRun, say: (line: string) => void): Promise<AttackSummary> {
  const connection = await Connection.connect({ address: devnet.temporal.address })
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const canary = randomBytes(16).toString('hex')
  const receivers = await deployReceivers(devnet)
  const { hasPlugin } = run
  const plugins = hasPlugin ? await receiverPlugins(devnet.dir, receivers) : undefined
  const attacked = prepared(devnet, canary, receivers, plugins)
  const fleet = await startFleet(
    attacked,
    (hasPlugin ? keylessAndKeys : allRoles)(run.processes).map((one) => ({ ...one, launcher: run.launcher })),
    wait,
  )
  const scene: AttackScene = {
    ...{ devnet: attacked, client: new Client({ connection }), fleet, sent: [], say, wait, canary },
    locks: { ethereum: new Lock(), bsc: new Lock(), temporal: new Lock() },
    thief: HDNodeWallet.createRandom(),
    ...{ receivers, hasPlugin },
    ...{ cancelled: [], payments: [], unnamedOrders: [], overheard: [], hostile: [], revoked: [], shutOut: [], believed: new Set() },
  }
  try {
    await attacked.executor?.askQuotes(withApi(scene).map(({ apiUrl }) => apiUrl))
    // So no operator cancels the Executor's first message, for which `executor-requests` pays twice.
    await sendEach(scene)
    const started = Date.now()
    const done: Attacked = {}
    say(`Portage is running. Attacks for ${run.durationMs / 1000} s.`)
    const watch = watchApi(scene)
    const sendingMs = run.durationMs * 0.9
    const attacks = [
      sendOver(scene, 'all', run.transfers, sendingMs),
      sendMessages(scene, Math.ceil(run.transfers / messageEvery), sendingMs),
      attackAll(scene, planOf(run), done),
    ]
    try {
      await Promise.all(attacks)
    } finally {
      await watch.stop()
    }
    say('The attacks are over.')
    await replayRevoked(scene, { chain: 'ethereum' })
    const probes = await sendEach(scene)
    const remains = await drain(scene, run.stuckAfterMs, { streams: false })
    await untilReceived(scene, run.stuckAfterMs)
    for (const line of [...remains.transfers, ...remains.lanes, ...scene.unnamedOrders, ...scene.shutOut, ...scene.overheard])
      say(`  ${line}`)
    if (run.kinds.includes(lastKind)) {
      const result = await overspend(scene).catch((error: Error) => error)
      say(`${lastKind}: ${result instanceof Error ? `failed: ${result.message}` : result}`)
      if (!(result instanceof Error)) done[lastKind] = 1
    }
    return await judge(scene, { seed: run.seed, kinds: run.kinds, probes, remains, attacked: done, elapsedMs: Date.now() - started })
  } finally {
    await fleet.stop()
    await connection.close()
  }
}

/** Sends transfers in each direction of each bridge. Those after the attacks show whether transfers still arrive. */
async function sendEach({ devnet, sent, locks }: AttackScene): Promise<AnySent[]> {
  const each = await Promise.all(
    (['ethereum', 'bsc'] as const).map((source) => locks[source].run(() => sendWish(devnet, source, wishOf('all', indexesOf(source, 12))))),
  )
  sent.push(...each.flat())
  return each.flat()
}

/**
 * Adds a treasury, spending limits, a very high fee limit, routes to the receivers, plug-ins, and the delivery records
 * (which honest users do not need) to the config. Adds a canary, which no config names, to the environment.
 */
function prepared(devnet: Devnet, canary: string, receivers: ReceiverEnds, plugins: ConfigInput['bridges']['plugins']): Devnet {
  return {
    ...devnet,
    env: { ...devnet.env, SIGNER_URL: canary },
    relayerConfig() {
      const config = devnet.relayerConfig()
      const chains = Object.entries(config.chains).map(([name, chain]) => {
        const sums = {
          maxSpendingPerHourWei: String(mostPerHour[name as ChainKey]),
          maxSpendingPerDayWei: String(mostPerDay[name as ChainKey]),
        }
        const signing = { ...chain.signing, ...sums, maxCostPerTransactionWei: String(worstCost) }
        return [name, { ...chain, treasury: { address: treasury }, signing }]
      })
      // A high limit, so that only the keys' limits refuse the payments of `overspend`.
      const fees = { maxFeePerGas: '100000 gwei' }
      const bridges = { ...withReceivers(devnet, config.bridges, receivers), ...(plugins && { plugins }) }
      return { ...config, fees, bridges, chains: Object.fromEntries(chains) as typeof config.chains }
    },
  }
}

function withReceivers({ executor: network }: Devnet, bridges: ConfigInput['bridges'], receivers: ReceiverEnds): ConfigInput['bridges'] {
  const { executor } = bridges
  if (!network || !executor) throw new Error('The devnet was started without an Executor')
  const chains = Object.entries(executor.chains).map(([name, chain]) => [
    name,
    { ...chain, recordContract: network.ends[name as ChainKey].record },
  ])
  const routes = [...(bridges.receivers?.routes ?? []), ...receiverRoutes(receivers)]
  return { ...bridges, receivers: { routes }, executor: { ...executor, chains: Object.fromEntries(chains) as typeof executor.chains } }
}
