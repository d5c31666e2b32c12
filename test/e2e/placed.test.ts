import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configSchema } from '../../config/schema/schema.ts'
import { idOf } from '../../config/chains.ts'
import { firstIn } from '../../domain/stream/places.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { accountIndex, devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createVaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { silentLogger } from '../../observability/logger.ts'
import type { Service } from '../../runtime/wait.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'
import { createChainWorker } from '../../workers/roles/chain.ts'
import { createContext } from '../../workers/roles/context.ts'
import { auditHere, startIntake } from '../../workers/roles/intake.ts'
import { createLaneWorker, signingLanes } from '../../workers/roles/lane.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { type PlacedStage, type PlacedStream, type Sent, startPlacedStage } from '../helpers/placed-stage.ts'

const variable = 'PORTAGE_TEST_PLACED_KEY'
const lane = devnetAccount(accountIndex.lane)

/** Starts a process of all roles. Its only bridge is the test's own, which is in no registry. */
async function startProcess({ ledgers, bridge, source, target, nodes, targetAnvil }: PlacedStage) {
  process.env[variable] = lane.privateKey
  const chainAt = (networkId: string, urls: readonly string[], lanes: object[] = []) => ({
    ...{ family: 'evm', networkId: Number(networkId), blockTimeMs: 300, finality: { kind: 'tag' } },
    ...{ nodes: urls.map((url) => ({ url })), lanes },
  })
  const config = configSchema.parse({
    dataFolder: temporaryFolder(),
    temporal: { address: ledgers.server.address, namespace: 'default', useEnvironment: false },
    chains: {
      source: chainAt(
        source.networkId,
        nodes.map(({ url }) => url),
      ),
      target: chainAt(target.networkId, [targetAnvil.url], [{ address: lane.address, signer: { kind: 'environment', variable } }]),
    },
    bridges: {},
    streams: { auditMinutes: 0.05 },
  })
  const { temporal } = ledgers
  const chains = new Map([source, target].map((chain) => [chain.name, chain]))
  const vaaLookup = createVaaLookup({ guardianApis: [], wormholescanApis: [] })
  const network = { chains, served: ['source', 'target'], bridges: new Map([[bridge.name, bridge]]), vaaLookup, close: () => {} }
  const context = createContext({
    ...{ config, client: temporal.client, network, settings: () => noSettings },
    ...{ logger: silentLogger(), metrics: createMetrics() },
  })
  const hosting = { temporal, tuning: { ...defaultTuning, graceMs: 0 } }
  const lanes = await Promise.all(
    signingLanes({ ...context, network: { ...network, served: ['target'] } }, undefined).map((one) =>
      createLaneWorker(one, context, hosting),
    ),
  )
  const localLanes = new Map(lanes.flatMap(({ agent, local }) => (local ? [[agent.lane, local] as const] : [])))
  const { worker, services } = await createChainWorker('target', context, hosting, localLanes)
  const workers = [...lanes.map((one) => one.worker), worker]
  const running = workers.map((one) => one.run())
  const intake = startIntake(context)
  return {
    context,
    laneId: idOf(config.chains['target']!, lane.address),
    async stop() {
      await intake.stop()
      for (const one of workers) one.shutdown()
      await Promise.all(running)
      await Promise.all(services.map((service: Service) => service.stop()))
      for (const { agent } of lanes) agent.stop()
    },
  }
}

describe('messages whose numbers are places', () => {
  let stage: PlacedStage
  let stream: PlacedStream
  let portage: Awaited<ReturnType<typeof startProcess>>
  let before: Sent[]
  beforeAll(async () => {
    stage = await startPlacedStage()
    stream = await stage.stream()
    before = await stream.send('before Portage starts', 'another', 'delivered by a stranger')
    await stage.relay(...before.slice(2))
    portage = await startProcess(stage)
  })
  afterAll(async () => {
    await portage?.stop()
    await stage?.stop()
  })

  const client = () => stage.ledgers.temporal.client
  const resultOf = async (sent: Sent) => {
    const id = transferId(await stream.transferOf(sent))
    await until(() => stream.run(sent), { timeoutMs: 60_000, what: `${id} to be started` })
    return (await client().workflow.getHandle(id).result()) as TransferStatus
  }

  test('messages from before and after the start are delivered, and the watermark reaches the last block', async () => {
    const after = await stream.send('after', 'one more')
    const own = [...before.slice(0, 2), ...after]
    for (const sent of own) expect(await resultOf(sent)).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    const view = await stream.shows(({ open, nextHeight = 0 }) => open === 0 && nextHeight > (after[0]?.height ?? 0), 'all to be over')
    expect(view).toMatchObject({
      gaps: {},
      alarms: [],
      counts: { completed: 4, forks: 0 },
      completedNumber: String(firstIn(view.nextHeight ?? 0) - 1n),
    })
    expect(await stream.run(before[2]!)).toBeUndefined()
  })

  test("another relayer's delivery ends the transfer, and the transfer resolves its number", async () => {
    const order = { by: 'ops', reason: 'a test' }
    await stage.ledgers.order(portage.laneId, { kind: 'pause', id: 'pause', order, pause: { kind: 'operator', reason: order.reason } })
    const [sent] = await stream.send('of a race')
    if (!sent) throw new Error('nothing was sent')
    await stream.shows(({ open }) => open === 1, 'the transfer')
    await stage.relay(sent)
    await stage.ledgers.order(portage.laneId, { kind: 'resume', id: 'resume', order })
    expect(await resultOf(sent)).toMatchObject({ state: 'delivered', delivery: { ours: false } })
    await stream.shows(({ open, counts }) => open === 0 && counts.completed === 5, 'the number to be resolved')
  })

  test('an audit by a running process reads blocks again, and finds nothing to do', async () => {
    const audit = await until(() => auditHere(portage.context, stream.source.config.stream), { timeoutMs: 60_000, what: 'the audit' })
    expect(audit).toMatchObject({ gaps: 0, completed: 0, started: 0, closed: 0, undone: 0, height: expect.any(Number) })
  })
})
