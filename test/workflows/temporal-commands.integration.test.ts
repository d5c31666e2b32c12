import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import { silentLogger } from '../../observability/logger.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { listTransfers } from '../../temporal/client/transfers/transfer-list.ts'
import { readTransfer } from '../../temporal/client/transfers/transfers.ts'
import { laneWorkflowId, ledgerQueue } from '../../temporal/contracts/names.ts'
import { createLedgerWorker } from '../../workers/roles/chain.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'
import { currentDetails, summaries } from '../helpers/e2e-web-ui.ts'
import { elsewhere, page, queries } from '../helpers/temporal-lines.ts'
import { landed, lanes, scriptedTransfers, sound, waiting } from './scripted.ts'

describe("Temporal's own commands", () => {
  const on = scriptedTransfers()
  const done = new Set<string>()
  let endLedger: () => Promise<void>

  beforeAll(async () => {
    const worker = await createLedgerWorker({ temporal: on.temporal, logger: silentLogger(), tuning: { ...defaultTuning, graceMs: 0 } })
    const serving = worker.run()
    endLedger = () => {
      worker.shutdown()
      return serving
    }
  })
  afterAll(() => endLedger?.())

  const type = async (line: string, names: Readonly<Record<string, string>> = {}, exitCode = 0) => {
    const command = Object.entries(names).reduce((text, [name, value]) => text.replaceAll(`<${name}>`, value), line)
    const { code, stdout, stderr } = await run('/bin/sh', ['-c', command.replace(/^temporal /, '"$TEMPORAL" ')], {
      env: { ...process.env, TEMPORAL: on.server.cliPath, TEMPORAL_ADDRESS: on.server.address, TEMPORAL_NAMESPACE: 'default' },
      timeoutMs: 60_000,
    })
    expect([command, code, stderr]).toEqual([command, exitCode, expect.any(String)])
    return stdout + stderr
  }
  const typeAll = async (heading: string, names: Readonly<Record<string, string>> = {}) => {
    done.add(heading)
    const lines = page.get(heading) ?? []
    expect(lines.length).toBeGreaterThan(0)
    const said: string[] = []
    for (const line of lines) said.push(await type(line, names))
    return said
  }
  const id = ({ workflowId }: WorkflowHandle) => ({ id: workflowId })
  const count = async (query: string) => (await on.temporal.client.workflow.count(query)).count
  const parked = async (code: 'DELIVERY_IMPOSSIBLE' | 'GAS_LIMIT') => {
    on.script.admit = () => ({ kind: 'impossible', code, reason: 'a test' })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    return handle
  }
  const pending = async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    return handle
  }
  const closed = () => {
    on.script.admit = () => ({ kind: 'waiting', code: 'LANE_NONE', reason: 'both lanes are paused', retryInMs: 60_000 })
  }
  const waits = async () => {
    closed()
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    return handle
  }

  test("Temporal's own commands show status, details, description and list", async () => {
    const handle = await waits()
    await until(async () => (await count(`TransferState='waiting'`)) > 0, { ...waiting, what: 'the transfer to be listed' })
    const [status, metadata, described, listed] = await typeAll('Look', id(handle))
    expect(status).toContain('both lanes are paused')
    expect(metadata).toContain('LANE_NONE')
    expect(described).toContain('PortageCode')
    expect(listed).toContain(handle.workflowId.slice(0, 8))
    await handle.terminate()
  })

  test("a retry by Temporal's command line wakes the transfer, which keeps the author", async () => {
    const handle = await waits()
    on.script = { ...sound }
    await typeAll('Try now', id(handle))
    expect(await handle.result()).toMatchObject({
      state: 'delivered',
      orders: [{ kind: 'retry', by: 'night-shift', reason: 'the node is back' }],
    })
  })

  test("an expedite by Temporal's command line raises the fee of the intent in flight", async () => {
    const handle = await pending()
    await typeAll('Raise the fee', id(handle))
    await until(() => on.asked.expedite.length > 0, { ...waiting, what: 'the lane to be asked' })
    expect(on.asked.expedite[0]).toEqual({ lane: lanes[0], intentId: `${handle.workflowId}/1` })
    expect((await on.status(handle)).orders).toMatchObject([{ kind: 'expedite', by: 'night-shift', reason: 'the recipient waits' }])
    await handle.terminate()
  })

  test("a cancel by Temporal's command line ends the transfer under that name", async () => {
    const handle = await pending()
    on.script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })
    await typeAll('Cancel', id(handle))
    expect(await handle.result()).toMatchObject({ state: 'cancelled', cancelledBy: { by: 'night-shift', reason: 'wrong recipient' } })
  })

  test('a batch signal reaches the transfers that the query finds by their code, and no others', async () => {
    const found = [await parked('DELIVERY_IMPOSSIBLE'), await parked('DELIVERY_IMPOSSIBLE')]
    const other = await parked('GAS_LIMIT')
    const listed = async () => (await count(`TransferState='parked' AND PortageCode='DELIVERY_IMPOSSIBLE'`)) === found.length
    await until(listed, { ...waiting, what: 'both to be listed by their code' })
    on.script = { ...sound }
    await typeAll('Many at once')
    const ends = await Promise.all(found.map((handle) => handle.result() as Promise<unknown>))
    expect(ends).toMatchObject(found.map(() => ({ state: 'delivered', orders: [{ by: 'night-shift', reason: 'the token was mended' }] })))
    expect(await on.status(other)).toMatchObject({ state: 'parked', code: 'GAS_LIMIT' })
    expect((await on.status(other)).orders).toBeUndefined()
    await other.terminate()
  })

  test('signals to a lane keep their names, an update has none, and unknown orders are refused', async () => {
    const lane = lanes[0]
    const args = [{ config: { lane, window: 16, fillAfterBlocks: 3 } }]
    const handle = await on.temporal.client.workflow.start('lane', { workflowId: laneWorkflowId(lane), taskQueue: ledgerQueue, args })
    await typeAll('Orders to a lane', { lane })
    const state: LaneState = await handle.query(laneStatusQuery)
    expect(state.config.window).toBe(8)
    expect(state.paused).toBeUndefined()
    expect(state.orders).toMatchObject([
      { kind: 'pause', by: 'night-shift', reason: 'maintenance' },
      { kind: 'resume', by: 'night-shift', reason: 'done' },
      { kind: 'setWindow', by: 'night-shift', reason: 'a slow pool', facts: { window: 4 } },
      { kind: 'setWindow', by: 'unnamed', reason: 'update without a name', facts: { window: 8 } },
    ])
    const events = (await handle.fetchHistory()).events?.length
    const update = page.get('Orders to a lane')!.find((line) => line.includes('update execute'))!
    await type(update.replace('"window":8', '"window":-8'), { lane }, 1)
    expect((await handle.fetchHistory()).events?.length).toBe(events)
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancelled/i)
  })

  test('a held step is not tried until it is released', async () => {
    let fails = true
    on.script.broadcast = () => {
      if (fails) throw new Error('the pool is away')
      return sound.broadcast({} as never)
    }
    const handle = await on.start()
    const step = async () => (await handle.describe()).raw.pendingActivities?.find(({ lastFailure }) => lastFailure)
    await until(async () => (await step()) !== undefined, { ...waiting, what: 'the step to have failed' })
    const { activityId } = (await step())!
    const [pause, unpause] = page.get('Hold a step') as [string, string]
    done.add('Hold a step')
    await type(pause, { ...id(handle), activity: activityId! })
    await until(async () => (await step())?.paused === true, { ...waiting, what: 'the step to be held' })
    fails = false
    await type(unpause, { ...id(handle), activity: activityId! })
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
  })

  test('a reset transfer asks the chain, goes on with its intent, and sends nothing if delivered', async () => {
    const handle = await pending()
    await typeAll('Reset', id(handle))
    const [first] = on.asked.broadcast
    await until(() => on.asked.admit.length > 1, { ...waiting, what: 'the new run to ask the chain' })
    await until(() => on.asked.broadcast.filter(({ mode }) => mode === 'new').length > 1, { ...waiting, what: 'the new run to go on' })
    expect(new Set(on.asked.broadcast.map(({ intentId }) => intentId))).toEqual(new Set([first!.intentId]))
    on.script = { ...sound }
    const latest = on.temporal.client.workflow.getHandle(handle.workflowId)
    await on.retry(latest)
    expect(await latest.result()).toMatchObject({ state: 'delivered' })

    const sent = on.asked.broadcast.length
    const delivery = { by: '0xa', ours: true, txHash: landed.txHash, blockHeight: landed.blockHeight }
    on.script.admit = () => ({ kind: 'delivered', delivery })
    await typeAll('Reset', id(handle))
    expect(await latest.result()).toMatchObject({ state: 'delivered', delivery })
    expect(on.asked.broadcast).toHaveLength(sent)
  })

  test('Request Cancellation ends a transfer by its nonces, and the order is unnamed', async () => {
    const handle = await pending()
    on.script.withdraw = () => ({ kind: 'held', nonce: 7 })
    on.script.broadcast = () => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })
    await typeAll('Request Cancellation', id(handle))
    const order = { by: 'unnamed', reason: 'cancelled through Temporal' }
    expect(await handle.result()).toMatchObject({ state: 'cancelled', cancelledBy: order, orders: [{ kind: 'cancel', ...order }] })
    expect((await handle.describe()).status.name).toBe('COMPLETED')
    expect(on.asked.confirmEnd.at(-1)?.nonces).toEqual([{ lane: lanes[0], nonce: 7 }])
  })

  test('Request Cancellation of a transfer that is delivered all the same, of a parked one, and across runs', async () => {
    const late = await pending()
    // The lane keeps the nonce, because the call may still be mined.
    on.script.withdraw = () => ({ kind: 'held', nonce: 7 })
    on.script.broadcast = sound.broadcast
    await typeAll('Request Cancellation', id(late))
    expect(await late.result()).toMatchObject({ state: 'delivered' })
    const standing = await parked('GAS_LIMIT')
    await on.nextRun(standing)
    await on.reaches(standing, ({ state }) => state === 'parked', 'the transfer to be parked in its next run')
    await typeAll('Request Cancellation', id(standing))
    expect(await standing.result()).toMatchObject({ state: 'cancelled', cancelledBy: { by: 'unnamed' } })
  })

  test('a terminated transfer is in no query of waiting or parked ones', async () => {
    const handle = await waits()
    const listed = (execution: string) => `WorkflowId='${handle.workflowId}' AND TransferState='waiting' AND ExecutionStatus='${execution}'`
    await until(async () => (await count(listed('Running'))) === 1, { ...waiting, what: 'the transfer to be listed' })
    await typeAll('Terminate', id(handle))
    await until(async () => (await count(listed('Terminated'))) === 1, { ...waiting, what: 'its end to be listed' })
    expect(await count(listed('Running'))).toBe(0)
    const { client } = on.temporal
    const rows = async (state?: 'waiting') => {
      const all = await listTransfers(client, { ...(state && { states: [state] }), limit: 1_000 })
      return all.flatMap(({ id: one, execution }) => (one === handle.workflowId ? [execution] : []))
    }
    expect([await rows('waiting'), await rows()]).toEqual([[], ['TERMINATED']])
    expect(await readTransfer(client, handle.workflowId)).toMatchObject({
      execution: 'TERMINATED',
      partial: expect.stringContaining('closed'),
    })
  })

  test('the server answers every saved query of web-ui.md, and those by code find their transfers', async () => {
    expect(queries.length).toBeGreaterThan(12)
    for (const { query } of queries) await type(`temporal workflow count --query "${query}"`)
    const byCode = queries.find(({ what }) => what === 'transfers that are parked for a given reason')!.query
    const lane = queries.find(({ what }) => what === 'transfers that wait for a lane')!.query
    const [one, two] = [await parked('DELIVERY_IMPOSSIBLE'), await waits()]
    await until(async () => (await count(byCode)) === 1 && (await count(lane)) === 1, { ...waiting, what: 'each to be found' })
    await Promise.all([one.terminate(), two.terminate()])
    await until(async () => (await count(byCode)) + (await count(lane)) === 0, { ...waiting, what: 'both to be gone' })
  })

  test("timers show reason and code, and a stranger's text cannot add markup or fail a task", async () => {
    const evil = `reverted: [claim](https://evil.test)\n- **delivered** ${'x'.repeat(5_000)}`
    on.script.admit = () => ({ kind: 'waiting', code: 'LANE_NONE', reason: evil, retryInMs: 60_000 })
    const deadline = Date.now() + 3_600_000
    const handle = await on.start({ deadline })
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the transfer to wait')
    const timers = await summaries(on.temporal.client, handle.workflowId, 'timer')
    expect(timers).toEqual([
      `deadline ${new Date(deadline).toISOString()}: the transfer is parked if it is not delivered by then`,
      expect.stringMatching(/^LANE_NONE: reverted: \(claim\)\(https\[:\]\/\/evil\.test\) - ··delivered·· x+…$/),
    ])
    const details = await currentDetails(on.temporal.client, handle.workflowId)
    expect(details).toMatch(/^\*\*waiting\*\* `LANE_NONE` since /)
    expect(details).toContain('**What to do:** Resume or activate a lane, or add a key for this chain.')
    expect(details).toContain('reverted: \\[claim\\](https\\[:\\]//evil.test) - \\*\\*delivered\\*\\* x')
    expect(details).not.toMatch(/^- \*\*delivered/m)
    await handle.terminate()
  })

  test('a transfer that retries many times shows one line for all tries', async () => {
    const handle = await waits()
    const looks = async () => (await on.status(handle)).timeline.filter(({ state }) => state === 'waiting').length
    for (let wanted = 2; wanted <= 3; wanted++) {
      await on.retry(handle)
      await until(async () => (await looks()) >= wanted, { ...waiting, what: 'another look' })
    }
    const lines = (await currentDetails(on.temporal.client, handle.workflowId))
      .split('\n')
      .filter((line) => line.startsWith('- 2') && line.includes('**'))
    expect(lines.filter((line) => line.includes('both lanes are paused'))).toEqual([expect.stringMatching(/\(\d+ times since /)])
    expect(lines[0]).toContain('**waiting** both lanes are paused')
    const timers = await summaries(on.temporal.client, handle.workflowId, 'timer')
    expect(new Set(timers.map((text) => text.replace(/\d+ .$/, 'n s')))).toEqual(
      new Set(['LANE_NONE: both lanes are paused; tries again in n s']),
    )
    await handle.terminate()
  })

  test("Temporal's command lines in the other documents run as written", async () => {
    expect(new Set(elsewhere.map((line) => line.split(' ').slice(0, 3).join(' ')))).toEqual(
      new Set(
        ['reset', 'terminate', 'describe', 'show', 'signal', 'update-options']
          .map((one) => `temporal workflow ${one}`)
          .concat('temporal operator namespace'),
      ),
    )
    for (const line of elsewhere) {
      const handle = await waits()
      const { workflowId } = handle
      const parts = line.replace(/'stream:<its id>'|stream:<stream>/, '<id>')
      if (line.includes('--query'))
        await until(async () => (await count(`TransferState='waiting'`)) > 0, { ...waiting, what: 'it to be listed' })
      await type(parts.replace('--reason <text>', '--reason "<text>"'), {
        id: workflowId,
        workflow: workflowId,
        text: 'a test',
        time: '72h',
      })
      await on.temporal.client.workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => {})
    }
  })

  test('every step and every timer of every workflow that ran here has a summary', async () => {
    const types = new Map<string, number>()
    for await (const { workflowId, runId, type: name } of on.temporal.client.workflow.list()) {
      const said = await summaries(on.temporal.client, workflowId, 'any', runId)
      expect([workflowId, said.filter((text) => text === '')]).toEqual([workflowId, []])
      types.set(name, (types.get(name) ?? 0) + said.length)
    }
    expect(types.get('transfer')).toBeGreaterThan(10)
  })

  test("every command of the documentation's page was run", () => expect([...done].toSorted()).toEqual([...page.keys()].toSorted()))
})
