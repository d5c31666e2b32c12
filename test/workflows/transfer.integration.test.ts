import type { WorkflowHandle } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import {
  adoptSignal,
  cancelSignal,
  expediteSignal,
  retrySignal,
  rolledBackSignal,
  type TransferStatus,
} from '../../temporal/contracts/transfer.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import type { Admission, AdmitInput, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { toRow } from '../../temporal/client/transfers/transfer-list.ts'
import { landed, lanes, waiting, ready, scriptedTransfers, sound, transfer } from './scripted.ts'

/** On real chains, each case would need hours of a stalled chain. test/e2e has transfers over real chains. */
describe('The transfer workflow', () => {
  const on = scriptedTransfers()

  test('a long pending transfer goes on in new runs with the same intent, without another admission', async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    const { startedAt } = toRow(await handle.describe())
    await on.nextRun(handle)
    // A row shows the start of the first run, not of the current one.
    const now = await handle.describe()
    expect(toRow(now).startedAt).toBe(startedAt)
    expect(now.startTime.getTime()).toBeGreaterThan(Date.parse(startedAt))
    on.script.broadcast = sound.broadcast
    await on.retry(handle)
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1, nonce: 7 })
    expect(on.asked.admit).toHaveLength(1)
    expect(new Set(on.asked.broadcast.map(({ intentId }) => intentId))).toEqual(new Set([`${handle.workflowId}/1`]))
    expect(on.asked.broadcast.map(({ mode }) => mode)).toEqual(on.asked.broadcast.map((_, index) => (index > 0 ? 'follow' : 'new')))
    await until(async () => (await on.runs(handle)) > 0, { ...waiting, what: 'the run to be listed' })
  })

  test('with a stalled finality a transfer goes on in new runs, and keeps a cancel', async () => {
    on.script.broadcast = () => ({ kind: 'included', landed, finalInMs: 60_000 })
    on.script.confirm = () => ({ kind: 'unsettled', finalInMs: 60_000 })
    on.script.withdraw = () => ({ kind: 'held', nonce: 7 })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'included', 'the transfer to be included')
    await handle.signal(cancelSignal, { order: { by: 'night-shift', reason: 'a test' } })
    await on.nextRun(handle)
    on.script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })
    on.script.confirm = () => ({ kind: 'gone' })
    await on.retry(handle)
    expect(await handle.result()).toMatchObject({
      ...{ state: 'cancelled', reason: 'a test', cancelledBy: { by: 'night-shift', reason: 'a test' } },
      orders: [
        { kind: 'cancel', by: 'night-shift', reason: 'a test' },
        { kind: 'retry', by: 'unnamed', reason: 'signal without a name', times: expect.any(Number) },
      ],
    })
    expect(on.asked.withdraw.every(({ how }) => how === 'cancel')).toBe(true)
  })

  test('the code of a transfer is a search attribute while it waits or is parked, across runs', async () => {
    const shows = (handle: WorkflowHandle, state: string, code?: string) => {
      const { TransferState, PortageCode } = searchAttributes
      const asked = async () => {
        const { typedSearchAttributes: shown } = await handle.describe()
        return shown.get(TransferState) === state && shown.get(PortageCode) === code
      }
      return until(asked, { ...waiting, what: `the search attributes to be ${state}, ${code}` })
    }
    on.script.admit = () => ({ kind: 'waiting', code: 'LANE_NONE', reason: 'both lanes are paused', retryInMs: 60_000 })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    await shows(handle, 'waiting', 'LANE_NONE')
    await on.nextRun(handle)
    await shows(handle, 'waiting', 'LANE_NONE')
    on.script.admit = ready
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    await on.retry(handle)
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    await shows(handle, 'pending')
    on.script.confirm = () => {
      throw ApplicationFailure.nonRetryable('the config has no such chain', 'TARGET_CHAIN_UNSUPPORTED')
    }
    on.script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0 })
    await on.retry(handle)
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    await shows(handle, 'parked', 'TARGET_CHAIN_UNSUPPORTED')
    expect(await on.status(handle)).toMatchObject({ state: 'parked', code: 'TARGET_CHAIN_UNSUPPORTED' })
    await handle.terminate()
  })

  test('a revert in a block that was not final backs off, and is simulated again in another round', async () => {
    on.script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0 })
    on.script.confirm = () => ({ kind: 'reverted', reason: 'transaction 0x07 reverted' })
    const handle = await on.start()
    const backsOff = (now: TransferStatus) =>
      now.state === 'waiting' && now.code === 'DELIVERY_REVERTED' && now.reason === 'transaction 0x07 reverted' && now.rounds > 1
    await on.reaches(handle, backsOff, 'the transfer to wait')
    on.script = { ...sound }
    await on.retry(handle)
    const { state, rounds } = await handle.result()
    expect([state, rounds]).toEqual(['delivered', on.asked.admit.length])
    expect(on.asked.broadcast.map(({ intentId }) => Number(intentId.split('/').at(-1)))).toEqual(
      Array.from({ length: rounds }, (_, index) => index + 1),
    )
  })

  test('a nonce that the ledger no longer knows counts as a try without effect', async () => {
    on.script.broadcast = ({ mode }) =>
      mode === 'follow' ? { kind: 'withdrawn' } : { kind: 'pending', nonce: 7, attempts: 1, reason: 'slow', tried: [] }
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    await handle.signal(retrySignal)
    // If the wait ended before the test saw it, the next round ends in the same way, and the transfer waits longer.
    const backsOff = (now: TransferStatus) =>
      now.state === 'waiting' && now.code === 'DELIVERY_REVERTED' && now.reason === 'nonce 7 was used without the effect' && now.rounds > 1
    await on.reaches(handle, backsOff, 'the transfer to wait')
    expect(on.asked.broadcast.slice(0, 2).map(({ mode }) => mode)).toEqual(['new', 'follow'])
    await handle.terminate()
  })

  test('nonces used by no-ops do not park a transfer soon: it goes on after the sixth', async () => {
    let rounds = 0
    on.script.broadcast = (input) => (++rounds > 6 ? sound.broadcast(input) : { kind: 'spent', nonce: rounds, by: 'noop', tried: [] })
    const handle = await on.start()
    for (let round = 2; round <= 7; round++) {
      await on.reaches(handle, (now) => now.rounds >= round, `round ${round}`)
      // The signal ends only the wait between rounds. `retry` would also reset the counts.
      await handle.signal(rolledBackSignal, { intentId: `${handle.workflowId}/${round}`, nonce: round })
    }
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 7 })
  })

  test('a lane without a nonce is left for another; the last reason shows when none is left', async () => {
    on.script.broadcast = ({ lane }) => ({ kind: 'no-slot', code: 'LANE_FUNDS', reason: `${lane} is poor` })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    expect(on.asked.broadcast.map(({ lane }) => lane)).toEqual([...lanes])
    expect(await on.status(handle)).toMatchObject({ code: 'LANE_FUNDS', reason: `${lanes[1]}: ${lanes[1]} is poor` })
    on.script = { ...sound }
    await on.retry(handle)
    expect(await handle.result()).toMatchObject({ state: 'delivered', lane: lanes[0] })
  })

  test('a step that can never succeed parks the transfer, which goes on when that is repaired', async () => {
    on.script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0 })
    on.script.confirm = () => {
      throw ApplicationFailure.nonRetryable('the config has no such chain', 'TARGET_CHAIN_UNSUPPORTED')
    }
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    expect(await on.status(handle)).toMatchObject({ code: 'TARGET_CHAIN_UNSUPPORTED', reason: 'the config has no such chain' })
    on.script = { ...sound }
    await handle.signal(retrySignal)
    // The transfer may hold a nonce, so its next broadcast must follow the first.
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(on.asked.broadcast.map(({ mode }) => mode)).toEqual(['new', 'follow'])
  })

  test('a copy whose signatures could not be checked does not replace the message', async () => {
    const unknown: Admission = { kind: 'waiting', code: 'GUARDIAN_SET_UNKNOWN', reason: 'set 99', retryInMs: 60_000, unverified: true }
    const missing: Admission = { kind: 'waiting', code: 'WRAPPER_MISSING', reason: 'no wrapper', retryInMs: 60_000 }
    on.script.admit = (input) => (input.transfer.message === transfer.message ? missing : unknown)
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    await handle.signal(adoptSignal, { message: 'dHdv' })
    await until(() => on.asked.admit.length === 3, { ...waiting, what: 'the copy and the message to be judged' })
    expect(on.asked.admit.map((input) => input.transfer.message)).toEqual([transfer.message, 'dHdv', transfer.message])
    await on.reaches(handle, ({ code }) => code === 'WRAPPER_MISSING', 'the message to wait for its wrapper')
    await handle.terminate()
  })

  test('a copy that comes during a halt is checked when the halt ends', async () => {
    const halted: Admission = { kind: 'waiting', code: 'HALTED', reason: 'by night-shift: a test', retryInMs: 60_000 }
    on.script.admit = () => halted
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    await handle.signal(adoptSignal, { message: 'dHdv' })
    await until(() => on.asked.admit.length === 2, { ...waiting, what: 'the copy to meet the halt' })
    const forged: Admission = { kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: 'not signed by a guardian' }
    on.script.admit = (input) => (input.transfer.message === transfer.message ? ready(input) : forged)
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    expect(on.asked.admit.map((input) => input.transfer.message)).toEqual([transfer.message, 'dHdv', 'dHdv', transfer.message])
  })

  test('a transfer that Temporal cancels ends as cancelled, and no task fails', async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    on.script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })
    await handle.cancel()
    expect(await handle.result()).toMatchObject({
      state: 'cancelled',
      cancelledBy: { by: 'unnamed', reason: 'cancelled through Temporal' },
    })
    expect((await handle.fetchHistory()).events?.filter(({ workflowTaskFailedEventAttributes: failed }) => failed)).toEqual([])
  })

  test('the Web UI shows where a transfer waits in the code', async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    const trace = await handle.query<string>('__stack_trace')
    expect(trace).toMatch(/TransferRun\.pause .*\/workflows\/transfer\/transfer-run\.ts:\d+/)
    expect(trace).toMatch(/\/workflows\/transfer\/broadcast\.ts:\d+/)
    expect(trace).toMatch(/\/workflows\/transfer\/transfer\.ts:\d+/)
    await handle.terminate()
  })

  describe('local broadcast', () => {
    const near = (input: AdmitInput): Admission => ({ ...(ready(input) as Ready), local: true })

    test('a local broadcast can end the transfer, without the queue of the lane', async () => {
      on.script.admit = near
      on.script.broadcastLocally = () => ({ kind: 'delivered', landed })
      expect(await (await on.start()).result()).toMatchObject({ state: 'delivered', rounds: 1, nonce: 7 })
      expect(on.asked.broadcastLocally.map(({ mode }) => mode)).toEqual(['new'])
      expect(on.asked.broadcastLocally[0]).not.toHaveProperty('near')
      expect(on.asked.broadcast).toEqual([])
    })

    test.each([
      ['is elsewhere', () => ({ kind: 'elsewhere' }) as const],
      [
        'fails',
        () => {
          throw ApplicationFailure.create({ type: 'NODE_UNAVAILABLE', message: 'no node answers' })
        },
      ],
    ])('%s: the intent of a local broadcast goes through the queue, and is looked up first', async (_, answer) => {
      on.script.admit = near
      on.script.broadcastLocally = answer
      expect(await (await on.start()).result()).toMatchObject({ state: 'delivered', rounds: 1 })
      expect(on.asked.broadcastLocally).toHaveLength(1)
      expect(on.asked.broadcast).toEqual([{ ...on.asked.broadcastLocally[0], mode: 'requeued' }])
    })

    test('orders during a failed local broadcast are in the step of the queue', async () => {
      let leave = (): void => {}
      const elsewhere = new Promise<{ kind: 'elsewhere' }>((resolve) => (leave = () => resolve({ kind: 'elsewhere' })))
      on.script.admit = near
      on.script.broadcastLocally = () => elsewhere
      const handle = await on.start()
      await until(() => on.asked.broadcastLocally.length === 1, { ...waiting, what: 'the step near at hand' })
      await handle.signal(expediteSignal, { order: { by: 'night-shift', reason: 'a test' } })
      await handle.signal(retrySignal, { order: { by: 'night-shift', reason: 'a test' } })
      leave()
      expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1 })
      expect(on.asked.broadcastLocally).toMatchObject([{ priority: 3 }])
      expect(on.asked.broadcast).toEqual([
        { ...on.asked.broadcastLocally[0], mode: 'requeued', priority: 1, retriedAt: expect.any(Number) },
      ])
    })

    test('a local broadcast in no block is followed through the queue', async () => {
      on.script.admit = near
      on.script.broadcastLocally = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
      const handle = await on.start()
      await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
      await handle.signal(retrySignal)
      expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1, nonce: 7 })
      expect(on.asked.broadcastLocally).toHaveLength(1)
      expect(on.asked.broadcast.map(({ mode }) => mode)).toEqual(['follow'])
    })

    test('a cancel takes effect during a local broadcast', async () => {
      let end = (): void => {}
      const running = new Promise<never>((_, reject) => (end = () => reject(new Error('the test is over'))))
      on.script.admit = near
      on.script.broadcastLocally = () => running
      const handle = await on.start()
      await until(() => on.asked.broadcastLocally.length === 1, { ...waiting, what: 'the step near at hand' })
      await handle.signal(cancelSignal, { order: { by: 'night-shift', reason: 'a test' } })
      expect(await handle.result()).toMatchObject({ state: 'cancelled', cancelledBy: { by: 'night-shift' } })
      expect(on.asked.broadcast).toEqual([])
      end()
    })
  })
})
