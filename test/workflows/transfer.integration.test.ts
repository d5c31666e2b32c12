import { ApplicationFailure } from '@temporalio/common'
import type { WorkflowHandle } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTemporal, type TemporalServer } from '../../devnet/temporal.ts'
import { until } from '../../devnet/until.ts'
import type { Transfer } from '../../domain/transfer.ts'
import { silentLogger } from '../../observability/logger.ts'
import type { TransferInput, TransferStatus } from '../../temporal/messages.ts'
import { adoptSignal, cancelSignal, retrySignal, rolledBackSignal } from '../../temporal/messages.ts'
import { chainQueue, laneQueue } from '../../temporal/names.ts'
import type {
  Admission,
  AdmitInput,
  BroadcastInput,
  BroadcastResult,
  ConfirmInput,
  Confirmation,
  Landed,
  Standing,
  WithdrawInput,
  Withdrawal,
} from '../../temporal/steps.ts'
import { workflowBundle } from '../../workers/bundle.ts'
import { connectTemporal, type Temporal } from '../../workers/temporal.ts'

const lanes = ['evm-1:0xa', 'evm-1:0xb'] as const
const transfer: Transfer = {
  bridge: 'wormhole-token-bridge',
  sourceChain: 'ethereum',
  targetChain: 'bsc',
  emitter: '00'.repeat(32),
  sequence: '1',
  digest: `0x${'00'.repeat(32)}`,
  message: 'b3du',
}
const landed: Landed = { nonce: 7, txHash: '0x07', blockHeight: 9, blockHash: '0x09', gasPaid: '1', attempts: 1 }
const timing = { grantMs: 0, sentMs: 0, includedMs: 0 }
const patience = { timeoutMs: 30_000, everyMs: 20 }

/** What the steps of a test answer; what they were asked is kept. */
interface Script {
  admit(input: AdmitInput): Admission
  broadcast(input: BroadcastInput): BroadcastResult
  confirm(input: ConfirmInput): Confirmation
  standing(): Standing
  withdraw(input: WithdrawInput): Withdrawal
}

const ready = (input: AdmitInput): Admission => {
  const lane = lanes.find((one) => !input.avoid?.includes(one))
  if (!lane) return { kind: 'waiting', code: 'LANE_NONE', reason: 'no other lane', retryInMs: 60_000 }
  return { kind: 'ready', lane, callHash: '0x', gasLimit: '1', maxFee: '1', tip: '1' }
}
const sound: Script = {
  admit: ready,
  broadcast: () => ({ kind: 'delivered', landed, timing }),
  confirm: () => ({ kind: 'gone' }),
  standing: () => ({ lane: { lane: lanes[0], open: true }, others: 1, patienceMs: 0 }),
  withdraw: () => ({ kind: 'free' }),
}

/**
 * The transfer workflow on a real server, with steps that answer what chains and ledgers answer only once in a while: each case here would
 * need hours of a stalled chain. Whole ways over real chains are in test/e2e.
 */
