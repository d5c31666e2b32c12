import type { Devnet } from '../devnet/index.ts'
import { startPortage } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { devnetTokenFeeWei } from '../devnet/relayer-config.ts'
import type { SentTransfer, UserTransfer } from '../devnet/wormhole/users.ts'
import { configSchema } from '../../config/schema.ts'
import { fetchSignedVaa } from '../../intake/vaa-lookup.ts'
import { createSubmitter } from '../../intake/submitter.ts'
import { connectNetwork } from '../../workers/network.ts'
import { allClosed, inParallel } from './yardsticks.ts'
import type { Client } from '@temporalio/client'

export interface BacklogResult {
  readonly perSecond: number
  readonly stateTransitions: number
  readonly historyEvents: number
  readonly delivered: number
  readonly revertedTransactions: number
  readonly maxPerLanePerBlock: number
}

/**
 * Transfers per second of `count` transfers that wait in Temporal when Portage starts, all to one chain, over all its keys; from when its
 * workers run to the last that is delivered at finality.
 */
export async function backlog(devnet: Devnet, client: Client, count: number): Promise<BacklogResult> {
  const sent = await send(devnet, count)
  await start(devnet, client, sent)
  const open = `WorkflowType = 'transfer'`
  const before = (await client.workflow.count(`${open} AND ExecutionStatus != 'Running'`)).count
  // All messages are in already, so that this process only works.
  const portage = await startPortage(devnet, { configure: (config) => ({ ...config, bridges: withoutSpy(config.bridges) }) })
  const started = Date.now()
  try {
    await allClosed(client, open, before + count)
    const perSecond = count / ((Date.now() - started) / 1000)
    const check = await devnet.check(sent)
    return { perSecond, ...(await costs(client, count)), ...check }
  } finally {
    await portage.stop(15_000)
  }
}

async function send(devnet: Devnet, count: number): Promise<SentTransfer[]> {
  const transfer: UserTransfer = { kind: 'token', amount: 10n ** 16n, fee: devnetTokenFeeWei }
  const sent: SentTransfer[] = []
  for (let left = count; left > 0; left -= 200) {
    sent.push(...(await devnet.users.ethereum.send(Array.from({ length: Math.min(200, left) }, () => transfer))))
  }
  return sent
}

/** Submits all messages, as the spy would, while no worker serves the queue. */
async function start(devnet: Devnet, client: Client, sent: readonly SentTransfer[]): Promise<void> {
  const config = configSchema.parse(devnet.relayerConfig())
  const network = await connectNetwork(config)
  try {
    const submitter = createSubmitter({ bridges: network.bridges, client })
    const apis = config.bridges['wormhole-token-bridge']?.guardianApis ?? []
    await inParallel(sent.length, 20, async (index) => {
      const one = sent[index]
      if (!one) return
      const key = { chain: one.emitterChain, emitter: one.emitter, sequence: String(one.sequence) }
      const vaa = await until(() => fetchSignedVaa(apis, key), { timeoutMs: 60_000, everyMs: 200, what: 'the guardian to sign' })
      await submitter.submit('wormhole-token-bridge', vaa)
    })
  } finally {
    network.close()
  }
}

async function costs(client: Client, count: number): Promise<{ stateTransitions: number; historyEvents: number }> {
  let stateTransitions = 0
  let historyEvents = 0
  let seen = 0
  // The newest come first.
  for await (const info of client.workflow.list({ query: "WorkflowType = 'transfer'", pageSize: 1000 })) {
    stateTransitions += Number(info.raw.stateTransitionCount ?? 0)
    historyEvents += info.historyLength
    if (++seen === count) break
  }
  return { stateTransitions: stateTransitions / count, historyEvents: historyEvents / count }
}

function withoutSpy<T extends { 'wormhole-token-bridge'?: { spy?: unknown } | undefined }>(bridges: T): T {
  const { spy: _, ...rest } = bridges['wormhole-token-bridge'] ?? {}
  return { ...bridges, 'wormhole-token-bridge': rest }
}
