import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { createTestCa, hasOpenssl } from '../../lab/devnet/temporal/certificates.ts'
import { type Spy, startSpy } from '../../lab/devnet/wormhole/spy.ts'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { coreAbi, createGuardianSets, createVerifier } from '../../bridges/kit/signed-messages.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { createSpyIntake, type SpyIntake, type SpyIntakeOptions } from '../../intake/spy/spy.ts'
import type { Submitter } from '../../intake/submit/submitter.ts'
import { reachSpy } from '../../operations/causes/collect.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'

const waitLimit = { timeout: 40_000 }
/** A core contract that has only guardian set 0. */
const junkChain: ContractReader = {
  name: 'ethereum',
  async call(_, data) {
    const call = coreAbi.parseTransaction({ data })!
    if (call.name === 'getCurrentGuardianSetIndex') return coreAbi.encodeFunctionResult(call.name, [0])
    return coreAbi.encodeFunctionResult(call.name, [[[`0x${'ab'.repeat(20)}`], 0]])
  },
}
const withOpenssl = await hasOpenssl()
const emitter = (name: string) => name.repeat(32)
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop()
})

async function network(options: Partial<SpyIntakeOptions> & { sendTimeoutMs?: number } = {}) {
  const spy = await startSpy({ sendTimeoutMs: options.sendTimeoutMs ?? 5_000 })
  const messages: string[] = []
  let answer: Submitter['submit'] = async (_, message) => ({ id: Buffer.from(message).toString(), status: 'started' })
  const metrics = createMetrics()
  const intake = createSpyIntake({
    bridge: 'wormhole-token-bridge',
    address: spy.address,
    filters: [
      { chain: 2, emitter: emitter('aa') },
      { chain: 4, emitter: emitter('bb') },
    ],
    submitter: {
      async submit(bridge, message, how) {
        const result = await answer(bridge, message, how)
        messages.push(Buffer.from(message).toString())
        return result
      },
    },
    logger: silentLogger(),
    metrics,
    retry: { firstMs: 10, mostMs: 40 },
    ...options,
  })
  open.push(
    () => spy.stop(),
    () => intake.stop(50),
  )
  return { spy, intake, messages, metrics, answerWith: (next: Submitter['submit']) => (answer = next) }
}

async function listening(spy: Spy, intake: SpyIntake): Promise<void> {
  intake.start()
  await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
  await expect.poll(() => intake.health.connected, waitLimit).toBe(true)
}

const say = (spy: Spy, text: string, chain = 2, from = emitter('aa')) => spy.publish(Buffer.from(text), chain, from)

