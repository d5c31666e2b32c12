import { readFile, writeFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { idOf, type NativeTransfer } from '../../../bridges/native-bridge/message.ts'
import { freshAddress } from '../../../lab/devnet/chain/accounts.ts'
import { zeroPadValue } from 'ethers'
import { until } from '../../../lab/devnet/until.ts'
import { createCheckpointStore } from '../../../intake/streams/checkpoints.ts'
import { startScannedSetting, type OneStream, type ScannedSetting } from './setting.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

describe('the audit of a scanned stream', () => {
  let setting: ScannedSetting
  beforeAll(async () => {
    setting = await startScannedSetting()
  })
  afterAll(() => setting?.stop())

  const errors = ({ lines }: OneStream) => lines.filter(({ level }) => level === 'error').map(({ message }) => message)

  /**
   * Initiates a transfer, takes a snapshot, and initiates two more transfers. After the snapshot, only the test mines.
   */
  async function initiateAroundSnapshot(stream: OneStream) {
    const { source } = setting.network
    const [kept] = await stream.initiate(6n)
    await stream.shows(({ open }) => open === 1, 'the transfer below the fork')
    setting.mining(false)
    await source.mine(3)
    const snapshot = await source.anvil.rpc<string>('evm_snapshot')
    const [gone] = await stream.initiate(7n, 8n)
    if (!kept || !gone) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 3, 'the transfers above it')
    return { kept, gone, snapshot, height: Number(await source.anvil.rpc<string>('eth_blockNumber')) }
  }

  test('the audit restarts a terminated transfer, and records nothing else', async () => {
    const stream = await setting.stream({ auditMs: 1_000 })
    const agent = stream.agent()
    const [one] = await stream.initiate(1n)
    if (!one) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 1, 'the transfer')
    await setting.ledgers.temporal.client.workflow.getHandle(stream.id(one)).terminate('by mistake')
    await until(() => stream.runs(one), { timeoutMs: 90_000, what: 'the transfer to run again' })
    expect(await stream.state()).toMatchObject({ open: [{ number: String(one.nonce) }], gaps: [] })
    await agent.stop()
  })

  test('the audit finds a completion without a log by its id', async () => {
    const stream = await setting.stream({ auditMs: 1_000 })
    const agent = stream.agent()
    const [one] = await stream.initiate(2n)
    if (!one) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 1, 'the transfer')
    await agent.stop()
    await stream.complete(one)
    // The agent is stopped, so `target` is up to date.
    const height = (await stream.state()).target ?? 0
    // This report is false: it says that the blocks with the completion have no completion.
    const final = setting.network.target.chain.heads.current?.finalized ?? 0
    const handle = setting.ledgers.temporal.client.workflow.getHandle(`stream:${stream.source.config.stream}`)
    await handle.executeUpdate('apply', { args: [{ requests: [{ kind: 'completed', numbers: [], from: height + 1, to: final }] }] })
    const other = stream.agent()
    const view = await stream.shows(({ open }) => open === 0, 'the completion')
    expect(view).toMatchObject({ completedNumber: String(one.nonce), counts: { completed: 1, unknown: 0 } })
    await other.stop()
  })

  test('a completion of an unknown number raises an alarm, and other transfers go on', async () => {
    const stream = await setting.stream()
    const agent = stream.agent()
    await stream.shows(({ targetHeight }) => targetHeight !== undefined, 'the stream to have begun')
    const stranger = foreign(9_999n)
    await stream.complete(stranger)
    await stream.shows(({ alarms }) => alarms.includes('unknown-completion'), 'the alarm')
    expect(errors(stream)).toContainEqual(expect.stringContaining('numbers that the source does not have'))
    const [one] = await stream.initiate(3n)
    if (!one) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 1, 'a transfer after it')
    await stream.complete(one)
    const view = await stream.shows(({ completedNumber }) => completedNumber === String(one.nonce), 'the watermark')
    expect(view).toMatchObject({ counts: { unknown: 1 }, alarms: ['unknown-completion'] })
    expect(stream.halts).toEqual([])
    await agent.stop()
  })

  test('a completion of another transfer halts the route, and its number stays open', async () => {
    const stream = await setting.stream()
    const agent = stream.agent()
    const [one, two] = await stream.initiate(4n, 5n)
    if (!one || !two) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 2, 'the transfers')
    await stream.complete(foreign(one.nonce))
    await until(() => stream.halts.length > 0, { timeoutMs: 90_000, what: 'the halt' })
    expect(stream.halts[0]).toMatchObject({
      bridge: 'native-bridge',
      sourceChain: 'source',
      targetChain: 'target',
      code: 'NATIVE_TABLE_MISMATCH',
    })
    await stream.complete(two)
    await stream.shows(({ counts }) => counts.completed === 1, 'the other one')
    expect((await stream.state()).open).toMatchObject([{ number: String(one.nonce) }])
    const alarm = `portage_stream_alarm{stream="${stream.source.config.stream}",kind="mismatch"} 1`
    await stream.shows(async () => (await stream.metrics(agent)).includes(alarm), 'the alarm, as the agent knows it')
    await agent.stop()
  })

  test('after a fork below the cursor the new transfers of the numbers are started', async () => {
    const { source } = setting.network
    // If an audit found the fork before the scan, the fork would not be counted.
    const stream = await setting.stream({ auditMs: 600_000 })
    const agent = stream.agent()
    const { kept, gone, snapshot, height } = await initiateAroundSnapshot(stream)
    await source.anvil.rpc('evm_revert', [snapshot])
    const [other] = await setting.network.start(9n)
    if (!other) throw new Error('nothing was initiated')
    expect([other.nonce, other.id === gone.id]).toEqual([gone.nonce, false])
    const now = Number(await source.anvil.rpc<string>('eth_blockNumber'))
    await source.anvil.rpc('anvil_mine', [`0x${(height - now + 8).toString(16)}`])
    setting.mining(true)
    await until(() => stream.runs(other), { timeoutMs: 90_000, what: 'the transfer of the new branch' })
    const view = await stream.shows(
      ({ open, alarms, backfill }) => open === 2 && alarms.length === 0 && backfill.left === 0,
      'the fork to be over',
    )
    expect(view).toMatchObject({ next: String(other.nonce + 1n), counts: { forks: 1 } })
    expect(await stream.runs(kept)).toBe(true)
    await agent.stop()
  })

  test('the audit finds a fork that no scan meets by the last block', async () => {
    const { source } = setting.network
    const stream = await setting.stream({ auditMs: 1_000 })
    const agent = stream.agent()
    const { kept, snapshot, height } = await initiateAroundSnapshot(stream)
    // Read the last final block from the node, because the agents may not know it yet.
    const { number } = await source.anvil.rpc<{ number: string }>('eth_getBlockByNumber', ['finalized', false])
    // The cursor may stay behind for a while, because the agent records successive empty blocks together.
    await stream.shows(({ nextHeight }) => nextHeight === Number(number) + 1, 'the scan to be at the head')
    await source.anvil.rpc('evm_revert', [snapshot])
    const [other] = await setting.network.start(9n)
    if (!other) throw new Error('nothing was initiated')
    const now = Number(await source.anvil.rpc<string>('eth_blockNumber'))
    expect(now).toBeLessThan(height)
    await source.anvil.rpc('anvil_mine', [`0x${(height - now).toString(16)}`])
    // The new branch is not higher than the cursor, so the scan does not notice the fork.
    await until(() => stream.runs(other), { timeoutMs: 90_000, what: 'the transfer of the new branch' })
    const view = await stream.shows(({ open, backfill }) => open === 2 && backfill.left === 0, 'the fork to be over')
    expect(view).toMatchObject({ next: String(other.nonce + 1n), counts: { forks: 0 } })
    expect(errors(stream)).toContainEqual(expect.stringContaining('the source was reorganised below finality'))
    expect(await stream.runs(kept)).toBe(true)
    setting.mining(true)
    await agent.stop()
  })

  test('a reorganised target reopens the numbers whose completions are gone', async () => {
    const { target } = setting.network
    const stream = await setting.stream({ auditMs: 1_000 })
    const agent = stream.agent()
    const [one] = await stream.initiate(9n)
    if (!one) throw new Error('nothing was initiated')
    await stream.shows(({ open }) => open === 1, 'the transfer')
    setting.mining(false)
    const snapshot = await target.anvil.rpc<string>('evm_snapshot')
    await stream.complete(one)
    const height = Number(await target.anvil.rpc<string>('eth_blockNumber'))
    await stream.shows(({ completedNumber }) => completedNumber === String(one.nonce), 'the completion')
    await target.anvil.rpc('evm_revert', [snapshot])
    const now = Number(await target.anvil.rpc<string>('eth_blockNumber'))
    await target.anvil.rpc('anvil_mine', [`0x${(height - now + 8).toString(16)}`])
    setting.mining(true)
    const view = await stream.shows(({ counts, open }) => counts.undone === 1 && open === 1, 'the number to be open again')
    expect(view.blockedBy).toEqual({ number: String(one.nonce), why: 'open' })
    expect(errors(stream)).toContainEqual(expect.stringContaining('the target was reorganised below finality'))
    await stream.complete(one)
    await stream.shows(({ completedNumber }) => completedNumber === String(one.nonce), 'the second completion')
    await agent.stop()
  })

  describe('a checkpoint', () => {
    const directory = temporaryFolder()

    test('a checkpoint shortens the reading after a wipe, and no delivered transfer is started', async () => {
      const checkpoints = createCheckpointStore({ kind: 'directory', path: directory })
      const stream = await setting.stream({ checkpoints })
      const agent = stream.agent()
      // Use two blocks, so that the watermark can be between the transfers.
      const [one] = await stream.initiate(10n)
      const [two] = await stream.initiate(11n)
      if (!one || !two) throw new Error('nothing was initiated')
      await stream.complete(one)
      const { stream: name, start = 0 } = stream.source.config
      // The number of `one` may be resolved before its block is read.
      const isThere = ({ completedNumber, completedHeight = -1 }: { completedNumber?: string; completedHeight?: number }) =>
        completedNumber === String(one.nonce) && completedHeight > start
      await stream.shows(isThere, 'the watermark')
      await until(async () => isThere((await checkpoints.read(name)) ?? {}), { timeoutMs: 60_000, what: 'the checkpoint' })
      await agent.stop()
      await setting.ledgers.temporal.client.workflow.getHandle(stream.id(two)).terminate('lost')
      await stream.lose()
      const next = stream.agent()
      const view = await stream.shows(({ open, backfill }) => open === 1 && backfill.left === 0, 'the undelivered transfers')
      expect(view).toMatchObject({ completedNumber: String(one.nonce), counts: { completed: 0 } })
      expect((await stream.state()).start).toBeGreaterThan(start)
      await until(() => stream.runs(two), { timeoutMs: 60_000, what: 'the transfer to run again' })
      expect(stream.lines.map(({ message }) => message)).toContain('a stream begins with its checkpoint')
      await next.stop()
      // The source denies the block of the first bad checkpoint. The second one is malformed.
      const [file] = (await readdir(directory)).filter((each) => each.includes(name.split(':').at(-1) ?? ''))
      const path = join(directory, file ?? '')
      const good = JSON.parse(await readFile(path, 'utf8')) as { cursor: { hash: string } }
      for (const text of [JSON.stringify({ ...good, cursor: { ...good.cursor, hash: `0x${'12'.repeat(32)}` } }), '{"version":1}']) {
        await writeFile(path, text)
        await stream.lose()
        stream.lines.splice(0)
        const another = stream.agent()
        await stream.shows(
          ({ open, counts, backfill }) => open === 1 && counts.completed === 1 && backfill.left === 0,
          'all to be read again',
        )
        expect((await stream.state()).start).toBe(start)
        expect(errors(stream)).toContainEqual(expect.stringContaining('checkpoint'))
        await another.stop()
      }
    })
  })

  function foreign(nonce: bigint): NativeTransfer {
    const said = { initiator: freshAddress(), recipient: zeroPadValue(freshAddress(), 32), amount: 1n, nonce }
    return { ...said, id: idOf(said) }
  }
})
