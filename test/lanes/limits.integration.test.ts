import { describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { pauseSignal } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { request, signedAndSent, useLaneSetting } from './setting.ts'

describe('Limits of a lane', () => {
  const setting = useLaneSetting()

  test('a call that no fee gets into a block is raised to the limit and then only sent again', async () => {
    const agent = await setting.fresh({ bumpAfterBlocks: 1 })
    const one = request('censored')
    const pending = await signedAndSent(agent, one)
    const dearest = () => BigInt(pending.offered.at(-1)!.maxFee)
    const most = 5n * BigInt(one.first.maxFee)
    const raised = async () => dearest() >= most || setting.passBlock().then(() => false)
    await until(raised, { timeoutMs: 90_000, what: 'five times the first offer' })
    const raises = pending.attempts
    for (let blocks = 0; blocks < 10; blocks++) await setting.passBlock()
    expect(pending.attempts).toBe(raises)
    expect(dearest()).toBeLessThanOrEqual((most * 6n) / 5n + 1n)
    await setting.mine()
    expect(await pending.until(({ kind }) => kind === 'included', 60_000)).toBe(true)
  })

  test('a try that is over waits for nothing, not even for a ledger that does not answer', async () => {
    const agent = await setting.fresh()
    const over = AbortSignal.abort()
    expect(await agent.acquire(request('late'), { timeoutMs: 60_000, signal: over })).toMatchObject({ kind: 'refused' })
    expect(await agent.find(request('late'), over)).toMatchObject({ kind: 'refused' })
    expect(agent.load).toEqual({ waiting: 0, pending: 0 })
    const pending = await signedAndSent(agent, request('on time'))
    expect(await pending.until(({ kind }) => kind === 'included', 60_000, over)).toBe(false)
    await setting.mine()
  })

  test('a call that is gone before the ledger answers gets no nonce, or its nonce goes back', async () => {
    const agent = await setting.fresh()
    const abort = new AbortController()
    const gone = agent.acquire(request('gone'), { timeoutMs: 60_000, signal: abort.signal })
    // The request has left the agent's queue, and the ledger has not answered.
    expect(agent.load.waiting).toBe(0)
    abort.abort()
    expect(await gone).toMatchObject({ kind: 'refused' })
    // The ledger answers in order, so it has handled the request before this one.
    expect(await agent.find(request('unknown'))).toMatchObject({ kind: 'refused', why: 'none' })
    const isBack = async () => {
      const { counts } = await setting.ledger()
      return counts.granted === counts.released
    }
    await until(isBack, { timeoutMs: 60_000, what: 'the nonce to come back' })
    expect((await signedAndSent(agent, request('next'))).nonce).toBe(0)
  })

  test('a call for which the ledger was never asked, because the lane is paused, gets that reason', async () => {
    const agent = await setting.fresh()
    await setting.ledgers.temporal.client.workflow
      .getHandle(laneWorkflowId(agent.lane))
      .signal(pauseSignal, { order: { by: 'night-shift', reason: 'a test' } })
    await agent.acquire(request('first'), { timeoutMs: 100 })
    await until(() => agent.view?.closed?.pause, { timeoutMs: 60_000, what: 'the agent to hear of the pause' })
    const second = await agent.acquire(request('second'), { timeoutMs: 100 })
    expect(second).toMatchObject({ kind: 'refused', why: 'paused', detail: 'a test' })
  })

  test('an idle lane learns of orders, reads its account then, and otherwise reports nothing', async () => {
    const agent = await setting.fresh()
    const { lane } = agent
    const { ledger } = setting
    const length = async () => (await setting.ledgers.temporal.client.workflow.getHandle(laneWorkflowId(lane)).describe()).historyLength
    const { height = 0 } = agent.view ?? {}

    expect(await setting.ledgers.order(lane, { kind: 'resync', id: 'o' })).toEqual({ kind: 'done' })
    expect((await ledger()).synced).toBe(false)
    await setting.mineUntil(async () => (await ledger()).synced, 'the ledger to be synced again')
    expect((await ledger()).observed?.height).toBeGreaterThan(height)

    // A report of the next block may still be on its way. The ledger answers the request below only after that report.
    await setting.mineUntil(() => agent.view?.synced, 'the agent to hear of that')
    await agent.notFree(['nobody/1'])
    let before = -1
    const quiet = async () => {
      const last = before
      before = await length()
      return last === before || setting.mine(10).then(() => false)
    }
    await until(quiet, { timeoutMs: 60_000, what: 'the ledger to get no update' })
    await setting.mine(25)
    expect(await length()).toBe(before)
  })
})
