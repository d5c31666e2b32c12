import type { WorkflowHandle } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { cancelSignal, retrySignal, rolledBackSignal, type TransferStatus } from '../../temporal/contracts/transfer.ts'
import type { BroadcastInput, LaneStatusAnswer } from '../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { landed, lanes, ready, waiting, scriptedTransfers, sound, type Script, type Scripted } from './scripted.ts'
import { splitAfter } from './split-task.ts'

describe('A transfer', () => {
  const on = scriptedTransfers()

  describe('past its deadline', () => {
    const admitted = (asked: Scripted['asked']) => asked.admit.length > 0
    const broadcast = (asked: Scripted['asked']) => asked.broadcast.length > 0
    /**
     * Starts a transfer that holds nonce 7. The transfer gets a retry while it waits for the lane's answer to its order
     * for a no-op.
     */
    async function startHolding(answer: Script['broadcast']) {
      let started = (_: WorkflowHandle): void => {}
      let told: Promise<void> | undefined
      const running = new Promise<WorkflowHandle>((resolve) => (started = resolve))
      on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
      on.script.withdraw = async () => {
        // Send the retry before the lane's answer, because a later retry would make the transfer continue.
        const signalled = (told ??= running.then((handle) => handle.signal(retrySignal)))
        on.script.broadcast = async (input) => signalled.then(() => answer(input))
        await signalled
        return { kind: 'held', nonce: 7 }
      }
      const { handle } = await on.startWithDeadline(broadcast)
      started(handle)
      return handle
    }

    test('an overdue transfer before a gate is parked without a nonce, and a retry lifts the deadline', async () => {
      on.script.admit = () => ({ kind: 'waiting', code: 'BRIDGE_PAUSED', reason: 'the bridge is paused', retryInMs: 60_000 })
      const { handle, deadline } = await on.startWithDeadline(admitted)
      await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      const late = `not delivered by ${new Date(deadline).toISOString()}; the bridge is paused`
      expect(await on.status(handle)).toMatchObject({ code: 'DEADLINE_PASSED', reason: late })
      expect(on.asked.withdraw).toEqual([])
      expect(on.asked.confirm.map(({ requireAgreement }) => requireAgreement)).toEqual([true])
      on.script = { ...sound }
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered' })
    })

    test('an overdue transfer that someone delivered ends as delivered', async () => {
      on.script.admit = () => ({ kind: 'waiting', code: 'BRIDGE_PAUSED', reason: 'the bridge is paused', retryInMs: 60_000 })
      on.script.confirm = () => ({ kind: 'delivered', delivery: { by: '0x02', ours: false } })
      const handle = await on.start({ deadline: Date.now() + 4_000 })
      expect(await handle.result()).toMatchObject({ state: 'delivered', delivery: { by: '0x02' } })
    })

    test("an overdue transfer with a nonce is parked once the lane's no-op wins", async () => {
      const handle = await startHolding(() => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] }))
      await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      expect(await on.status(handle)).toMatchObject({ code: 'DEADLINE_PASSED', rounds: 3 })
      // Each run of the workflow asks the lane once, so only the kinds of questions are compared.
      expect(new Set(on.asked.withdraw.map(({ how }) => how))).toEqual(new Set(['cancel']))
      expect(new Set(on.asked.broadcast.map(({ intentId }) => intentId)).size).toBe(1)
      on.script = { ...sound }
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered' })
    })

    test('an overdue transfer whose call wins ends as delivered', async () => {
      const handle = await startHolding(sound.broadcast)
      expect(await handle.result()).toMatchObject({ state: 'delivered', nonce: 7, rounds: 1 })
      expect(new Set(on.asked.withdraw.map(({ how }) => how))).toEqual(new Set(['cancel']))
    })

    test('a new run of a transfer knows the deadline', async () => {
      on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
      on.script.withdraw = () => ({ kind: 'held', nonce: 7 })
      const { handle } = await on.startWithDeadline(broadcast)
      await on.nextRun(handle)
      await until(() => on.asked.withdraw.some(({ how }) => how === 'cancel'), {
        ...waiting,
        what: 'the lane to be asked for its no-op',
      })
      // Send the retry before the lane's answer, because a later retry would make the transfer continue.
      const signalled = handle.signal(retrySignal)
      on.script.broadcast = async () => signalled.then(() => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] }))
      await signalled
      await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
      expect((await on.status(handle)).code).toBe('DEADLINE_PASSED')
      await handle.terminate()
    })
  })

  describe('on a lane that closes while it holds a nonce', () => {
    const closed = (why: 'forbidden' | 'unserved' | 'paused', others = 1, abandonAfterMs = 0): LaneStatusAnswer => ({
      lane: { lane: lanes[0], open: false, why, detail: 'a test' },
      others,
      abandonAfterMs,
    })
    const stuck: Script['broadcast'] = ({ lane }) =>
      lane === lanes[0]
        ? { kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] }
        : sound.broadcast({} as BroadcastInput)

    test.each(['forbidden', 'unserved'] as const)('%s: the nonce is left to its lane, and another delivers', async (why) => {
      on.script.broadcast = stuck
      on.script.getLaneStatus = () => closed(why)
      const handle = await on.start()
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[1], rounds: 2 })
      expect(on.asked.withdraw.map(({ how, lane }) => [how, lane])).toEqual([['abandon', lanes[0]]])
      expect(on.asked.broadcast.map(({ lane, mode }) => [lane, mode])).toEqual([
        [lanes[0], 'new'],
        [lanes[1], 'new'],
      ])
    })

    test.each([
      ['merely paused', () => closed('paused')],
      ['forbidden, with no other lane open', () => closed('forbidden', 0)],
      ['forbidden for less than abandonAfterMs', () => closed('forbidden', 1, 60_000)],
    ])('a transfer with a nonce stays with a closed lane: %s', async (_, answer) => {
      on.script.broadcast = stuck
      on.script.getLaneStatus = answer
      const handle = await on.start()
      await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
      await handle.signal(rolledBackSignal, { intentId: `${handle.workflowId}/1`, nonce: 7 })
      await until(() => on.asked.broadcast.length > 1, { ...waiting, what: 'the nonce to be followed again' })
      on.script.broadcast = sound.broadcast
      await on.retry(handle)
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0], rounds: 1 })
      expect(on.asked.withdraw).toEqual([])
    })

    test.each([
      ['does not release it', { kind: 'held', nonce: 7 }],
      ['seems to give an answer that no ledger gives', { gate: true } as never],
    ] as const)('a transfer with a nonce stays with a closed lane whose ledger %s', async (_, answer) => {
      on.script.broadcast = stuck
      on.script.getLaneStatus = () => closed('unserved')
      on.script.withdraw = () => answer
      const handle = await on.start()
      await until(() => on.asked.withdraw.length > 0, { ...waiting, what: 'the ledger to be asked' })
      on.script.broadcast = sound.broadcast
      await on.retry(handle)
      expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0], rounds: 1 })
    })

    test('a cancelled transfer stays with a closed lane, since none of its nonces may be mined later', async () => {
      on.script.broadcast = stuck
      on.script.getLaneStatus = () => closed('forbidden')
      on.script.withdraw = () => ({ kind: 'held', nonce: 7 })
      const handle = await on.start()
      // Cancel only after the transfer has asked for a nonce, because an earlier cancel would end the transfer
      // immediately.
      await until(() => on.asked.broadcast.length > 0, { ...waiting, what: 'the lane to be asked for a nonce' })
      await handle.signal(cancelSignal, { order: { by: 'night-shift', reason: 'a test' } })
      await until(() => on.asked.withdraw.some(({ how }) => how === 'cancel'), {
        ...waiting,
        what: 'the lane to be asked for its no-op',
      })
      on.script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })
      await on.retry(handle)
      expect(await handle.result()).toMatchObject({ state: 'cancelled' })
    })

    describe('and that leaves it', () => {
      const order = { by: 'night-shift', reason: 'a test' }
      /**
       * Starts a transfer that leaves a forbidden lane, which still holds the transfer's first nonce. The other lane
       * grants no nonce.
       */
      async function left(changes: Partial<Script> = {}) {
        on.script.broadcast = ({ lane }) =>
          lane === lanes[0] ? stuck({ lane } as BroadcastInput) : { kind: 'no-slot', code: 'LANE_FULL', reason: 'full' }
        on.script.getLaneStatus = () => closed('forbidden')
        on.script.confirmEnd = () => ({ kind: 'held', nonces: [{ lane: lanes[0], nonce: 7 }] })
        Object.assign(on.script, changes)
        const handle = await on.start()
        await on.reaches(handle, ({ state, rounds }) => state === 'waiting' && rounds === 3, 'the other lane to have given none')
        return handle
      }
      const waits = ({ state, code, reason = '' }: TransferStatus) =>
        state === 'waiting' && code === 'NONCE_NOT_FINAL' && reason.includes(`nonce 7 of ${lanes[0]}`)

      test('a cancelled transfer waits for a nonce that it left, in a later run too', async () => {
        const handle = await left()
        await handle.signal(cancelSignal, { order })
        await on.reaches(handle, waits, 'the transfer to say which nonce it waits for')
        await on.nextRun(handle)
        const asked = on.asked.confirmEnd.length
        await until(() => on.asked.confirmEnd.length > asked, { ...waiting, what: 'the new run to look' })
        const held = [{ lane: lanes[0], nonce: 7 }, { lane: lanes[1] }]
        for (const { nonces } of on.asked.confirmEnd) expect(nonces).toEqual(held)
        expect(waits(await on.status(handle))).toBe(true)
        on.script.confirmEnd = sound.confirmEnd
        await on.retry(handle)
        expect(await handle.result()).toMatchObject({ state: 'cancelled', cancelledBy: order })
      })

      test('a cancelled transfer whose left nonce is mined with the effect is delivered', async () => {
        const handle = await left()
        await handle.signal(cancelSignal, { order })
        await on.reaches(handle, waits, 'the transfer to say which nonce it waits for')
        on.script.confirmEnd = () => ({ kind: 'delivered', delivery: { by: '0x0a', ours: true } })
        await on.retry(handle)
        expect(await handle.result()).toMatchObject({ state: 'delivered', delivery: { by: '0x0a' } })
      })

      test('a declined transfer is not over before the nonce that it left is', async () => {
        const handle = await left()
        on.script.admit = () => ({ kind: 'declined', code: 'TOKEN_DENIED', reason: 'denied' })
        await handle.signal(retrySignal)
        await on.reaches(handle, waits, 'the transfer to say which nonce it waits for')
        on.script.confirmEnd = sound.confirmEnd
        await on.retry(handle)
        expect(await handle.result()).toMatchObject({ state: 'declined', code: 'TOKEN_DENIED' })
      })
    })
  })

  test('a transfer that is declined late, after a round without a nonce, replays in another process', async () => {
    const begun: WorkflowHandle[] = []
    const tasks = async () =>
      ((await begun[0]?.fetchHistory())?.events ?? []).filter((one) => one.workflowTaskCompletedEventAttributes).length
    on.script.broadcast = () => ({ kind: 'no-slot', code: 'LANE_FULL', reason: 'full' })
    on.script.admit = async (input) => {
      if (!input.avoid?.length) return ready(input)
      await until(() => begun.length > 0, { ...waiting, what: 'the test to have the handle' })
      const before = await tasks()
      await until(async () => (await tasks()) > before, { ...waiting, what: 'the task to end before the admission' })
      return { kind: 'declined', code: 'TOKEN_DENIED', reason: 'denied' }
    }
    const handle = await on.start({}, undefined, '1s')
    begun.push(handle)
    expect(await handle.result()).toMatchObject({ state: 'declined', code: 'TOKEN_DENIED', rounds: 2 })
    expect(on.asked.confirmEnd).toMatchObject([{ nonces: [{ lane: lanes[0] }] }])
    const options = { workflowBundle: await workflowBundle(silentLogger()) }
    for (const history of [await handle.fetchHistory(), await splitAfter(handle, 'admit')])
      await Worker.runReplayHistory(options, history, handle.workflowId)
  })

  test('all signed transactions of every process and round stay visible past a new run', async () => {
    const signed = (hash: string, fate: 'open' | 'outbid' | 'mined', kind: 'call' | 'noop' = 'call') => ({
      kind,
      hash,
      maxFee: '2',
      tip: '1',
      fate,
    })
    const now = Date.now()
    const times = { at: now + 60_000, acceptedAt: now + 61_000, includedAt: now + 62_000 }
    let isOver = false
    on.script.broadcast = ({ intentId }) => {
      if (intentId.endsWith('/2'))
        return { kind: 'delivered', landed: { ...landed, nonce: 8, txHash: '0xd', tried: [{ ...signed('0xd', 'mined'), ...times }] } }
      if (!isOver)
        return { kind: 'pending', nonce: 7, attempts: 2, reason: 'blocks are full', tried: [signed('0xa', 'open'), signed('0xb', 'open')] }
      // This answer comes from a process whose signer makes other hashes. The transfer must keep the hashes that the
      // answer lacks.
      return { kind: 'spent', nonce: 7, by: 'noop', tried: [signed('0xb', 'outbid'), signed('0xc', 'mined', 'noop')] }
    }
    const handle = await on.start()
    const shown = ({ transactions = [] }: TransferStatus) => transactions.map(({ round, nonce, hash, fate }) => [round, nonce, hash, fate])
    await on.reaches(handle, (now) => shown(now).length === 2, 'two transactions to be shown')
    expect(shown(await on.status(handle))).toEqual([
      [1, 7, '0xa', 'pending'],
      [1, 7, '0xb', 'pending'],
    ])
    await on.nextRun(handle)
    isOver = true
    const ended = handle.result() as Promise<TransferStatus>
    await until(async () => (await on.retry(handle), (await handle.describe()).status.name === 'COMPLETED'), {
      ...waiting,
      everyMs: 100,
      what: 'its end',
    })
    const status = await ended
    expect(shown(status)).toEqual([
      [1, 7, '0xa', 'dropped'],
      [1, 7, '0xb', 'replaced'],
      [1, 7, '0xc', 'mined'],
      [2, 8, '0xd', 'mined'],
    ])
    expect(status.transactions?.at(-1)).toMatchObject({
      lane: lanes[0],
      kind: 'call',
      maxFee: '2',
      tip: '1',
      gasPaid: '1',
      ...times,
    })
    // The last broadcast immediately ended as delivered.
    expect(status.timeline.slice(-3)).toEqual([
      { at: times.at, state: 'broadcasting', note: 'nonce 8 assigned, max fee 2 wei, tip 1 wei' },
      { at: times.acceptedAt, state: 'pending', note: 'sent: a node accepted 0xd…0xd' },
      { at: times.includedAt, state: 'included', note: 'block 9, nonce 8' },
    ])
    expect(status.timeline.map(({ note }) => note)).toContain('fee raised: max fee 2 wei, tip 1 wei')
  })
})
