import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTcpProxy } from '../../lab/devnet/fault-proxy/tcp-proxy.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SentTransfer, UserTransfer } from '../../lab/devnet/wormhole/users.ts'
import { digestOf, type Message, signVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import type { Treatment } from '../../lab/devnet/wormhole/observations.ts'
import type { StreamState, StreamView } from '../../domain/stream/stream.ts'
import { applyToStream, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamStatusQuery, streamViewQuery } from '../../temporal/contracts/stream.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { runsOf } from '../helpers/e2e-runs.ts'
import { type ChainKey, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const
const coins = (count: number) => Array.from({ length: count }, () => coin)
const guardians = devnetGuardians(4)

/** The spy does not send the first `count` messages. The next message shows the gap, earlier than an audit would. */
function muteAllBut(count: number): () => Treatment {
  let seen = 0
  return () => (seen++ < count ? 'mute' : 'sign')
}

/** The core contract's count shows the lost messages. Portage fetches them long before its next audit. */
describe('Wormhole messages that the spy does not send', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess

  const handle = (chain: ChainKey = 'ethereum') => {
    const emitter = toUniversal(stage.devnet.chains[chain].tokenBridge)
    return stage.client.workflow.getHandle(workflowIdOf(stage.client, `wormhole-token-bridge:${chain}:${emitter}`))
  }
  const view = (chain?: ChainKey): Promise<StreamView> => handle(chain).query(streamViewQuery)
  const state = (chain?: ChainKey): Promise<StreamState> => handle(chain).query(streamStatusQuery)
  const last = (sent: readonly SentTransfer[]) => String(sent.at(-1)?.sequence)
  const isProved = (sent: readonly SentTransfer[], timeoutMs = 120_000) =>
    until(async () => BigInt((await view()).completedNumber ?? -1) >= BigInt(last(sent)), {
      timeoutMs,
      everyMs: 200,
      what: 'the watermark',
    })
  /** Resolves when all transfers up to the last of `sent` are started. The last test waits for their delivery. */
  const isFound = (sent: readonly SentTransfer[], timeoutMs = 120_000) => {
    const look = async () => {
      const { next, gaps } = await view()
      return BigInt(next) > BigInt(last(sent)) && Object.keys(gaps).length === 0
    }
    return until(look, { timeoutMs, everyMs: 200, what: 'the gaps to be closed' })
  }
  const isListening = () => until(() => stage.devnet.guardian.spy.subscribers === 1, { timeoutMs: 60_000, what: 'the subscription' })
  const configure = (config: ConfigInput) => ({ ...config, streams: { ...config.streams, auditMinutes: 60 } })
  const gapsOf = async (name: string) =>
    (await state()).gaps.filter((gap) => gap.state === name).flatMap(({ from, to }) => (from === to ? [from] : [from, to]))
  const runsOfAll = async (sent: readonly SentTransfer[]) => Promise.all((await stage.identify(sent)).map(({ id }) => runsOf(stage, id)))
  const signed = (sent: readonly SentTransfer[]) => stage.identify(sent)
  const all: SentTransfer[] = []
  const send = async (transfers: readonly UserTransfer[]) => {
    const sent = await stage.devnet.users.ethereum.send(transfers)
    all.push(...sent)
    return sent
  }

  beforeAll(async () => {
    stage = await startStage({ guardians: guardians.length })
  })
  afterEach(() => {
    stage.devnet.guardian.treat(() => 'sign')
    stage.devnet.guardian.api.trouble()
    stage.devnet.guardian.wormholescan.trouble()
  })
  afterAll(() => stage?.close())

  test('messages that were signed before the subscription are delivered', async () => {
    const sent = await send(coins(3))
    await signed(sent)
    portage = await stage.portage({ configure })
    // Users send while the process starts, so some messages are published before its spy subscription is open.
    const more = await send(coins(3))
    await isProved([...sent, ...more])
    const outcomes = await stage.outcomes(await signed([...sent, ...more]))
    expect(outcomes.map(({ state: how }) => how)).toEqual(Array.from({ length: 6 }, () => 'delivered'))
  })

  test('messages that were signed while the spy was away are delivered', async () => {
    const { guardian } = stage.devnet
    await guardian.spy.stop()
    const sent = await send(coins(4))
    await signed(sent)
    await guardian.spy.start()
    await isFound(sent)
    expect(await runsOfAll(sent)).toEqual([1, 1, 1, 1])
  })

  test('messages that a spy drops because they are not read in time are delivered', async () => {
    const { guardian, chains } = stage.devnet
    await isListening()
    process.kill(portage.pid, 'SIGSTOP')
    try {
      // The junk exceeds the windows of HTTP/2 and TCP, so the subscription does not take the messages after it.
      const junk = Buffer.alloc(1_000_000)
      for (let count = 0; count < 20; count++) guardian.spy.publish(junk, 2, toUniversal(chains.ethereum.tokenBridge))
      const sent = await send(coins(3))
      await signed(sent)
      await until(() => guardian.spy.subscribers === 0, { timeoutMs: 60_000, what: 'the spy to drop the reader' })
      process.kill(portage.pid, 'SIGCONT')
      await isFound(sent)
      expect(await runsOfAll(sent)).toEqual([1, 1, 1])
    } finally {
      process.kill(portage.pid, 'SIGCONT')
    }
  })

  test('a message that the spy omits is fetched soon from the guardians', async () => {
    const { guardian } = stage.devnet
    await isListening()
    let count = 0
    guardian.treat(() => (++count % 2 === 1 ? 'mute' : 'sign'))
    const sent = await send(coins(4))
    await isFound(sent)
    expect(await runsOfAll(sent)).toEqual([1, 1, 1, 1])
  })

  test('a missing message is fetched from Wormholescan if the guardians do not answer', async () => {
    const { guardian } = stage.devnet
    guardian.treat(muteAllBut(2))
    guardian.api.trouble({ refuse: { status: 500 } })
    const before = guardian.wormholescan.requests.length
    const sent = await send(coins(3))
    await isFound(sent)
    expect(guardian.wormholescan.requests.slice(before).filter((path) => path.startsWith('/api/v1/vaas/')).length).toBeGreaterThan(0)
  })

  test('missing messages are fetched within the limits that a server names', async () => {
    const { guardian } = stage.devnet
    guardian.treat(muteAllBut(11))
    guardian.wormholescan.trouble({ refuse: { status: 503, retryAfterSeconds: 120 } })
    guardian.api.trouble({ limit: { requests: 4, perMs: 3_000 } })
    const early = guardian.api.early
    const sent = await send(coins(12))
    await isFound(sent)
    expect(guardian.api.early - early).toBe(0)
    expect(await runsOfAll(sent)).toEqual(sent.map(() => 1))
  })

  test('a message that the Governor holds is reported as held, and delivered when it is released', async () => {
    const { guardian } = stage.devnet
    let seen = 0
    guardian.treat(() => (++seen <= 2 ? 'hold' : 'sign'))
    const sent = await send(coins(3))
    const numbers = sent.slice(0, 2).map(({ sequence }) => String(sequence))
    await until(async () => (await gapsOf('held')).join() === numbers.join(), {
      timeoutMs: 90_000,
      what: 'the gaps to be held',
    })
    // The stream must first deliver everything that earlier tests found.
    const isFirst = async () => {
      const { blockedBy } = await view()
      return blockedBy?.number === numbers[0] && blockedBy
    }
    const blockedBy = await until(isFirst, { timeoutMs: 90_000, what: 'the first of them to hold the watermark up' })
    expect(blockedBy.why).toBe('held')
    guardian.release()
    await isFound(sent)
  })

  test('a message that no guardian observes is reported as such, grows old, and can be skipped', async () => {
    const { guardian } = stage.devnet
    guardian.treat(() => 'miss')
    const [lost] = await stage.devnet.users.ethereum.send([coin])
    // Guardians look at the message only when it is final, so they can still miss it.
    guardian.treat(({ sequence }) => (sequence === lost?.sequence ? 'miss' : 'sign'))
    const sent = await send(coins(2))
    const number = String(lost?.sequence)
    await until(async () => (await gapsOf('unobserved')).includes(number), { timeoutMs: 90_000, what: 'the gap' })
    await stage.outcomes(await signed(sent))
    const { stream } = await view()
    const isCounted = async () => {
      const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
      const age = Number(metrics.match(new RegExp(`portage_stream_oldest_gap_seconds{stream="${stream}"} (\\S+)`))?.[1])
      return metrics.includes(`portage_stream_gaps{stream="${stream}",state="unobserved"} 1`) && age > 0
    }
    await until(isCounted, { timeoutMs: 60_000, everyMs: 200, what: 'the metrics to count one gap that grows old' })
    const below = String(BigInt(number) - 1n)
    await until(async () => (await view()).completedNumber === below, { timeoutMs: 60_000, what: 'the watermark to stay below it' })
    await applyToStream(stage.client, stream, { requests: [{ kind: 'skip', number, by: 'test', reason: 'nobody saw it' }] })
    await isProved(sent)
    expect((await state()).exceptions).toMatchObject([{ number, outcome: 'skipped', by: 'test' }])
  })

  test('a repeated message, or one signed by others of the same guardians, starts nothing', async () => {
    const { guardian, chains } = stage.devnet
    const sent = await stage.send('ethereum', coins(2))
    all.push(...sent)
    const emitter = toUniversal(chains.ethereum.tokenBridge)
    const messages = guardian.observations.map(({ message }) => message).filter((message) => sent.some((one) => isOf(message, one)))
    expect(messages).toHaveLength(2)
    for (const message of messages) {
      const other = signVaa(message, guardians, [1, 2, 3])
      expect(other.digest).toBe(digestOf(message))
      for (let count = 0; count < 3; count++) {
        guardian.spy.publish(other.bytes, message.emitterChain, emitter)
        guardian.spy.publish((await stage.vaa(sent[0]!)).slice(), message.emitterChain, emitter)
      }
    }
    await stage.outcomes(sent)
    await isProved(sent)
    expect(await runsOfAll(sent)).toEqual([1, 1])
  })

  test('if either of two spies stops, the other sends every message, and each message starts one transfer', async () => {
    const { spy } = stage.devnet.guardian
    await stage.end(portage)
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(spy.address.split(':')[1]) })
    const other = `127.0.0.1:${proxy.port}`
    const bridgesOf = ({ bridges }: ConfigInput) => {
      const wormhole = bridges['wormhole-token-bridge']!
      return { ...bridges, 'wormhole-token-bridge': { ...wormhole, spies: [{ address: spy.address }, { address: other }] } }
    }
    try {
      portage = await stage.portage({ configure: (config) => ({ ...configure(config), bridges: bridgesOf(config) }) })
      await until(() => spy.subscribers === 2, { timeoutMs: 60_000, what: 'both subscriptions' })
      const both = await send(coins(2))
      await isProved(both)
      proxy.cut()
      await until(() => spy.subscribers === 1, { timeoutMs: 60_000, what: 'one subscription to end' })
      const one = await send(coins(2))
      await isProved(one)
      expect(await runsOfAll([...both, ...one])).toEqual([1, 1, 1, 1])
      const answer = await fetch(`${portage.apiUrl}/v1/stuck`, { headers: portage.admin })
      const { causes } = (await answer.json()) as { causes: { code: string; where: { id: string } }[] }
      expect(causes.flatMap(({ code, where }) => (code === 'SPY_UNAVAILABLE' ? [where.id] : []))).toEqual([other])
    } finally {
      await proxy.stop()
    }
  })

  test('nothing was delivered twice, and no number is left', async () => {
    await until(async () => (await view()).open === 0, { timeoutMs: 90_000, what: 'nothing to be open' })
    const { gaps, open, alarms } = await view()
    expect({ gaps, open, alarms }).toEqual({ gaps: {}, open: 0, alarms: [] })
    await expectDelivered(stage, await signed(all))
  })
})

function isOf(message: Message, sent: SentTransfer): boolean {
  return message.emitter === sent.emitter && message.emitterChain === sent.emitterChain && message.sequence === sent.sequence
}
