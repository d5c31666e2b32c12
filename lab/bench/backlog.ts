import type { Client } from '@temporalio/client'
import { configSchema } from '../../config/schema/schema.ts'
import { fetchSignedVaa } from '../../intake/submit/vaa-lookup.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import { connectNetwork } from '../../workers/roles/network.ts'
import type { CheckResult } from '../checker/checker.ts'
import type { Devnet } from '../devnet/index.ts'
import { startPortage } from '../devnet/portage-process.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import type { SentTransfer } from '../devnet/wormhole/users.ts'
import { type BlockClock, startBlockClock } from './block-clock.ts'
import { type Closed, inParallel } from './closes.ts'
import { type Measured, namedThreads } from './cpu-meter.ts'
import { type Form, withForm } from './form.ts'
import { measure, type Measurement } from './measure.ts'
import { rpcCallsByMethod } from './rpc-calls.ts'
import { sendTokens } from './send-tokens.ts'
import { workerName } from './yardsticks.ts'

export interface BacklogOptions {
  readonly count: number
  readonly form: Form
  readonly others: Measured
}

export interface BacklogMeasurement extends Measurement {
  readonly check: Pick<
    CheckResult,
    'delivered' | 'lost' | 'duplicates' | 'revertedTransactions' | 'maxPerLanePerBlock' | 'gasPerTransaction'
  >
  /** JSON-RPC calls of the relayer by method, from its start to the last close. */
  readonly rpcCalls: readonly (readonly [string, number])[]
  /**
   * Number of requests to the guardians' servers for signed messages. All are unnecessary, because Temporal has the
   * messages.
   */
  readonly fetchedAgain: number
  readonly startMs: number
  /**
   * Time from the first block with a delivery to the first close, ms: the time to the block's finality, plus a workflow
   * task.
   */
  readonly firstCloseMs: number
}

const noAudits = { everyMinutes: 10_080 } as const

/**
 * Measures the delivery of transfers that are already in Temporal when Portage starts, from Portage's readiness to the
 * last close.
 */
export async function backlog(devnet: Devnet, client: Client, { count, form, others }: BacklogOptions): Promise<BacklogMeasurement> {
  const from = new Date().toISOString()
  const sent = await sendTokens(devnet, count)
  await submit(devnet, client, sent)
  const asked = devnet.guardian.api.requests.length
  const clock = await startBlockClock(devnet.chains.bsc.anvil.url)
  const starting = Date.now()
  const configure = (config: ConfigInput) => ({
    ...withForm(config, form),
    ...{ bridges: withoutSpy(config.bridges), audit: noAudits, streams: { ...config.streams, auditMinutes: 600 } },
  })
  const portage = await startPortage(devnet, { configure, env: namedThreads })
  const startMs = Date.now() - starting
  const giveUp = () => portage.ended && `Portage ${portage.ended}: ${portage.tail()}`
  try {
    const query = `WorkflowType = 'transfer' AND StartTime >= '${from}'`
    const measurement = await measure({ client, query, count, measured: { ...others, [workerName]: [portage.pid] }, giveUp })
    const rpcCalls = await rpcCallsByMethod(portage)
    const fetchedAgain = fetches(devnet.guardian.api.requests.slice(asked), sent)
    const check = await devnet.check(sent)
    const firstCloseMs = firstCloseOf(measurement.closed, check.findings, clock)
    return { ...measurement, check, rpcCalls, fetchedAgain, startMs, firstCloseMs }
  } finally {
    await Promise.all([portage.stop(15_000), clock.stop()])
  }
}

function firstCloseOf(closed: readonly Closed[], findings: CheckResult['findings'], clock: BlockClock): number {
  const first = Math.min(...findings.map(({ blockHeight }) => blockHeight ?? Infinity))
  return Math.min(...closed.map(({ closedAt }) => closedAt)) - (clock.at(first) ?? Number.NaN)
}

/** Starts the transfers as the intake does for messages of the spy. No worker serves their queue yet. */
async function submit(devnet: Devnet, client: Client, sent: readonly SentTransfer[]): Promise<void> {
  const config = configSchema.parse(devnet.relayerConfig())
  const network = await connectNetwork(config)
  try {
    const submitter = createSubmitter({ bridges: network.bridges, client })
    await inParallel(sent.length, 20, async (index) => {
      const one = sent[index]
      if (!one) return
      const key = { chain: one.emitterChain, emitter: one.emitter, sequence: String(one.sequence) }
      const vaa = await until(() => fetchSignedVaa(network.vaaLookup, key, async (signed) => signed), {
        timeoutMs: 60_000,
        everyMs: 200,
        what: 'the guardian to sign',
      })
      await submitter.submit('wormhole-token-bridge', vaa)
    })
  } finally {
    network.close()
  }
}

export function fetches(requests: readonly string[], sent: readonly Pick<SentTransfer, 'emitterChain' | 'emitter' | 'sequence'>[]): number {
  const paths = new Set(sent.map(({ emitterChain, emitter, sequence }) => `/v1/signed_vaa/${emitterChain}/${emitter}/${sequence}`))
  return requests.filter((path) => paths.has(path)).length
}

/** Removes the spies, so that the relayer only delivers. Temporal already has all messages. */
function withoutSpy(bridges: ConfigInput['bridges']): ConfigInput['bridges'] {
  return { ...bridges, 'wormhole-token-bridge': { ...bridges['wormhole-token-bridge'], spies: [] } }
}
