import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startScannedSetting, type ScannedSetting } from './setting.ts'

describe('the agent of a scanned source', () => {
  let setting: ScannedSetting
  beforeAll(async () => {
    setting = await startScannedSetting()
  })
  afterAll(() => setting?.stop())

  test('the agent starts old and new transfers, and follows completions by anyone', async () => {
    const stream = await setting.stream()
    const before = await stream.initiate(1n, 2n, 3n)
    const agent = stream.agent()
    await stream.shows(({ open, backfill }) => open === 3 && backfill.left === 0, 'the old transfers')
    const [later] = await stream.initiate(4n)
    if (!later) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 4, 'the new transfers')
    expect(await Promise.all([...before, later].map((one) => stream.runs(one)))).toEqual([true, true, true, true])
    await stream.complete(...before)
    const view = await stream.shows(({ open }) => open === 1, 'the completions by others')
    expect(view).toMatchObject({ completedNumber: String(before[2]?.nonce), counts: { completed: 3, unknown: 0 }, alarms: [] })
    expect(view.blockedBy).toEqual({ number: String(later.nonce), why: 'open' })
    await stream.complete(later)
    await stream.shows(({ completedNumber }) => completedNumber === String(later.nonce), 'the watermark at the last')
    const name = stream.source.config.stream
    const height = `portage_stream_completed_nonce_height{stream="${name}"} ${later.nonce}`
    await stream.shows(async () => (await stream.metrics(agent)).includes(height), 'the watermark, as the agent knows it')
    expect(await stream.metrics(agent)).toContain(`portage_stream_alarm{stream="${name}",kind="hidden"} 0`)
    await agent.stop()
  })

  test('the agent finds hidden transfers in the table, logs them and starts them', async () => {
    const stream = await setting.stream()
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const rule = setting.proxy.add({ fault: { kind: 'logs', how: 'one-less' }, methods: ['eth_getLogs'] })
    const [hidden] = await stream.initiate(11n)
    const next = String((hidden?.nonce ?? 0n) + 1n)
    await stream.shows(({ open, next: known }) => open === 1 && known === next, 'the hidden transfer')
    expect(hidden && (await stream.runs(hidden))).toBe(true)
    const complaint = () => stream.lines.some(({ level, message }) => level === 'error' && message.includes('hides logs'))
    await stream.shows(() => complaint() && rule.strikes > 0, 'the complaint')
    rule.end()
    const view = await stream.shows(({ alarms, gaps }) => alarms.length === 0 && Object.keys(gaps).length === 0, 'no alarm any more')
    expect(view.counts.forks).toBe(0)
    await agent.stop()
  })

  test('the agent reads shorter ranges if a node refuses long ones', async () => {
    const stream = await setting.stream()
    await stream.initiate(21n)
    await stream.initiate(22n)
    await setting.network.source.mine(30)
    await stream.initiate(23n)
    const rule = setting.proxy.add({
      fault: { kind: 'log-range', blocks: 4, code: -32_005, message: 'query returned more than 10000 results' },
    })
    const agent = stream.agent()
    await stream.shows(({ open, backfill }) => open === 3 && backfill.left === 0, 'all of them in short ranges')
    expect(rule.strikes).toBeGreaterThan(0)
    expect(stream.lines.filter(({ level }) => level === 'error')).toEqual([])
    rule.end()
    await agent.stop()
  })

  test('the agent reports a refused single block, and goes on when it is answered', async () => {
    const stream = await setting.stream()
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const refusal = { code: -32_005, message: 'block range is too wide' }
    // If only the logs were refused, the agent would read the block from its receipts.
    const rules = [
      setting.proxy.add({ fault: { kind: 'log-range', blocks: 0, ...refusal } }),
      setting.proxy.add({ fault: { kind: 'error', ...refusal, forward: false }, methods: ['eth_getTransactionReceipt'] }),
    ]
    const [one] = await stream.initiate(31n)
    await stream.shows(() => stream.lines.some(({ message }) => message.includes('a single block')), 'the complaint')
    const alarm = (value: number) => `portage_stream_alarm{stream="${stream.source.config.stream}",kind="refused"} ${value}`
    await stream.shows(async () => (await stream.metrics(agent)).includes(alarm(1)), 'the alarm')
    expect(one && (await stream.runs(one))).toBe(false)
    for (const rule of rules) rule.end()
    await stream.shows(({ open }) => open === 1, 'the transfer')
    await stream.shows(async () => (await stream.metrics(agent)).includes(alarm(0)), 'the end of the alarm')
    await agent.stop()
  })

  test('the agent starts transfers in order up to the limit, and the cursor waits', async () => {
    const stream = await setting.stream({ maxOpen: 2, auditMs: 60_000 })
    const transfers = await stream.initiate(41n, 42n, 43n, 44n, 45n)
    const agent = stream.agent()
    const [one, two, three] = transfers
    if (!one || !two || !three) throw new Error('nothing was initiated')
    await stream.shows(({ open, full }) => open === 2 && full, 'a full stream')
    expect(await Promise.all([one, two, three].map((each) => stream.runs(each)))).toEqual([true, true, false])
    await stream.complete(one)
    await stream.shows(({ next, open }) => open === 2 && next === String(three.nonce + 1n), 'the third')
    expect(await stream.runs(three)).toBe(true)
    // The last two transfers may be completed before the stream has seen them. No audit is due that would find them.
    await stream.complete(...transfers.slice(1))
    const last = transfers.at(-1)?.nonce
    await stream.shows(({ completedNumber }) => completedNumber === String(last), 'all of them')
    expect((await stream.state()).counts.completed).toBe(5)
    await agent.stop()
  })

  test('a paused agent does not move, and loses no transfer', async () => {
    const stream = await setting.stream()
    const agent = stream.agent()
    await stream.shows(({ nextHeight }) => nextHeight !== undefined, 'the scan to have begun')
    const handle = setting.ledgers.temporal.client.workflow.getHandle(`stream:${stream.source.config.stream}`)
    await handle.signal('pause', { by: 'ops', reason: 'a test' })
    const paused = `portage_stream_paused{stream="${stream.source.config.stream}"} 1`
    await setting.network.source.mine(2)
    await stream.shows(async () => (await stream.metrics(agent)).includes(paused), 'the pause, as the agent knows it')
    const [one] = await stream.initiate(51n)
    const height = (await stream.state()).cursor?.height ?? 0
    await setting.network.source.mine(6)
    await stream.shows(({ targetHeight = 0 }) => targetHeight > 0, 'the target to be followed')
    expect(one && (await stream.runs(one))).toBe(false)
    expect((await stream.state()).cursor?.height).toBeLessThanOrEqual(height + 1)
    await handle.signal('resume')
    await stream.shows(({ open }) => open === 1, 'the transfer')
    await agent.stop()
  })
})
