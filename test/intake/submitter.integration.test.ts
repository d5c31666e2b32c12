import { Client, Connection } from '@temporalio/client'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { upgradeGuardians } from '../../lab/devnet/wormhole/guardian-sets.ts'
import { startSpy } from '../../lab/devnet/wormhole/spy.ts'
import { type TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { createSpyIntake } from '../../intake/spy/spy.ts'
import { createSubmitter, type Submitter } from '../../intake/submit/submitter.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { searchAttributes, transferId } from '../../temporal/contracts/names.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { startTokenBridge, type TokenBridgeNetwork } from '../helpers/token-bridge.ts'
import { altered } from '../helpers/vaa.ts'
import { startTestTemporal } from '../helpers/temporal.ts'
import { cleanUp } from '../helpers/clean-up.ts'

const bridge = 'wormhole-token-bridge'
const waitLimit = { timeout: 60_000 }

describe('the submitter', () => {
  let network: TokenBridgeNetwork
  let temporal: TemporalServer
  let connection: Connection
  let client: Client
  let submitter: Submitter

  beforeAll(async () => {
    ;[network, temporal] = await Promise.all([startTokenBridge(), startTestTemporal()])
    cleanUp(() => network.stop())
    connection = await Connection.connect({ address: temporal.address })
    cleanUp(() => connection.close())
    client = new Client({ connection, namespace: temporal.namespace })
    submitter = newSubmitter()
  })

  const newSubmitter = (startTimeoutMs = 60_000) =>
    createSubmitter({ bridges: new Map([[bridge, network.bridge()]]), client, startTimeoutMs })
  const describeIt = (id: string) => client.workflow.getHandle(id).describe()
  const runs = async (id: string) => {
    const { runId } = await describeIt(id)
    return runId
  }

  test('an input that Temporal refuses for its size says so, and not that Temporal is away', async () => {
    const transfer = { ...network.bridge().decode(network.message().bytes), message: 'A'.repeat(2_200_000) }
    expect(await codeOfAsync(() => startTransfer(client, 'too large', { transfer }))).toBe('MESSAGE_TOO_LARGE')
  })

  test('a submitted transfer can be found by its attributes', async () => {
    const { bytes } = network.message()
    const transfer = network.bridge().decode(bytes)
    const result = await submitter.submit(bridge, bytes)
    expect(result).toEqual({
      id: `${bridge}:4:${transfer.emitter}:${transfer.sequence}:${transfer.digest.slice(2, 18)}`,
      status: 'started',
    })
    const info = await describeIt(result.id)
    expect(info.memo?.['content']).toMatchObject({ amount: '100000000', decimals: '8' })
    expect(info).toMatchObject({ type: 'transfer', taskQueue: 'chain:ethereum', status: { name: 'RUNNING' } })
    const attributes = Object.fromEntries(
      Object.entries(searchAttributes).map(([name, key]) => [name, info.typedSearchAttributes.get(key)]),
    )
    expect(attributes).toEqual({
      TransferState: 'admitting',
      Bridge: bridge,
      SourceChain: 'bsc',
      TargetChain: 'ethereum',
      Lane: undefined,
      TxHash: undefined,
    })
    expect(await info.staticSummary()).toBe(`wormhole-token-bridge: bsc → ethereum, sequence ${transfer.sequence}`)
    const { events } = await client.workflow.getHandle(result.id).fetchHistory()
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data
    expect(JSON.parse(Buffer.from(input ?? []).toString())).toEqual({ transfer, seenAt: expect.any(Number) as number })
  })

  test('the same message is known to another process, and with other signatures', async () => {
    const message = network.message()
    const { id, status } = await submitter.submit(bridge, message.bytes)
    const run = await runs(id)
    expect([status, await submitter.submit(bridge, message.bytes), await newSubmitter().submit(bridge, message.bytes)]).toEqual([
      'started',
      { id, status: 'known' },
      { id, status: 'known' },
    ])
    expect(await runs(id)).toBe(run)
  })

  test('concurrent submissions of a message start one workflow', async () => {
    const { bytes } = network.message()
    const results = await Promise.all(Array.from({ length: 20 }, () => newSubmitter().submit(bridge, bytes)))
    expect(new Set(results.map(({ id }) => id)).size).toBe(1)
    expect(results.filter(({ status }) => status === 'started')).toHaveLength(1)
  })

  test('a transfer that closed undone is restarted, except for a repeating source', async () => {
    const { bytes } = network.message()
    const { id } = await submitter.submit(bridge, bytes)
    const run = await runs(id)
    await client.workflow.getHandle(id).terminate('by a test')
    expect(await submitter.submit(bridge, bytes, { repeats: 'skip' })).toEqual({ id, status: 'known' })
    expect(await runs(id)).toBe(run)
    expect(await submitter.submit(bridge, bytes)).toEqual({ id, status: 'started' })
    expect(await runs(id)).not.toBe(run)
  })

  /** Starts a run that ends as rejected, which any stranger with access to Temporal can do. */
  async function reject(id: string, input: unknown): Promise<void> {
    const { namespace } = temporal
    const TransferState = { key: searchAttributes.TransferState, value: 'rejected' }
    await client.workflow.start('transfer', {
      ...{ workflowId: id, taskQueue: id, args: [input], typedSearchAttributes: [TransferState] },
    })
    const poll = { namespace, taskQueue: { name: id }, identity: 'a forger' }
    const { taskToken } = await connection.withDeadline(Date.now() + 120_000, () => client.workflowService.pollWorkflowTaskQueue(poll))
    // temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION.
    const commands = [{ commandType: 4, completeWorkflowExecutionCommandAttributes: {} }]
    await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, identity: 'a forger', commands })
    expect((await describeIt(id)).status.name).toBe('COMPLETED')
  }

  test('a valid message replaces a rejected run of another message under its id', async () => {
    const { bytes } = network.message()
    const transfer = network.bridge().decode(bytes)
    const id = transferId(transfer)
    await reject(id, { transfer: { ...transfer, message: Buffer.from(altered(bytes, 20, 1, 2, 3)).toString('base64') } })
    expect(await submitter.submit(bridge, bytes)).toEqual({ id, status: 'started' })
    expect((await describeIt(id)).status.name).toBe('RUNNING')
    await client.workflow.getHandle(id).terminate('by a test')
    await reject(id, { transfer })
    expect(await newSubmitter().submit(bridge, bytes)).toEqual({ id, status: 'known' })
    // A copy with other terms counts as the same message.
    const terms = { maxFeePerGas: '5' }
    expect(await newSubmitter().submit(bridge, bytes, { terms })).toEqual({ id, status: 'known' })
  })

  test('a rejected run is replaced once in a while, however often it is repeated', async () => {
    const { bytes } = network.message()
    const id = transferId(network.bridge().decode(bytes))
    const other = null
    await reject(id, other)
    expect(await submitter.submit(bridge, bytes)).toEqual({ id, status: 'started' })
    await client.workflow.getHandle(id).terminate('by a test')
    await reject(id, other)
    expect(await submitter.submit(bridge, bytes)).toEqual({ id, status: 'known' })
  })

  test('repeats of a source send nothing to Temporal', async () => {
    const { bytes } = network.message()
    const { id } = await submitter.submit(bridge, bytes, { repeats: 'skip' })
    const deaf = await Connection.connect({ address: temporal.address })
    const started = createSubmitter({ bridges: new Map([[bridge, network.bridge()]]), client: new Client({ connection: deaf }) })
    await started.submit(bridge, bytes, { repeats: 'skip' })
    await deaf.close()
    expect(await started.submit(bridge, bytes, { repeats: 'skip' })).toEqual({ id, status: 'known' })
  })

  test('the copies of several spies start their transfer with one call, and all learn of its failure', async () => {
    const start = vi.spyOn(client.workflow, 'start')
    const { bytes } = network.message()
    const submitBySpies = () => Promise.allSettled([1, 2, 3].map(() => submitter.submit(bridge, bytes, { repeats: 'skip' })))
    start.mockRejectedValueOnce(new Error('no answer'))
    const failed = await submitBySpies()
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(start).toHaveBeenCalledTimes(1)
    const done = await submitBySpies()
    expect(done.map((one) => one.status === 'fulfilled' && one.value.status)).toEqual(['started', 'known', 'known'])
    expect(start).toHaveBeenCalledTimes(2)
    start.mockRestore()
  })

  test('a message with invalid signatures takes no id, and the reason is reported', async () => {
    const good = network.message()
    const refusals: [Uint8Array, string][] = [
      [good.bytes.subarray(0, 40), 'VAA_TRUNCATED'],
      [altered(good.bytes, 0, 9), 'VAA_VERSION'],
      [altered(good.bytes, 20, 1, 2, 3), 'VAA_SIGNATURE_INVALID'],
      [network.message({}, {}, { signers: [] }).bytes, 'VAA_NO_QUORUM'],
      [network.message({}, {}, { setIndex: 1 }).bytes, 'GUARDIAN_SET_UNKNOWN'],
      [network.message({}, {}, { setIndex: 2 }).bytes, 'GUARDIAN_SET_IMPOSSIBLE'],
      [network.message({ kind: 2 }).bytes, 'PAYLOAD_KIND'],
      [network.message({ toChain: 60 }).bytes, 'TARGET_CHAIN_UNSUPPORTED'],
      // Chain 4 is known, but this process has no connection to it.
      [network.message({ toChain: 4 }).bytes, 'TARGET_CHAIN_UNSUPPORTED'],
    ]
    for (const [bytes, code] of refusals) expect(await codeOfAsync(() => submitter.submit(bridge, bytes))).toBe(code)
    expect(await codeOfAsync(() => submitter.submit('no-bridge', good.bytes))).toBe('INPUT_INVALID')
    expect(await submitter.submit(bridge, good.bytes)).toMatchObject({ status: 'started' })
    const said = await submitter.submit(bridge, refusals[3]![0]).catch((error: Error) => error.message)
    expect(said).toBe(
      'Fewer guardians signed than a quorum needs. (signatures=0 needed=1) → Fetch a VAA with at least floor(2n/3)+1 signatures.',
    )
  })

  test('a signed message that is too large, or of another emitter, takes no workflow id', async () => {
    const forged = network.message({}, { emitter: 'ee'.repeat(32) })
    const large = network.message({ kind: 3, rest: `0x${'00'.repeat(200_000)}` })
    for (const [{ bytes }, code] of [
      [forged, 'EMITTER_UNKNOWN'],
      [large, 'MESSAGE_TOO_LARGE'],
    ] as const)
      expect(await codeOfAsync(() => submitter.submit(bridge, bytes))).toBe(code)
    await expect(describeIt(transferId(network.bridge().decode(forged.bytes)))).rejects.toThrow('not found')
  })

  test('a transfer adopts a copy of a newer guardian set once, and no copy of an older one', async () => {
    const copyOf = (sequence: bigint, setIndex: number) =>
      network.message({ to: `${'00'.repeat(12)}${'44'.repeat(20)}` }, { sequence }, { setIndex }).bytes
    const adopted = async (id: string) => {
      const { events } = await client.workflow.getHandle(id).fetchHistory()
      return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => (signal ? [signal.signalName] : []))
    }
    const { id } = await submitter.submit(bridge, copyOf(9_000n, 0), { repeats: 'skip' })
    await upgradeGuardians(network.ethereum, devnetGuardians(1), 1)
    const other = newSubmitter()
    expect(await other.submit(bridge, copyOf(9_000n, 1), { repeats: 'skip' })).toEqual({ id, status: 'known', adopted: true })
    // Each offer of a copy wakes the transfer.
    expect(await other.submit(bridge, copyOf(9_000n, 1))).toEqual({ id, status: 'known' })
    expect(await adopted(id)).toEqual(['adopt'])

    const later = await submitter.submit(bridge, copyOf(9_001n, 1), { repeats: 'skip' })
    expect(await newSubmitter().submit(bridge, copyOf(9_001n, 1), { repeats: 'skip' })).toEqual({ id: later.id, status: 'known' })
    expect(await adopted(later.id)).toEqual([])
  })

  test.each([
    ['nothing', []],
    ['no transfer', [{}]],
    ['a transfer without a message', [{ transfer: {} }]],
  ])('a run with the id of a message and %s delays no other message', async (_, args) => {
    // Earlier tests have installed guardian set 1.
    const { bytes } = network.message({}, {}, { setIndex: 1 })
    const id = transferId(network.bridge().decode(bytes))
    const TransferState = { key: searchAttributes.TransferState, value: 'admitting' }
    await client.workflow.start('transfer', { workflowId: id, taskQueue: id, args, typedSearchAttributes: [TransferState] })
    expect(await newSubmitter().submit(bridge, bytes, { repeats: 'skip' })).toEqual({ id, status: 'known' })
    await client.workflow.getHandle(id).terminate('by a test')
  })

  test('no message of the spy is lost while Temporal is down', async () => {
    const spy = await startSpy()
    const hasty = newSubmitter(2_000)
    const intake = createSpyIntake({
      bridge,
      address: spy.address,
      filters: [],
      submitter: hasty,
      logger: silentLogger(),
      metrics: createMetrics(),
      retry: { firstMs: 50, mostMs: 500 },
    })
    // Earlier tests have installed guardian set 1.
    const message = () => network.message({}, {}, { setIndex: 1 })
    const say = () => {
      const { bytes } = message()
      spy.publish(bytes, 4, 'aa'.repeat(32))
      return network.bridge().decode(bytes)
    }
    try {
      intake.start()
      await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
      say()
      await expect.poll(() => intake.health.started + intake.health.known, waitLimit).toBe(1)
      await temporal.kill('SIGKILL')
      const heard = Array.from({ length: 30 }, say)
      await expect
        .poll(() => intake.health, waitLimit)
        .toMatchObject({ received: 31, kept: 30, problem: expect.stringContaining('Temporal') })
      expect(await codeOfAsync(() => hasty.submit(bridge, message().bytes))).toBe('TEMPORAL_UNAVAILABLE')
      await temporal.restart()
      await expect.poll(() => intake.health, waitLimit).toMatchObject({ kept: 0, refused: {}, problem: undefined })
      // If the answer to a start was lost, the transfer exists, and the next try finds it as known.
      expect(intake.health.started + intake.health.known).toBe(31)
      for (const { sequence, emitter, digest } of heard) {
        expect((await describeIt(`${bridge}:4:${emitter}:${sequence}:${digest.slice(2, 18)}`)).status.name).toBe('RUNNING')
      }
    } finally {
      await intake.stop(100)
      await spy.stop()
    }
  })
})
