import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { type StreamRequest, type StreamState, createStreamNames } from '../../domain/stream/stream.ts'
import { applyToStream, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { runCli } from '../cli/run-cli.ts'
import { startManualAnvil } from '../helpers/evm.ts'
import { type StreamStage, startStreamStage } from '../helpers/stream-stage.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const stream = 'native-bridge:ethereum:bsc'
const contract = `0x${'cc'.repeat(20)}`
/** Height up to which the streams have scanned. The chain is a few blocks higher. */
const scanned = 20

describe('portage stream', () => {
  const folder = temporaryFolder()
  let stage: StreamStage
  let anvil: Awaited<ReturnType<typeof startManualAnvil>>
  let config: string
  let dead: string

  const cli = (...argv: string[]) => runCli(['stream', ...argv, '--wide', '--config', config])
  const tell = (requests: readonly StreamRequest[]) => applyToStream(stage.client, stream, { requests })
  const hashOf = async (height: number) =>
    (await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])).hash
  const state = async () =>
    (await cli('show', stream, '--json')).json() as Record<'view', Record<string, unknown>> & Record<string, unknown> & StreamState
  const refused = async (code: string, why: RegExp, ...argv: string[]) => {
    const [people, scripts] = [await cli(...argv), await cli(...argv, '--json')]
    expect([people.code, people.out, people.err]).toEqual([1, '', expect.stringMatching(new RegExp(`^${code}: `))])
    expect(people.err).toMatch(why)
    expect([scripts.code, scripts.json()]).toEqual([1, { error: expect.objectContaining({ code, message: expect.stringMatching(why) }) }])
  }

  beforeAll(async () => {
    anvil = await startManualAnvil()
    const id = `native-bridge:${anvil.chainId}:5`
    stage = await startStreamStage(createStreamNames([{ id, name: stream }]))
    await anvil.mine(scanned + 10)
    const ethereum = {
      family: 'evm',
      networkId: anvil.chainId,
      nodes: [{ url: anvil.url }],
      blockTimeMs: 200,
      finality: { kind: 'instant' },
    }
    const unheard = { ...ethereum, networkId: 5, nodes: [{ url: `http://127.0.0.1:${await freePort()}` }] }
    const route = { source: 'ethereum', target: 'bsc', sourceContract: contract, targetContract: contract }
    const value = {
      temporal: { address: stage.address },
      chains: { ethereum, bsc: unheard },
      streams: { checkpoints: { kind: 'directory', path: 'checkpoints' } },
      bridges: { 'native-bridge': { routes: [route] } },
    }
    config = join(folder, 'portage.yaml')
    dead = join(folder, 'dead.yaml')
    await writeFile(config, stringify(value))
    const { streams: _, ...others } = value
    await writeFile(dead, stringify({ ...others, temporal: { address: `127.0.0.1:${await freePort()}` } }))
  })
  afterAll(async () => {
    await anvil?.stop()
    await stage?.stop()
  })

  test('stream commands say that no stream was started', async () => {
    const unheard = runCli(['stream', 'list', '--wide', '--config', dead])
    expect(await cli('list')).toMatchObject({ code: 0, out: expect.stringMatching(/^no streams/), err: '' })
    expect((await cli('list', '--json')).json()).toEqual({ asOf: expect.stringMatching(/^2.*Z$/), streams: [] })
    await refused('STREAM_NOT_FOUND', /portage stream list/, 'show', stream)
    await refused('STREAM_NOT_FOUND', /No stream/, 'pause', stream, '--reason', 'a test')
    await refused('STREAM_NOT_FOUND', /No stream/, 'checkpoint', 'show', stream)
    await refused('STREAM_NOT_FOUND', /No stream/, 'checkpoint', 'write', stream)
    expect(await unheard).toMatchObject({ code: 1, err: expect.stringContaining('TEMPORAL_UNAVAILABLE') })
  })

  test('stream list and show have watermark, gaps, parked numbers and the backfill', async () => {
    const numbers = [
      ['1', 11],
      ['2', 12],
      ['4', 15],
      ['5', 16],
    ] as const
    const first = { from: 10, to: scanned, parentHash: await hashOf(9), hash: await hashOf(scanned) }
    const requests: StreamRequest[] = [
      { kind: 'scanned', ...first, numbers, passed: [], delivered: [['1', '1']] },
      { kind: 'parked', number: '2', code: 'FEE_CEILING' },
    ]
    const begun = { config: { stream, origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 } }
    const applied = await applyToStream(stage.client, stream, { requests }, { begin: () => begun })
    expect(applied.answers).toEqual([{ kind: 'done' }, { kind: 'done' }])
    const listed = async () => (await cli('list', '--json')).json()['streams'] as readonly object[]
    await until(async () => (await listed()).length === 1, { timeoutMs: 90_000, what: 'the server to list the stream' })
    expect(await listed()).toEqual([
      expect.objectContaining({
        ...{ stream, cursor: scanned, lag: 10, open: 3, parked: 1, gaps: { unasked: '1' }, alarms: [], completed_nonce_height: '1' },
      }),
    ])
    const people = await cli('list')
    expect(people.out).toMatch(/^read 2\S+Z$/m)
    expect(people.out).toMatch(/^stream +cursor +lag +open +parked +gaps +completed_nonce_height +completed_block_height +notes$/m)
    expect(people.out).toMatch(/^native-bridge:ethereum:bsc +20 +10 +3 +1 +1 unasked +1 +\S+ +backfill: 10 blocks left$/m)

    const shown = await state()
    expect(shown).toMatchObject({
      next: '6',
      gaps: [{ from: '3', to: '3', state: 'unasked' }],
      view: { lag: 10, blockedBy: { number: '2', why: 'parked' } },
    })
    const { out, code } = await cli('show', stream)
    expect(code).toBe(0)
    expect(out).toMatch(/^waits for +2, parked \(FEE_CEILING\)$/m)
    expect(out).toMatch(/^backfill +10 of 10 blocks left, ordered by bootstrap$/m)
    expect(out).toMatch(/^3 +1 +unasked +\d+ s +12$/m)
    expect(out).toMatch(/^parked +1 +FEE_CEILING +2$/m)
    expect(out).toMatch(/^under way: 4-5$/m)
  })

  test('skip resolves a number with author and reason, unskip reopens it; unknown numbers are refused', async () => {
    const skipped = await cli('skip', stream, '3', '--reason', 'a test message')
    expect([skipped.code, skipped.out]).toEqual([0, expect.stringMatching(/^done +skipped 3$/m)])
    expect((await state()).exceptions).toMatchObject([{ number: '3', outcome: 'skipped', by: 'night-shift', reason: 'a test message' }])
    expect((await cli('show', stream)).out).toMatch(/^3 +skipped +night-shift +\d+ s +a test message$/m)
    expect((await cli('skip', stream, '3', '--reason', 'again', '--json')).json()).toMatchObject({ done: false, view: { stream } })
    await refused('INPUT_INVALID', /6 is not known to exist: the highest number is below 6/, 'skip', stream, '6', '--reason', 'a test')

    expect((await cli('unskip', stream, '3', '--reason', 'it was real', '--json')).json()).toMatchObject({ done: true })
    expect(await state()).toMatchObject({ exceptions: [], gaps: [{ from: '3', state: 'undone' }] })
    await refused('INPUT_INVALID', /6 is not known to exist/, 'unskip', stream, '6', '--reason', 'a test')
  })

  test('stream pause holds the cursor, resume releases it, and set-max-open changes the room', async () => {
    expect((await cli('pause', stream, '--reason', 'an upgrade')).code).toBe(0)
    expect((await cli('list')).out).toContain('paused by night-shift: an upgrade')
    const next: StreamRequest = {
      ...{ kind: 'scanned', from: scanned + 1, to: scanned + 1, numbers: [], passed: [] },
      ...{ parentHash: await hashOf(scanned), hash: await hashOf(scanned + 1) },
    }
    expect((await tell([next])).answers).toEqual([{ kind: 'paused' }])
    expect((await cli('resume', stream, '--json', '--reason', 'a test')).json()).toMatchObject({ done: true, view: { full: false } })
    expect(await state()).not.toHaveProperty('paused')
    const ordered = await cli('set-max-open', stream, '2', '--json', '--reason', 'a test')
    expect(ordered.json()).toMatchObject({ done: true, view: { room: 0, full: true, maxOpen: { most: 2, configured: 10 } } })
    expect((await cli('list')).out).toContain('full: the cursor waits')
    expect((await cli('show', stream)).out).toMatch(
      /\(at most 2, ordered by night-shift since \d+ s; the config says 10\): the cursor waits$/m,
    )
    expect((await cli('set-max-open', stream, 'configured', '--reason', 'a test')).out).toMatch(/^done +as many open as the config says$/m)
    expect((await cli('show', stream)).out).toMatch(/\(at most 10, as configured\)$/m)
  })

  test('stream backfill reads blocks below the cursor, and --wait shows the progress to the end', async () => {
    await refused('INPUT_INVALID', /from: above the cursor \(20\)/, 'backfill', stream, '--from', '21', '--to', '30', '--reason', 'a test')
    await refused('INPUT_INVALID', /--to: must not be below from/, 'backfill', stream, '--from', '5', '--to', '4', '--reason', 'a test')
    const ordered = await cli('backfill', stream, '--from', '12', '--to', '99', '--json', '--reason', 'a test')
    expect(ordered.json()).toMatchObject({ done: true, view: { backfill: { left: 19, ordered: 19 } } })
    let shown = ''
    const waiting = runCli(
      ['stream', 'backfill', stream, '--from', '12', '--to', '20', '--wait', '--reason', 'a test', '--config', config],
      {
        onError: (text) => (shown += text),
      },
    )
    const read = (from: number, to: number): StreamRequest => ({ kind: 'backfilled', from, to, numbers: [], passed: [] })
    await until(() => shown.includes('0 of 9 blocks read'), { timeoutMs: 60_000, what: 'the first progress' })
    await tell([read(12, 15)])
    await until(() => shown.includes('4 of 9 blocks read'), { timeoutMs: 60_000, what: 'the next progress' })
    await tell([read(16, 20)])
    const above = await cli('backfill', stream, '--from', '18', '--to', '99', '--reason', 'a test')
    expect(above.out).toMatch(/^ordered +blocks 18-(\d+); the live scan reads those above \1$/m)
    await tell([read(18, 20)])
    expect(await waiting).toMatchObject({ code: 0, out: expect.stringMatching(/^done +blocks 12-20\nbackfill +10 blocks left/m) })
    await tell([read(0, 9)])
  })

  test('stream trust only raises the watermark', async () => {
    const raised = await cli('trust', stream, '--number', '2', '--height', '12', '--json', '--reason', 'a test')
    expect(raised.json()).toMatchObject({ done: true, view: { completed_nonce_height: '2' } })
    const again = await cli('trust', stream, '--number', '1', '--reason', 'a test')
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^unchanged +1 or more is trusted already$/m)])
    const unnamed = await cli('trust', stream)
    expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining("required option '--number <number>' not specified")])
  })

  test('a watermark above the known numbers is refused, and alarms until an acceptable one is given', async () => {
    const alarms = async () => (await state()).view['alarms']
    await refused('INPUT_INVALID', /number: 99 is not known to exist/, 'trust', stream, '--number', '99', '--reason', 'a test')
    expect(await alarms()).toEqual(['distrusted'])
    expect((await cli('show', stream)).out).toMatch(/^distrusted: night-shift gave 99 as watermark/m)
    expect((await cli('list')).out).toContain('ALARM distrusted')
    await refused(
      'INPUT_INVALID',
      /height: above the cursor \(20\)/,
      'trust',
      stream,
      '--number',
      '2',
      '--height',
      '21',
      '--reason',
      'a test',
    )
    expect((await cli('trust', stream, '--number', '2', '--reason', 'a test')).code).toBe(0)
    expect(await alarms()).toEqual([])
  })

  test('a signal with malformed texts pauses the stream and never blocks it', async () => {
    const signal = (...args: unknown[]) => stage.client.workflow.getHandle(workflowIdOf(stage.client, stream)).signal('pause', ...args)
    const paused = async () => (await state()).paused
    for (const [typed, by, reason] of [
      [[{ by: 5, reason: { ticket: 7 } }], '5', '{"ticket":7}'],
      [[{ by: null, reason: ['a', 'b'] }], 'unnamed', '["a","b"]'],
      [[{ by: 'night-shift' }], 'night-shift', 'no reason given'],
      [[], 'unnamed', 'signal without a name'],
    ] as const) {
      await signal(...typed)
      expect(await paused()).toMatchObject({ by, reason })
    }
    expect((await cli('resume', stream, '--reason', 'a test')).code).toBe(0)
  })

  test('a checkpoint is written outside Temporal and shown with its present value', async () => {
    const before = (await cli('checkpoint', 'show', stream, '--json')).json()
    expect(before).toMatchObject({
      now: { version: 1, stream, completedNumber: '2', cursor: { height: scanned, hash: await hashOf(scanned) } },
    })
    expect(before).not.toHaveProperty('kept')
    expect((await cli('checkpoint', 'write', stream)).code).toBe(0)
    const shown = (await cli('checkpoint', 'show', stream, '--json')).json()
    expect(shown['kept']).toEqual(shown['now'])
    // The file's name contains the chains' ids and not their names, so that a renamed chain keeps its checkpoint.
    const id = `native-bridge:${anvil.chainId}:5`
    const file = join(folder, 'checkpoints', `${id.replaceAll(':', '_')}.json`)
    const kept = { ...(shown['kept'] as object), stream: id }
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(kept)
    expect((await cli('checkpoint', 'show', stream)).out).toMatch(/^kept +2 +11 +0 +block 20, 0x[0-9a-f]{64}$/m)
    await writeFile(file, JSON.stringify({ ...kept, completedNumber: 2 }))
    await refused('CHECKPOINT_INVALID', /completedNumber/, 'checkpoint', 'show', stream)
  })

  test("stream reread goes back to a block that the source's nodes still have", async () => {
    const wrong = `0x${'12'.repeat(32)}`
    const [forked, above] = await Promise.all([
      cli('reread', stream, '--block', '15', '--hash', wrong, '--reason', 'a test'),
      cli('reread', stream, '--block', '20', '--json', '--reason', 'a test'),
    ])
    expect([forked.code, forked.err]).toEqual([1, expect.stringMatching(/^INPUT_INVALID: .*hash: block 15 of the source is 0x/)])
    const below = expect.stringContaining('must be below the cursor (20)')
    expect([above.code, above.json()]).toEqual([1, { error: expect.objectContaining({ code: 'INPUT_INVALID', message: below }) }])
    const back = await cli('reread', stream, '--block', '15', '--hash', await hashOf(15), '--json', '--reason', 'a test')
    expect(back.json()).toMatchObject({ done: true, view: { cursor: 15 } })
    expect((await state()).cursor).toEqual({ height: 15, hash: await hashOf(15) })
  })

  test('commands say that no worker serves a stream, and still show its checkpoint', async () => {
    await cli('checkpoint', 'write', stream)
    await stage.rest()
    // Each command waits for a worker that does not exist. Run in parallel, they wait only once.
    const [shown, ordered, listed, kept] = await Promise.all([
      cli('show', stream, '--json'),
      cli('resume', stream, '--reason', 'a test'),
      cli('list', '--json'),
      cli('checkpoint', 'show', stream),
    ])
    const away = { code: 'STREAM_UNREACHABLE', remedy: 'Check that a worker serves the queue `ledger`.' }
    expect([shown.code, shown.json()]).toEqual([1, { error: expect.objectContaining(away) }])
    expect([ordered.code, ordered.err]).toEqual([1, expect.stringContaining(away.code)])
    expect(listed.json()['streams']).toEqual([{ stream, problem: expect.stringContaining('did not answer') }])
    expect([kept.code, kept.out]).toEqual([0, expect.stringMatching(/^kept +2 /m)])
    expect(kept.out).not.toContain('now')
  })
})