describe('the spy intake', () => {
  test('the spy intake receives the emitters that it subscribed to, and no others', async () => {
    const { spy, intake, messages, metrics } = await network()
    await listening(spy, intake)
    say(spy, 'one')
    say(spy, 'other chain', 4)
    say(spy, 'other emitter', 2, emitter('cc'))
    say(spy, 'two', 4, emitter('bb'))
    await expect.poll(() => messages, waitLimit).toEqual(['one', 'two'])
    expect(intake.health).toMatchObject({
      connected: true,
      connections: 1,
      received: 2,
      started: 2,
      known: 0,
      refused: {},
      kept: 0,
      paused: false,
      problem: undefined,
    })
    expect(intake.health.lastMessageAt).toBeGreaterThan(Date.now() - 10_000)
    expect(await metrics.render()).toContain('portage_intake_messages_total{via="spy",bridge="wormhole-token-bridge"} 2')
  })

  test('the spy intake skips recent messages, and counts known and refused ones', async () => {
    const { spy, intake, answerWith, metrics } = await network()
    const asked: unknown[] = []
    answerWith(async (bridge, message, how) => {
      asked.push([bridge, how])
      if (String(Buffer.from(message)) === 'bad') throw new RelayerError('VAA_NO_QUORUM')
      return { id: 'x', status: 'known' }
    })
    await listening(spy, intake)
    say(spy, 'good')
    say(spy, 'bad')
    await expect.poll(() => intake.health, waitLimit).toMatchObject({ received: 2, known: 1, refused: { VAA_NO_QUORUM: 1 }, kept: 0 })
    expect(asked[0]).toEqual(['wormhole-token-bridge', { repeats: 'skip', seenAt: expect.any(Number) }])
    expect(await metrics.render()).toContain(
      'portage_intake_refused_total{via="spy",bridge="wormhole-token-bridge",code="VAA_NO_QUORUM"} 1',
    )
  })

  test('10,000 junk messages of unknown guardian sets do not stop two valid messages', async () => {
    const { spy, intake, messages, answerWith } = await network()
    const core = createGuardianSets(junkChain, `0x${'ab'.repeat(20)}`)
    const verify = createVerifier(core, () => 0)
    answerWith(async (_, message) => {
      const text = Buffer.from(message).toString()
      if (text.startsWith('good')) return { id: text, status: 'started' }
      await verify(message)
      throw new Error('junk was believed')
    })
    await listening(spy, intake)
    const body = Buffer.alloc(190)
    for (let index = 0; index < 10_000; index++) {
      body.writeUInt32BE(index, 90)
      // Headers without signatures, with a set far above the newest, or with the next set, which no chain has.
      const head = index % 3 === 0 ? '01ffffffff00' : `01${index % 3 === 1 ? 'ffffffff' : '00000001'}01${'00'.repeat(66)}`
      spy.publish(Buffer.concat([Buffer.from(head, 'hex'), body]), 2, emitter('aa'))
    }
    spy.publish(new Uint8Array(), 2, emitter('aa'))
    spy.publish(Buffer.alloc(mostMessageBytes + 1, 1), 2, emitter('aa'))
    say(spy, 'good one')
    say(spy, 'good two')
    await expect.poll(() => messages, { timeout: 120_000 }).toEqual(['good one', 'good two'])
    await expect.poll(() => intake.health.kept, waitLimit).toBe(200)
    const { refused, unknownSets, paused } = intake.health
    expect([unknownSets, paused, refused['VAA_TRUNCATED'], refused['MESSAGE_TOO_LARGE']]).toEqual([200, false, 1, 1])
    expect([refused['VAA_NO_QUORUM'], refused['GUARDIAN_SET_IMPOSSIBLE'], refused['GUARDIAN_SET_UNKNOWN']]).toEqual([3_334, 3_333, 3_133])
  })

  test('the spy intake reconnects after the spy was away', async () => {
    const { spy, intake, messages } = await network()
    await listening(spy, intake)
    say(spy, 'before')
    await expect.poll(() => messages, waitLimit).toEqual(['before'])
    await spy.stop()
    await expect.poll(() => intake.health.connected, waitLimit).toBe(false)
    expect(intake.health.problem).toBeTruthy()
    await spy.start()
    await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
    say(spy, 'after')
    await expect.poll(() => messages, waitLimit).toEqual(['before', 'after'])
    expect(intake.health).toMatchObject({ connected: true, connections: 2, problem: undefined })
  })

  const waitsIn = () => {
    const waits: number[] = []
    const warn = (_: string, { retryInMs }: { retryInMs?: number } = {}) => void (retryInMs !== undefined && waits.push(retryInMs))
    return { waits, logger: { ...silentLogger(), warn } as never }
  }

  test('a spy that cannot be reached is tried again within five seconds', async () => {
    const { waits, logger } = waitsIn()
    const { spy, intake } = await network({ retry: { firstMs: 20_000, mostMs: 60_000 }, logger })
    await spy.stop()
    intake.start()
    await expect.poll(() => waits.length, waitLimit).toBe(1)
    expect(waits[0]).toBeLessThanOrEqual(5_000)
  })

  test('the waits for a spy grow if it ends each subscription after one message', async () => {
    const { waits, logger } = waitsIn()
    const { spy, intake, messages } = await network({
      retry: { firstMs: 20, mostMs: 60_000 },
      logger,
    })
    intake.start()
    for (let round = 1; round <= 5; round++) {
      await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
      say(spy, String(round))
      await expect.poll(() => messages.length, waitLimit).toBe(round)
      waits.length = 0
      await spy.stop()
      await expect.poll(() => waits.length, waitLimit).toBeGreaterThan(0)
      await spy.start()
    }
    // The fifth wait is at least half of 20 ms × 2^4.
    expect(waits[0]).toBeGreaterThanOrEqual(160)
  })

  test.runIf(withOpenssl)('the spy intake uses TLS, and refuses a server whose certificate its CA did not sign', async () => {
    const dir = temporaryFolder()
    const [ca, other] = [await createTestCa(join(dir, 'ca'), 'ca'), await createTestCa(join(dir, 'other'), 'other')]
    const files = await ca.issue('spy')
    const { spy, intake: plain } = await network()
    await plain.stop(0)
    const proxy = createServer({ cert: readFileSync(files.certificate), key: readFileSync(files.key), ALPNProtocols: ['h2'] }, (socket) => {
      const [host = '', port = ''] = spy.address.split(':')
      const inner = connect(Number(port), host)
      socket.on('error', () => inner.destroy()).pipe(inner)
      inner.on('error', () => socket.destroy()).pipe(socket)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    open.push(() => new Promise((resolve) => proxy.close(() => resolve())))
    const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const [trusting, distrusting, without] = await Promise.all(
      [ca.file, other.file, join(dir, 'absent')].map((caFile) => network({ address, tls: { caFile } })),
    )
    for (const { intake } of [trusting!, distrusting!, without!]) intake.start()
    await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
    say(spy, 'over TLS')
    await expect.poll(() => trusting!.messages, waitLimit).toEqual(['over TLS'])
    await expect.poll(() => distrusting!.intake.health.problem, waitLimit).toContain('its certificate is not trusted')
    expect(without!.intake.health.problem).toContain(`the CA file of ${address} cannot be used: ENOENT`)
    await expect(reachSpy({ address, tls: { caFile: ca.file } }, 5_000)).resolves.toBeUndefined()
    await expect(reachSpy({ address, tls: { caFile: other.file } }, 500)).rejects.toMatchObject({ code: 'SPY_UNAVAILABLE' })
  })

  test('the spy intake can start before the spy', async () => {
    const { spy, intake } = await network()
    await spy.stop()
    intake.start()
    await expect.poll(() => intake.health.problem, waitLimit).toBeTruthy()
    await spy.start()
    await expect.poll(() => intake.health.connected, waitLimit).toBe(true)
    await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
  })

  test('the spy intake keeps messages that cannot be submitted, stops reading at the limit, and loses none', async () => {
    const { spy, intake, messages, answerWith } = await network({ limit: 20, concurrency: 4 })
    let down = true
    answerWith(async (_, message) => {
      if (down) throw new RelayerError('TEMPORAL_UNAVAILABLE')
      return { id: Buffer.from(message).toString(), status: 'started' }
    })
    await listening(spy, intake)
    const sent = Array.from({ length: 200 }, (_, index) => String(index))
    for (const text of sent) say(spy, text)
    await expect.poll(() => intake.health.paused, waitLimit).toBe(true)
    // Buffers still hold messages for the paused intake. The rest of the messages stay at the spy.
    await expect.poll(() => intake.health.problem, waitLimit).toContain('Temporal')
    expect(intake.health.received).toBeLessThan(sent.length)
    expect(intake.health.kept).toBe(intake.health.received)
    down = false
    await expect.poll(() => messages.length, waitLimit).toBe(sent.length)
    expect(messages.toSorted()).toEqual(sent.toSorted())
    expect(intake.health).toMatchObject({ started: 200, kept: 0, paused: false, problem: undefined })
  })

  test('the spy intake reconnects after the spy dropped it as too slow', async () => {
    const { spy, intake, messages, answerWith } = await network({ limit: 2, concurrency: 1, sendTimeoutMs: 1_000 })
    let down = true
    answerWith(async (_, message) => {
      if (down) throw new RelayerError('NODE_UNAVAILABLE')
      return { id: Buffer.from(message).toString(), status: 'started' }
    })
    await listening(spy, intake)
    const large = Buffer.alloc(200_000, 'x')
    for (let sent = 0; sent < 20; sent++) spy.publish(large, 2, emitter('aa'))
    await expect.poll(() => spy.subscribers, waitLimit).toBe(0)
    expect(intake.health).toMatchObject({ paused: true, connections: 1 })
    down = false
    await expect.poll(() => intake.health, waitLimit).toMatchObject({ connected: true, connections: 2, kept: 0, paused: false })
    await expect.poll(() => spy.subscribers, waitLimit).toBe(1)
    say(spy, 'after')
    await expect.poll(() => messages.at(-1), waitLimit).toBe('after')
    expect(intake.health.started).toBe(intake.health.received)
  })

  test('a stopped spy intake opens no connections, and submits the received messages', async () => {
    const { spy, intake, messages, answerWith } = await network()
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    answerWith(async (_, message) => {
      await held
      return { id: Buffer.from(message).toString(), status: 'started' }
    })
    await listening(spy, intake)
    say(spy, 'last')
    await expect.poll(() => intake.health.received, waitLimit).toBe(1)
    const stopped = intake.stop(1_000)
    release()
    await stopped
    expect(messages).toEqual(['last'])
    await expect.poll(() => spy.subscribers, waitLimit).toBe(0)
    expect(intake.health.connected).toBe(false)
  })

  test('the spy intake can be stopped while it connects, and while it waits to connect', async () => {
    const connecting = await network()
    connecting.intake.start()
    await connecting.intake.stop()
    expect(connecting.intake.health).toMatchObject({ connected: false, connections: 0 })
    const waiting = await network({ retry: { firstMs: 60_000, mostMs: 60_000 } })
    await waiting.spy.stop()
    waiting.intake.start()
    await expect.poll(() => waiting.intake.health.problem, waitLimit).toContain('cannot connect')
    await waiting.intake.stop()
    await waiting.spy.start()
    expect([waiting.spy.subscribers, waiting.intake.health.connections]).toEqual([0, 0])
  })

  test('the spy intake shows the text with which the spy refuses a filter', async () => {
    const { intake } = await network({ filters: [{ chain: 70_000, emitter: emitter('aa') }] })
    intake.start()
    await expect.poll(() => intake.health.problem, waitLimit).toContain('16 bit')
  })
})
