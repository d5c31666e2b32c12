import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckResult } from '../checker/checker.ts'
import { type LaneTransaction, laneTransactions } from '../checker/spending.ts'
import { type AnySent, keyOf } from '../devnet/sent.ts'
import type { Remains } from '../faults/drain.ts'
import { readLogs } from '../faults/logs.ts'
import { lookAtTransfers } from '../demo/follow.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import type { Attacked } from './attackers.ts'
import type { AttackKind } from './plan.ts'
import { findBelieved } from './believed.ts'
import { overspentKeys } from './overspend.ts'
import { judgeReceivers } from './receivers.ts'
import { type AttackScene, treasury, worstCost } from './scene.ts'

/** In a clean run, `delivered` equals `honest`, and all other counts of findings are 0. */
export interface AttackSummary {
  readonly seed: string
  readonly honest: number
  readonly delivered: number
  readonly lost: number
  readonly duplicateEffects: number
  /**
   * Number of deliveries that nobody sent or paid for or that no route lists, plus the number of lane transactions to
   * strangers, plus the number of balances of the thief above 0.
   */
  readonly stolen: number
  readonly paidTwice: number
  /** Number of lane transactions that may cost more than the config allows. */
  readonly overCap: number
  /** Number of keys that signed for more than their hourly or daily limit. */
  readonly overspent: number
  /** Number of messages of strangers that became transfers. */
  readonly believed: number
  /** Number of directions of bridges in which a transfer sent after the attacks did not arrive. */
  readonly stoppedRoutes: number
  /** Number of transfers that ended as cancelled although the target shows a delivery. */
  readonly falseCancels: number
  readonly leaks: number
  /** Number of orders that the API accepted without permission. */
  readonly unnamedOrders: number
  /** Number of honest requests that got no answer while attackers held connections to the API. */
  readonly shutOut: number
  /** Number of honest transfers that never ended, plus the number of lanes that never became idle. */
  readonly stuck: number
  readonly brokenTasks: number
  /** Number of processes whose memory exceeded 1 GiB. */
  readonly bloated: number
  /** Number of processes that ended by themselves and were started again. */
  readonly crashes: number
  /** Number of kinds of attacks that were never carried out, so that the run shows nothing about them. */
  readonly notTried: number
  readonly attacks: Attacked
  readonly seconds: number
}

export interface JudgeInput {
  readonly seed: string
  readonly kinds: readonly AttackKind[]
  readonly probes: readonly AnySent[]
  readonly remains: Remains
  readonly attacked: Attacked
  readonly elapsedMs: number
}

export async function judge(scene: AttackScene, { seed, kinds, probes, remains, attacked, elapsedMs }: JudgeInput): Promise<AttackSummary> {
  const { devnet, sent, hostile, cancelled } = scene
  const check = await devnet.check([...sent, ...cancelled, ...hostile])
  const effects = effectsOf(check)
  const messages = await judgeReceivers(scene)
  if (check.foreignCompletions + messages.foreign > 0)
    scene.say(
      `stolen: ${check.foreignCompletions} deliveries that nobody sent or paid for, ${messages.foreign} messages that no route lists`,
    )
  const spent = (await Promise.all(['ethereum', 'bsc'].map((chain) => transactionsOf(scene, chain as 'ethereum' | 'bsc')))).flat()
  const runs = await lookAtTransfers(scene.client)
  const { loggedKeys, brokenTasks } = await readLogs(devnet, Infinity)
  const of = (one: AnySent) => effects.get(keyOf(one)) ?? 0
  const strangers = spent.filter((one) => isStranger(scene, one))
  for (const { chain, hash, to, value } of strangers) scene.say(`stolen: ${hash} on ${chain} to ${to}, ${value} wei`)
  const dear = spent.filter(({ gasLimit, maxFee, value }) => gasLimit * maxFee + value > worstCost)
  for (const { chain, hash, gasLimit, maxFee } of dear) scene.say(`over the cap: ${hash} on ${chain}, ${gasLimit} gas at ${maxFee} wei`)
  // Attackers start runs with the number of a genuine transfer, and the operator may cancel such a run.
  const hasEnded = (one: AnySent, as: TransferState) => runs.some(({ key, state }) => key === keyOf(one) && state === as)
  const falseCancels = cancelled.filter((one) => of(one) > 0 && hasEnded(one, 'cancelled') && !hasEnded(one, 'delivered'))
  for (const one of falseCancels) scene.say(`cancelled and delivered: ${keyOf(one)}`)
  const notTried = kinds.filter((kind) => !attacked[kind])
  if (notTried.length > 0) scene.say(`never carried out: ${notTried.join(', ')}`)
  return {
    seed,
    honest: sent.length + messages.honest,
    delivered: sent.filter((one) => of(one) === 1).length + messages.delivered,
    lost: sent.filter((one) => of(one) === 0).length + messages.lost,
    duplicateEffects: [...effects.values()].filter((count) => count > 1).length,
    stolen: check.foreignCompletions + messages.foreign + strangers.length + (await lootOf(scene)),
    paidTwice: scene.payments.filter(({ chain, amount }) => paymentsOf(spent, chain, amount) > 1).length,
    overCap: dear.length,
    overspent: overspentKeys(scene, spent),
    believed: (await findBelieved(scene)).size,
    stoppedRoutes: new Set(probes.filter((one) => of(one) === 0).map(({ source, emitter }) => `${source}/${emitter}`)).size,
    falseCancels: falseCancels.length,
    leaks: loggedKeys + (await leaksOf(scene)),
    unnamedOrders: scene.unnamedOrders.length,
    shutOut: scene.shutOut.length,
    stuck: remains.transfers.length + remains.lanes.length,
    brokenTasks,
    bloated: await bloatedOf(scene),
    crashes: scene.fleet.restarts,
    notTried: notTried.length,
    attacks: attacked,
    seconds: Math.round(elapsedMs / 100) / 10,
  }
}