describe('A transfer on its way', () => {
  let server: TemporalServer
  let temporal: Temporal
  const workers: Worker[] = []
  let running: Promise<void>[] = []
  let script: Script
  let asked: { admit: AdmitInput[]; broadcast: BroadcastInput[]; confirm: ConfirmInput[]; withdraw: WithdrawInput[] }
  let count = 0

  beforeAll(async () => {
    // A new run is suggested after a few waits instead of some thousand events.
    server = await startTemporal({ inMemory: true, headless: true, dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': '30' } })
    temporal = await connectTemporal({ address: server.address, namespace: 'default' }, silentLogger())
    const { connection } = temporal
    const activities = {
      admit: async (input: AdmitInput) => (asked.admit.push(input), script.admit(input)),
      broadcast: async (input: BroadcastInput) => (asked.broadcast.push(input), script.broadcast(input)),
      confirm: async (input: ConfirmInput) => (asked.confirm.push(input), script.confirm(input)),
      standing: async () => script.standing(),
      withdraw: async (input: WithdrawInput) => (asked.withdraw.push(input), script.withdraw(input)),
    }
    const queues = [chainQueue('bsc'), ...lanes.map(laneQueue)]
    for (const taskQueue of queues) {
      workers.push(await Worker.create({ connection, taskQueue, activities, workflowBundle: await workflowBundle(silentLogger()) }))
    }
    running = workers.map((worker) => worker.run())
  })

  afterAll(async () => {
    for (const worker of workers) worker.shutdown()
    await Promise.all(running)
    await temporal?.connection.close()
    await server?.stop()
  })

  beforeEach(() => {
    script = { ...sound }
    asked = { admit: [], broadcast: [], confirm: [], withdraw: [] }
  })

  const start = (options: Omit<TransferInput, 'transfer'> = {}): Promise<WorkflowHandle> =>
    temporal.client.workflow.start('transfer', {
      workflowId: `transfer-${++count}`,
      taskQueue: chainQueue('bsc'),
      args: [{ transfer, ...options } satisfies TransferInput],
    })
  const status = (handle: WorkflowHandle) => handle.query<TransferStatus>('status')
  const reaches = (handle: WorkflowHandle, look: (status: TransferStatus) => boolean, what: string) =>
    until(async () => look(await status(handle)), { ...patience, what })
  const runs = async (handle: WorkflowHandle) => {
    const query = `WorkflowId = '${handle.workflowId}' AND ExecutionStatus = 'ContinuedAsNew'`
    return (await temporal.client.workflow.count(query)).count
  }
  /** Ends one wait after the other until a second run goes on. */
  async function nextRun(handle: WorkflowHandle): Promise<void> {
    const { execution } = (await handle.describe()).raw.workflowExecutionInfo ?? {}
    const renewed = async () => {
      await handle.signal(retrySignal)
      const now = (await handle.describe()).raw.workflowExecutionInfo?.execution
      return now?.runId !== execution?.runId
    }
    await until(renewed, { ...patience, everyMs: 100, what: 'a new run' })
  }

  test('pending for long: goes on in new runs with the same intent, without a look at the way so far', async () => {
    script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    await nextRun(handle)
    script.broadcast = sound.broadcast
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1, nonce: 7 })
    expect(asked.admit).toHaveLength(1)
    expect(new Set(asked.broadcast.map(({ intentId }) => intentId))).toEqual(new Set([`${handle.workflowId}/1`]))
    expect(asked.broadcast.map(({ again }) => again)).toEqual(asked.broadcast.map((_, index) => index > 0))
    await until(async () => (await runs(handle)) > 0, { ...patience, what: 'the run to be listed' })
  })

  test('far finality that stalls: goes on in new runs, and a cancel is not forgotten', async () => {
    script.broadcast = () => ({ kind: 'included', landed, finalInMs: 60_000, timing })
    script.confirm = () => ({ kind: 'unsettled', finalInMs: 60_000 })
    script.withdraw = () => ({ kind: 'held', nonce: 7 })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'included', 'the transfer to be included')
    await handle.signal(cancelSignal, { operator: 'night-shift', reason: 'a test' })
    await nextRun(handle)
    script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop' })
    script.confirm = () => ({ kind: 'gone' })
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'cancelled', reason: 'a test' })
    expect(asked.withdraw.every(({ how }) => how === 'cancel')).toBe(true)
  })

  test('reverted in a block that was not final yet: backs off, and is simulated again in another round', async () => {
    script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0, timing })
    script.confirm = () => ({ kind: 'reverted', reason: 'transaction 0x07 reverted' })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    expect(await status(handle)).toMatchObject({ code: 'DELIVERY_REVERTED', reason: 'transaction 0x07 reverted', rounds: 2 })
    script = { ...sound }
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 2 })
    expect(asked.admit).toHaveLength(2)
    expect(asked.broadcast.map(({ intentId }) => intentId.split('/').at(-1))).toEqual(['1', '2'])
  })

  test('a nonce that the ledger has done with while nobody looked counts as a try without effect', async () => {
    script.broadcast = ({ again }) => (again ? { kind: 'withdrawn' } : { kind: 'pending', nonce: 7, attempts: 1, reason: 'slow' })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    await handle.signal(retrySignal)
    await reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    expect(await status(handle)).toMatchObject({ code: 'DELIVERY_REVERTED', reason: 'nonce 7 was used without the effect', rounds: 2 })
    await handle.terminate()
  })

  test('a lane that gives no nonce is left for another; when none is left, the reason is what the last one said', async () => {
    script.broadcast = ({ lane }) => ({ kind: 'no-slot', code: 'LANE_FUNDS', reason: `${lane} is poor`, retryInMs: 5_000 })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    expect(asked.broadcast.map(({ lane }) => lane)).toEqual([...lanes])
    expect(await status(handle)).toMatchObject({ code: 'LANE_FUNDS', reason: `${lanes[1]}: ${lanes[1]} is poor` })
    script = { ...sound }
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0] })
  })

  test('a step that can never succeed parks it, visible, and it goes on when that is healed', async () => {
    script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0, timing })
    script.confirm = () => {
      throw ApplicationFailure.nonRetryable('the config has no such chain', 'TARGET_CHAIN_UNSUPPORTED')
    }
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    expect(await status(handle)).toMatchObject({ code: 'TARGET_CHAIN_UNSUPPORTED', reason: 'the config has no such chain' })
    script = { ...sound }
    await handle.signal(retrySignal)
    // It may hold a nonce: the same intent goes on.
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(asked.broadcast.map(({ again }) => again)).toEqual([false, true])
  })

  test('a copy by a guardian set that nobody knows does not replace the message', async () => {
    const unknown: Admission = { kind: 'waiting', code: 'GUARDIAN_SET_UNKNOWN', reason: 'set 99', retryInMs: 60_000 }
    const missing: Admission = { kind: 'waiting', code: 'WRAPPER_MISSING', reason: 'no wrapper', retryInMs: 60_000 }
    script.admit = (input) => (input.transfer.message === transfer.message ? missing : unknown)
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    await handle.signal(adoptSignal, { message: 'dHdv' })
    await until(() => asked.admit.length === 3, { ...patience, what: 'the copy and the message to be judged' })
    expect(asked.admit.map((input) => input.transfer.message)).toEqual([transfer.message, 'dHdv', transfer.message])
    await reaches(handle, ({ code }) => code === 'WRAPPER_MISSING', 'the message to wait for its wrapper')
    await handle.terminate()
  })

  test('a copy that comes while everything is halted replaces nothing unseen, and is judged when the halt ends', async () => {
    const halted: Admission = { kind: 'waiting', code: 'HALTED', reason: 'by night-shift: a test', retryInMs: 60_000 }
    script.admit = () => halted
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    await handle.signal(adoptSignal, { message: 'dHdv' })
    await until(() => asked.admit.length === 2, { ...patience, what: 'the copy to meet the halt' })
    const forged: Admission = { kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: 'not signed by a guardian' }
    script.admit = (input) => (input.transfer.message === transfer.message ? ready(input) : forged)
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    expect(asked.admit.map((input) => input.transfer.message)).toEqual([transfer.message, 'dHdv', 'dHdv', transfer.message])
  })

  describe('past its deadline', () => {
    const soon = () => Date.now() + 1_500

    test('while it waits for a gate: parked without a nonce, and retried it goes on without a deadline', async () => {
      script.admit = () => ({ kind: 'waiting', code: 'BRIDGE_PAUSED', reason: 'the bridge is paused', retryInMs: 60_000 })
      const deadline = soon()
      const handle = await start({ deadline })
      await reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      const late = `not delivered by ${new Date(deadline).toISOString()}; the bridge is paused`
      expect(await status(handle)).toMatchObject({ code: 'DEADLINE_PASSED', reason: late })
      expect(asked.withdraw).toEqual([])
      expect(asked.confirm.map(({ verdict }) => verdict)).toEqual([true])
      script = { ...sound }
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered' })
    })

    test('when someone has delivered it meanwhile: delivered, by whom', async () => {
      script.admit = () => ({ kind: 'waiting', code: 'BRIDGE_PAUSED', reason: 'the bridge is paused', retryInMs: 60_000 })
      script.confirm = () => ({ kind: 'delivered', delivery: { by: '0x02', ours: false } })
      expect(await (await start({ deadline: soon() })).result()).toMatchObject({ state: 'delivered', delivery: { by: '0x02' } })
    })

    test('while it holds a nonce: the lane is asked for its no-op, which wins, and it is parked', async () => {
      script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
      script.withdraw = () => {
        script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop' })
        return { kind: 'held', nonce: 7 }
      }
      const handle = await start({ deadline: soon() })
      await until(() => asked.withdraw.length > 0, { ...patience, what: 'the lane to be asked' })
      // Too early to be taken for the order to go on without a deadline: it only ends the wait.
      await handle.signal(retrySignal)
      await reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      expect(await status(handle)).toMatchObject({ code: 'DEADLINE_PASSED', rounds: 3 })
      // Once per run: a new one asks again.
      expect(new Set(asked.withdraw.map(({ how }) => how))).toEqual(new Set(['cancel']))
      expect(new Set(asked.broadcast.map(({ intentId }) => intentId)).size).toBe(1)
      script = { ...sound }
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered' })
    })

    test('while it holds a nonce whose call wins: delivered', async () => {
      script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
      script.withdraw = () => {
        script.broadcast = sound.broadcast
        return { kind: 'held', nonce: 7 }
      }
      const handle = await start({ deadline: soon() })
      await until(() => asked.withdraw.length > 0, { ...patience, what: 'the lane to be asked' })
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered', nonce: 7, rounds: 1 })
      expect(new Set(asked.withdraw.map(({ how }) => how))).toEqual(new Set(['cancel']))
    })

    test('in a new run the deadline is still known', async () => {
      script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
      script.withdraw = () => ({ kind: 'held', nonce: 7 })
      const handle = await start({ deadline: Date.now() + 6_000 })
      await reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
      await nextRun(handle)
      await until(() => asked.withdraw.some(({ how }) => how === 'cancel'), { ...patience, what: 'the lane to be asked for its no-op' })
      script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop' })
      await handle.signal(retrySignal)
      await reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      expect((await status(handle)).code).toBe('DEADLINE_PASSED')
      await handle.terminate()
    })
  })

  describe('on a lane that closes while it holds a nonce', () => {
    const closed = (why: 'forbidden' | 'unserved' | 'paused', others = 1, patienceMs = 0): Standing => ({
      lane: { lane: lanes[0], open: false, why, detail: 'a test' },
      others,
      patienceMs,
    })
    const stuck: Script['broadcast'] = ({ lane }) =>
      lane === lanes[0] ? { kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' } : sound.broadcast({} as BroadcastInput)

    test.each(['forbidden', 'unserved'] as const)('%s: the nonce is left to its lane, and another delivers', async (why) => {
      script.broadcast = stuck
      script.standing = () => closed(why)
      const handle = await start()
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[1], rounds: 2 })
      expect(asked.withdraw.map(({ how, lane }) => [how, lane])).toEqual([['abandon', lanes[0]]])
      expect(asked.broadcast.map(({ lane, again }) => [lane, again])).toEqual([
        [lanes[0], false],
        [lanes[1], false],
      ])
    })

    test.each([
      ['merely paused', () => closed('paused')],
      ['forbidden, with no other lane open', () => closed('forbidden', 0)],
      ['forbidden for less than the patience', () => closed('forbidden', 1, 60_000)],
    ])('%s: it stays', async (_, standing) => {
      script.broadcast = stuck
      script.standing = standing
      const handle = await start()
      await reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
      await handle.signal(rolledBackSignal, { intentId: `${handle.workflowId}/1`, nonce: 7 })
      await until(() => asked.broadcast.length > 1, { ...patience, what: 'the nonce to be followed again' })
      script.broadcast = sound.broadcast
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0], rounds: 1 })
      expect(asked.withdraw).toEqual([])
    })

    test('the ledger does not let it go: it stays', async () => {
      script.broadcast = stuck
      script.standing = () => closed('unserved')
      script.withdraw = () => ({ kind: 'held', nonce: 7 })
      const handle = await start()
      await until(() => asked.withdraw.length > 0, { ...patience, what: 'the ledger to be asked' })
      script.broadcast = sound.broadcast
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0], rounds: 1 })
    })

    test('cancelled: it stays, since nothing of it may be mined once it ends', async () => {
      script.broadcast = stuck
      script.standing = () => closed('forbidden')
      script.withdraw = () => ({ kind: 'held', nonce: 7 })
      const handle = await start()
      await handle.signal(cancelSignal, { operator: 'night-shift', reason: 'a test' })
      await until(() => asked.withdraw.some(({ how }) => how === 'cancel'), { ...patience, what: 'the lane to be asked for its no-op' })
      script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop' })
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'cancelled' })
    })
  })

  test('cancelled as a workflow, by Temporal itself, it ends', async () => {
    script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
    const handle = await start()
    await reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    await handle.cancel()
    await until(async () => (await handle.describe()).status.name === 'CANCELLED', { ...patience, what: 'the workflow to end' })
    expect((await handle.fetchHistory()).events?.filter(({ workflowTaskFailedEventAttributes: failed }) => failed)).toEqual([])
  })
})
