import { Client, type WorkflowClientInterceptor } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { encodeBase64, toUtf8Bytes, toUtf8String } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../../../lab/devnet/until.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import type { Transfer, TransferState } from '../../../domain/transfer/transfer.ts'
import { createGapFiller } from '../../../intake/streams/signed/gaps/fill-gaps.ts'
import { createProvedTransfers } from '../../../intake/streams/signed/audit/proved-transfers.ts'
import { createLostTransfers } from '../../../intake/streams/signed/audit/lost-transfers.ts'
import { createOutcomeReporter } from '../../../intake/streams/transfer-outcomes.ts'
import { endedSince, parkedPage, runningTransfers } from '../../../temporal/client/streams/stream-transfers.ts'
import { unused } from '../../helpers/unused.ts'
import { silentLogger } from '../../../observability/logger.ts'
import type { TransferInput } from '../../../temporal/contracts/transfer.ts'
import { chainQueue, searchAttributes, transferId } from '../../../temporal/contracts/names.ts'
import { workflowBundle } from '../../../workers/process/bundle.ts'
import { type Temporal } from '../../../workers/process/temporal.ts'
import { connectTestTemporal } from '../../helpers/temporal.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'

const emitter = '33'.padStart(64, '0')
const stream = `wormhole-token-bridge:a:${emitter}`
const waitLimit = { timeoutMs: 90_000, everyMs: 100 }