export function isClean({ seed: _, honest, delivered, attacks: __, seconds: ___, ...counts }: AttackSummary): boolean {
  return honest > 0 && delivered === honest && Object.values(counts).every((count) => count === 0)
}

export function describe({ attacks, ...figures }: AttackSummary): string {
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(24)}${value}`)
  const done = Object.entries(attacks).toSorted(([a], [b]) => a.localeCompare(b))
  return [...rows, '  attacks', ...done.map(([kind, count]) => `    ${kind.padEnd(28)}${count}`)].join('\n')
}

function effectsOf({ findings, nativeFindings, nttFindings, executionFindings, cctpFindings }: CheckResult): Map<string, number> {
  return new Map([
    ...findings.map(({ transfer, redeemed }) => [keyOf(transfer), redeemed] as const),
    ...nativeFindings.map(({ transfer, completed }) => [keyOf(transfer), completed] as const),
    ...nttFindings.map(({ transfer, redeemed }) => [keyOf(transfer), redeemed] as const),
    ...executionFindings.map(({ transfer, received }) => [keyOf(transfer), received] as const),
    ...cctpFindings.map(({ transfer, received }) => [keyOf(transfer), received] as const),
  ])
}

function transactionsOf({ devnet }: AttackScene, chain: 'ethereum' | 'bsc'): Promise<LaneTransaction[]> {
  const addresses = devnet.lanes.filter((lane) => lane.chain === chain).map(({ address }) => address)
  return laneTransactions(chain, devnet.chains[chain].anvil.url, addresses)
}

/** Memory limit of the larger roles in the Helm chart, KiB. */
const mostKib = 1_048_576

async function bloatedOf({ fleet, say }: AttackScene): Promise<number> {
  const peaks = await Promise.all(
    fleet.alive.map(async ({ pid }) => Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])),
  )
  if (peaks.length === 0 || peaks.some(Number.isNaN)) throw new Error('/proc does not show how much memory the processes used')
  say(`maximum memory: ${peaks.map((kib) => `${Math.round(kib / 1024)} MiB`).join(', ')}`)
  return peaks.filter((kib) => kib > mostKib).length
}

/**
 * Whether a lane's transaction goes to a stranger. Bridge contracts, the treasury (for ordered payments) and, in a
 * no-op, the lane itself are not strangers.
 */
function isStranger({ devnet, payments, receivers }: AttackScene, { chain, from, to, value }: LaneTransaction): boolean {
  const name = chain as 'ethereum' | 'bsc'
  const { tokenBridge, redeemer } = devnet.chains[name]
  const ntt = devnet.ntt?.ends[name]
  const executor = devnet.executor?.ends[name]
  const paid = devnet.executor?.paid[name]
  if (to === from) return value !== 0n
  if (to === treasury) return !payments.some((payment) => payment.chain === chain && payment.amount === value)
  return ![
    tokenBridge,
    redeemer,
    receivers[name].contract,
    devnet.native?.ends[name].bridge,
    ntt?.manager,
    ...(ntt?.transceivers ?? []),
    executor?.receiver,
    executor?.dropOff,
    paid?.ntt?.manager,
    ...(paid?.ntt?.transceivers ?? []),
    ...Object.values(paid?.dropOffs ?? {}),
    ...Object.values(devnet.cctp?.ends[name].contracts ?? {}).map(({ transmitter }) => transmitter),
  ].includes(to)
}

function paymentsOf(spent: readonly LaneTransaction[], chain: string, amount: bigint): number {
  return spent.filter((one) => one.chain === chain && one.to === treasury && one.value === amount && one.succeeded).length
}

async function lootOf({ devnet, thief }: AttackScene): Promise<number> {
  const balances = await Promise.all(
    (['ethereum', 'bsc'] as const).flatMap((name) => {
      const { anvil, weth, token, wrappedWeth, wrappedToken } = devnet.chains[name]
      const tokens = [
        weth,
        token,
        wrappedWeth,
        wrappedToken,
        ...[devnet.native, devnet.ntt, devnet.cctp].flatMap((one) => one?.ends[name].token ?? []),
      ]
      const data = `0x70a08231${thief.address.slice(2).toLowerCase().padStart(64, '0')}`
      return [
        anvil.rpc<string>('eth_getBalance', [thief.address, 'latest']),
        ...tokens.map((to) => anvil.rpc<string>('eth_call', [{ to, data }, 'latest'])),
      ]
    }),
  )
  return balances.filter((balance) => BigInt(balance) > 0n).length
}

/**
 * Number of secrets (canary, keys) in Temporal's database and in logs, plus the number of requests that reached an
 * attacker's server.
 */
async function leaksOf({ devnet, overheard, canary }: AttackScene): Promise<number> {
  const files = (await readdir(devnet.dir)).filter((name) => /^temporal\.db(\.copy-\d+)?(-wal)?$|\.log$/.test(name))
  const secrets = [canary, ...devnet.lanes.map(({ privateKey }) => privateKey.slice(2))].map((secret) => Buffer.from(secret))
  const texts = await Promise.all(files.map((name) => readFile(join(devnet.dir, name))))
  return overheard.length + secrets.filter((secret) => texts.some((text) => text.includes(secret))).length
}
