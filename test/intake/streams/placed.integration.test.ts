import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstIn } from '../../../domain/stream/places.ts'
import { createCheckpointStore } from '../../../intake/streams/checkpoints.ts'
import { orderStream } from '../../../intake/streams/orders.ts'
import { until } from '../../../lab/devnet/until.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { type PlacedStage, startPlacedStage } from '../../helpers/placed-stage.ts'

const order = { by: 'ops', reason: 'a test' }

describe('the agent of a placed source', () => {
  let stage: PlacedStage
  beforeAll(async () => {
    stage = await startPlacedStage()
  })
  afterAll(() => stage?.stop())

  const client = () => stage.ledgers.temporal.client

  test('the agent starts old and new messages by the places of their logs, and no place becomes a gap', async () => {
    const stream = await stage.stream()
    const before = await stream.send('old', 'old too')
    await stream.mine(['of others'], 2)
    const agent = stream.agent()
    await stream.shows(({ open, backfill }) => open === 2 && backfill.left === 0, 'the old messages')
    const [later] = await stream.send('new')
    if (!later) throw new Error('nothing was sent')
    await stream.shows(({ open }) => open === 3, 'the new one')
    const { open, gaps, marks } = await stream.state()
    expect(open.map(({ number }) => number)).toEqual([...before, later].map(({ number }) => number))
    expect([gaps, marks]).toEqual([[], []])
    expect(await Promise.all([...before, later].map((one) => stream.run(one)))).toEqual(['RUNNING', 'RUNNING', 'RUNNING'])
    const { completedNumber, blockedBy } = await stream.shows(({ nextHeight = 0 }) => nextHeight > later.height, 'the cursor')
    expect([completedNumber, blockedBy?.why]).toEqual([String(BigInt(before[0]?.number ?? 0) - 1n), 'open'])
    await agent.stop()
  })

  test('no message is missed that one node of three hides, and refused ranges are read in parts', async () => {
    const stream = await stage.stream()
    const rules = [
      stage.nodes[0]?.add({ fault: { kind: 'logs', how: 'one-less' }, methods: ['eth_getLogs'] }),
      ...stage.nodes
        .slice(1)
        .map((node) => node.add({ fault: { kind: 'log-range', blocks: 4, code: -32_005, message: 'more than 10000 results' } })),
    ]
    await stream.send('one')
    for (let block = 0; block < 30; block++) await stage.anvil.rpc('evm_mine')
    await stream.send('two', 'three')
    const agent = stream.agent()
    await stream.shows(({ open, backfill }) => open === 3 && backfill.left === 0, 'all messages')
    await stream.send('four')
    await stream.shows(({ open }) => open === 4, 'the new message')
    for (const rule of rules) {
      expect(rule?.strikes).toBeGreaterThan(0)
      rule?.end()
    }
    expect(stream.lines.filter(({ level }) => level === 'error')).toEqual([])
    await agent.stop()
  })

  test('if most nodes refuse the logs of a block, its receipts are read, and later blocks follow', async () => {
    const stream = await stage.stream()
    const refusal = { kind: 'log-range', blocks: 0, code: -32_005, message: 'more than 10000 results' } as const
    const rules = stage.nodes.slice(1).map((node) => node.add({ fault: refusal }))
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const sent = [...(await stream.send('one', 'two')), ...(await stream.send('three'))]
    await stream.shows(({ open }) => open === 3, 'all messages')
    expect((await stream.state()).open.map(({ number }) => number)).toEqual(sent.map(({ number }) => number))
    expect(await Promise.all(sent.map((one) => stream.run(one)))).toEqual(['RUNNING', 'RUNNING', 'RUNNING'])
    for (const rule of rules) {
      expect(rule.strikes).toBeGreaterThan(0)
      rule.end()
    }
    expect(stream.lines.filter(({ level }) => level === 'error')).toEqual([])
    await agent.stop()
  })

  test('messages refused for good do not stop a stream or fill its window, and start once accepted', async () => {
    const stream = await stage.stream({ maxOpen: 3, refused: (text) => text.includes('foreign') })
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const foreign = [...(await stream.send('foreign 1', 'foreign 2', 'foreign 3')), ...(await stream.send('foreign 4', 'foreign 5'))]
    const [one, , two] = await stream.send('one', 'foreign 6', 'two')
    if (!one || !two) throw new Error('nothing was sent')
    await stream.shows(({ nextHeight = 0 }) => nextHeight > one.height, 'the cursor to have passed all of them')
    expect([await stream.run(one), await stream.run(two)]).toEqual(['RUNNING', 'RUNNING'])
    const view = await stream.shows(({ outside }) => outside?.['CCTP_CALLER'] === 6, 'the refused numbers')
    expect(view).toMatchObject({ room: 1, gaps: {}, blockedBy: { number: foreign[0]?.number, why: 'waiting', code: 'CCTP_CALLER' } })
    expect(stream.lines).toContainEqual({ level: 'error', message: expect.stringContaining('refused for good') })
    expect(await stream.audit()).toMatchObject({ started: 0 })
    expect((await stream.state()).open.map(({ number }) => number)).toEqual([one.number, two.number])
    await agent.stop()
    expect(await stream.audit({ refused: () => false })).toMatchObject({ started: 6 })
    expect(await stream.run(foreign[0]!)).toBe('RUNNING')
  })

  test('the audit reads blocks again, and starts a message that most nodes had hidden', async () => {
    const stream = await stage.stream()
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const rules = stage.nodes.map((node) => node.add({ fault: { kind: 'logs', how: 'one-less' }, methods: ['eth_getLogs'] }))
    const [hidden] = await stream.send('hidden')
    if (!hidden) throw new Error('nothing was sent')
    await stream.shows(({ nextHeight = 0 }) => nextHeight > hidden.height, 'the cursor to have passed it')
    for (const rule of rules) rule.end()
    expect(await stream.run(hidden)).toBeUndefined()
    await stream.audit()
    await stream.shows(({ open }) => open === 1, 'the hidden message')
    expect(await stream.run(hidden)).toBe('RUNNING')
    expect(stream.lines).toContainEqual({ level: 'error', message: expect.stringContaining('a node hides logs') })
    await agent.stop()
  })

  test('the audit starts again what Temporal has lost', async () => {
    const stream = await stage.stream()
    const agent = stream.agent()
    const [one, two] = await stream.send('terminated', 'forgotten')
    if (!one || !two) throw new Error('nothing was sent')
    await stream.shows(({ open }) => open === 2, 'the messages')
    await client()
      .workflow.getHandle(transferId(await stream.transferOf(one)))
      .terminate('by mistake')
    const workflowExecution = { workflowId: transferId(await stream.transferOf(two)) }
    await client().workflowService.deleteWorkflowExecution({ namespace: client().options.namespace, workflowExecution })
    await until(async () => (await stream.run(two)) === undefined, { timeoutMs: 60_000, what: 'the run to be gone' })
    // A false report: no account has delivered the second message.
    const handle = client().workflow.getHandle(`stream:${stream.source.config.stream}`)
    await handle.executeUpdate('apply', {
      args: [{ requests: [{ kind: 'seen', numbers: [[two.number]], delivered: [[two.number, two.number]] }] }],
    })
    const isRunning = async () => {
      await stream.audit()
      return (await stream.run(one)) === 'RUNNING' && (await stream.run(two)) === 'RUNNING'
    }
    await until(isRunning, { timeoutMs: 90_000, everyMs: 1_000, what: 'both to run' })
    const view = await stream.shows(({ open, gaps }) => open === 2 && Object.keys(gaps).length === 0, 'both to be open')
    expect(BigInt(view.completedNumber ?? 0)).toBe(BigInt(one.number) - 1n)
    await agent.stop()
  })

  test('after a fork below finality the message of the new branch is started', async () => {
    const stream = await stage.stream()
    const agent = stream.agent()
    const [kept] = await stream.send('kept')
    await stream.shows(({ open }) => open === 1, 'the message below the fork')
    stage.mining(false)
    for (let block = 0; block < 3; block++) await stage.anvil.rpc('evm_mine')
    const snapshot = await stage.anvil.rpc<string>('evm_snapshot')
    const [gone] = await stream.send('gone')
    if (!kept || !gone) throw new Error('nothing was sent')
    await stream.shows(({ open }) => open === 2, 'the message above it')
    const height = Number(await stage.anvil.rpc<string>('eth_blockNumber'))
    await stage.anvil.rpc('evm_revert', [snapshot])
    await stage.anvil.rpc('evm_mine')
    const [other] = await stream.mine(['other'])
    if (!other) throw new Error('nothing was sent')
    const now = Number(await stage.anvil.rpc<string>('eth_blockNumber'))
    await stage.anvil.rpc('anvil_mine', [`0x${(height - now + 8).toString(16)}`])
    stage.mining(true)
    const isWhole = async () => (await stream.state()).open.map(({ number }) => number).join() === [kept.number, other.number].join()
    await stream.shows(isWhole, 'the messages of the new branch')
    const view = await stream.shows(({ alarms, backfill }) => alarms.length === 0 && backfill.left === 0, 'the fork to be over')
    expect(view).toMatchObject({ counts: { forks: 1 }, gaps: {} })
    expect(await stream.run(other)).toBe('RUNNING')
    await agent.stop()
  })

  test('a full stream waits, and a wiped stream continues from its checkpoint', async () => {
    const checkpoints = createCheckpointStore({ kind: 'directory', path: temporaryFolder() })
    const stream = await stage.stream({ maxOpen: 2, checkpoints })
    const sent = await stream.send('1', '2', '3', '4')
    const agent = stream.agent()
    await stream.shows(({ open, full }) => open === 2 && full, 'a full stream')
    await stage.relay(...sent)
    await stream.audit()
    await until(async () => (await stream.audit()).completed === 0 && (await stream.state()).open.length === 0, {
      timeoutMs: 90_000,
      everyMs: 500,
      what: 'all to be found delivered',
    })
    const { completedHeight = 0 } = await stream.shows(({ open, nextHeight }) => open === 0 && nextHeight !== undefined, 'all to be over')
    await until(async () => ((await checkpoints.read(stream.source.config.stream))?.completedHeight ?? 0) >= completedHeight, {
      timeoutMs: 60_000,
      what: 'the checkpoint',
    })
    await agent.stop()
    await stream.lose()
    const other = stream.agent()
    const [last] = await stream.send('after the wipe')
    const view = await stream.shows(({ open, backfill }) => open === 1 && backfill.left === 0, 'the message after the wipe')
    expect(BigInt(view.completedNumber ?? 0)).toBe(BigInt(last?.number ?? 0) - 1n)
    expect((await stream.state()).start).toBeGreaterThan(completedHeight)
    await other.stop()
  })

  test('the cursor passes a block with more messages than the window, although all end undelivered', async () => {
    const stream = await stage.stream({ maxOpen: 12 })
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const sent = await stream.send(...Array.from({ length: 50 }, (_, index) => `declined ${index}`))
    const handle = client().workflow.getHandle(`stream:${stream.source.config.stream}`)
    const closeAll = async () => {
      const { open } = await stream.state()
      const requests = open.map(({ number }) => ({ kind: 'closed', number, outcome: 'declined', reason: 'for another caller' }))
      if (requests.length > 0) await handle.executeUpdate('apply', { args: [{ requests }] })
      return requests.length === 0
    }
    const view = await stream.shows(
      async ({ nextHeight = 0 }) => (await closeAll()) && nextHeight > sent[0]!.height,
      'the cursor to have passed the block',
    )
    expect(view).toMatchObject({ counts: { declined: 50 }, open: 0 })
    await agent.stop()
  })

  test('a stream without a first block looks back, and takes the orders of operators', async () => {
    const stream = await stage.stream({ startBlock: 'none', lookBackMs: 600_000 })
    const [one, two] = await stream.send('one', 'two')
    if (!one || !two) throw new Error('nothing was sent')
    const agent = stream.agent()
    await stream.shows(({ open, backfill }) => open === 2 && backfill.left === 0, 'the messages of the last minutes')
    const name = stream.source.config.stream
    await orderStream(client(), name, { kind: 'skip', number: one.number, order })
    expect(await stream.state()).toMatchObject({ open: [{ number: two.number }], exceptions: [{ number: one.number, outcome: 'skipped' }] })
    // This place has no log, so the reopened number must disappear again.
    await orderStream(client(), name, { kind: 'unskip', number: String(firstIn(one.height) + 999n), order })
    await stream.shows(({ gaps, counts }) => Object.keys(gaps).length === 0 && counts.ignored === 0, 'the place to be nothing')
    await orderStream(client(), name, { kind: 'unskip', number: one.number, order })
    await stream.shows(({ open }) => open === 2, 'the message to be open again')
    await orderStream(client(), name, { kind: 'pause', order })
    await stream.shows(async () => (await stream.metrics(agent)).includes(`portage_stream_paused{stream="${name}"} 1`), 'the pause')
    const [three] = await stream.send('three')
    expect(three && (await stream.run(three))).toBeUndefined()
    await orderStream(client(), name, { kind: 'resume', order })
    await stream.shows(({ open }) => open === 3, 'the message after the pause')
    await agent.stop()
  })
})