/** One of the two target chains has no worker. */
describe('how the transfers of an emitter end', () => {
  let temporal: Temporal
  let worker: Worker
  let serving: Promise<void>
  const of = { bridge: 'wormhole-token-bridge' as const, sourceChain: 'a', emitter }

  const transferOf = (number: number, targetChain: string): Transfer => ({
    ...of,
    sourceId: '2',
    targetChain,
    sequence: String(number),
    digest: `0x${String(number).padStart(64, '0')}`,
    message: encodeBase64(toUtf8Bytes(String(number))),
  })
  async function start(number: number, targetChain: string, state: TransferState, message?: string): Promise<void> {
    const transfer = { ...transferOf(number, targetChain), ...(message && { message }) }
    await temporal.client.workflow.start('transfer', {
      workflowId: transferId(transfer),
      taskQueue: chainQueue(targetChain),
      args: [{ transfer } satisfies TransferInput],
      typedSearchAttributes: [
        { key: searchAttributes.TransferState, value: state },
        { key: searchAttributes.Bridge, value: of.bridge },
        { key: searchAttributes.SourceChain, value: of.sourceChain },
        { key: searchAttributes.TargetChain, value: targetChain },
      ],
    })
  }

  function agentOf(...numbers: number[]) {
    const requests: StreamRequest[] = []
    const state: StreamState = {
      ...initialStream({ stream, origin: '1/0xaa', first: '0', maxOpen: 10 }),
      next: '100',
      open: numbers.map((number) => ({ number: String(number) })),
    }
    const streamClient = {
      apply: async (some: readonly StreamRequest[]) => {
        requests.push(...some)
        return undefined
      },
    }
    const source = { ...of, emitterChain: 2, config: state.config, delivered: async () => [] }
    const asked: string[] = []
    const interceptor: WorkflowClientInterceptor = {
      query(input, next) {
        asked.push(input.workflowExecution.workflowId ?? '')
        return next(input)
      },
    }
    const { connection, namespace } = temporal
    const client = new Client({ connection, namespace, interceptors: { workflow: [interceptor] } })
    // A message is a number, and every message counts as signed.
    const bridge = {
      name: of.bridge,
      decode: (bytes: Uint8Array) => transferOf(Number(toUtf8String(bytes)), 'unserved'),
      endpoints: onEveryChain({ verify: async () => ({ kind: 'valid' }) }),
    } as unknown as Parameters<typeof createProvedTransfers>[0]['bridge']
    const proved = createProvedTransfers({ source, bridge, client, logger: silentLogger() })
    const deps = { source, streamClient, client, proved, logger: silentLogger() }
    return { requests, state, asked, deps, outcomes: createOutcomeReporter(deps, endedSince), lost: createLostTransfers(deps) }
  }

  beforeAll(async () => {
    ;({ temporal } = await connectTestTemporal())
    const admit = () => ({ kind: 'rejected', code: 'PAYLOAD_KIND', reason: 'a test' })
    const { connection } = temporal
    const bundle = await workflowBundle(silentLogger())
    worker = await Worker.create({ connection, taskQueue: chainQueue('served'), activities: { admit }, workflowBundle: bundle })
    serving = worker.run()
  })
  afterAll(async () => {
    worker?.shutdown()
    await serving
  })

  test('ended transfers are recorded while parked ones of a chain without a worker are silent', async () => {
    for (let number = 1; number <= 30; number++) await start(number, 'unserved', 'parked')
    await start(50, 'served', 'admitting')
    const listed = async () => [...(await parkedPage(temporal.client, of, 1_000)).listed, ...(await endedSince(temporal.client, of, 0))]
    const settled = async () => (await listed()).filter(({ number, running }) => running === (number !== '50')).length
    await until(async () => (await settled()) === 31, { ...waitLimit, what: 'the one to end, and the others to be listed' })
    const { requests, state, asked, outcomes } = agentOf(1, 2, 3, 50)
    await outcomes.report(state)
    expect(requests).toEqual([{ kind: 'closed', number: '50', outcome: 'rejected', reason: expect.any(String) }])
    expect(asked.toSorted()).toEqual([1, 2, 3].map((number) => transferId(transferOf(number, 'unserved'))))
    requests.length = 0
    asked.length = 0
    await outcomes.report(state)
    expect(asked).toEqual([])
    expect(requests.filter(({ kind }) => kind !== 'closed')).toEqual([])
  })

  test('running transfers are recorded, and neither fetched nor submitted again', async () => {
    await Promise.all([200, 201].map((number) => start(number, 'unserved', 'admitting')))
    // A stranger has started a run with the missing number.
    await start(199, 'unserved', 'admitting', 'no message')
    const listed = async () => (await runningTransfers(temporal.client, of)).filter(({ number }) => Number(number) >= 199).length === 3
    await until(listed, { ...waitLimit, what: 'the three to be listed' })
    const { requests, state, deps } = agentOf()
    const fetched: string[] = []
    const gaps = createGapFiller(
      {
        ...deps,
        ...{ freshMs: 0, rangeBlocks: 10, lookBackMs: 0, view: undefined },
        source: { ...deps.source, emitterChain: 1, highest: unused('highest'), published: unused('published') },
        chain: { name: 'a', block: unused('block'), heads: { current: undefined, subscribe: unused('subscribe') } },
        bridge: unused('bridge'),
        submitter: { submit: unused('submit') },
        lookup: {
          find: async ({ sequence }: { sequence: string }) => (fetched.push(sequence), { kind: 'absent' as const, againInMs: 60_000 }),
          held: async () => false,
        },
      } as unknown as Parameters<typeof createGapFiller>[0],
      60_000,
    )
    const report = await gaps.fillGaps({ ...state, gaps: [{ from: '199', to: '201', state: 'unobserved', at: 0 }] }, '300')
    expect(fetched).toEqual(['199'])
    expect(requests[0]).toEqual({ kind: 'seen', numbers: [['200'], ['201']] })
    expect(report.absent).toBe(1)
  })

  test('a lost transfer is checked in quick succession for a limited time', async () => {
    const { state, lost } = agentOf(70)
    expect(lost.suspects).toBe(false)
    expect(await lost.find(state)).toEqual([])
    expect(lost.suspects).toBe(true)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now')
    try {
      clock.mockImplementation(() => now() + 20_000)
      expect([await lost.find(state), lost.suspects]).toEqual([['70'], true])
      clock.mockImplementation(() => now() + 10 * 60_000)
      expect([await lost.find(state), lost.suspects]).toEqual([['70'], false])
    } finally {
      clock.mockRestore()
    }
  })
})
