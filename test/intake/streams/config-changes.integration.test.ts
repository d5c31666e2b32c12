import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamNames } from '../../../bridges/configured-emitters.ts'
import { createSourceWithoutNode } from '../../../bridges/kit/emitter-sources.ts'
import type { SignedSource } from '../../../bridges/port.ts'
import { checkStreams } from '../../../cli/doctor/workflows.ts'
import { parseConfig } from '../../../config/load/load.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import { createStreamNames, type StreamState, type StreamView } from '../../../domain/stream/stream.ts'
import { until } from '../../../lab/devnet/until.ts'
import { createMetrics } from '../../../observability/metrics.ts'
import { orderStream } from '../../../intake/streams/orders.ts'
import { createSignedAgent } from '../../../intake/streams/signed/agent.ts'
import { chainWithoutNode } from '../../../intake/streams/signed/bootstrap.ts'
import { applyToStream, listStreamNames, queryStream } from '../../../temporal/client/streams/streams.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { type ScannedSetting, startScannedSetting } from './setting.ts'
import { ofTokenBridge } from '../../helpers/of-token-bridge.ts'

let setting: ScannedSetting
beforeAll(async () => {
  setting = await startScannedSetting()
})
afterAll(() => setting?.stop())

describe('a config that changes while its stream runs', () => {
  test('a running stream takes the config of the next process, unless an order outranks it', async () => {
    const stream = await setting.stream({ maxOpen: 2 })
    const order = (maxOpen?: number) =>
      orderStream(setting.ledgers.temporal.client, stream.source.config.stream, {
        ...{ kind: 'setMaxOpen', order: { by: 'night-shift', reason: 'a test' } },
        ...(maxOpen !== undefined && { maxOpen }),
      })
    await stream.initiate(1n, 2n, 3n, 4n, 5n)
    const first = stream.agent()
    await stream.shows(({ open, full }) => open === 2 && full, 'a full stream')
    await first.stop()

    const second = stream.agent({ maxOpen: 4, start: 1 })
    const more = await stream.shows(({ open }) => open === 4, 'as many as the new config lets in')
    expect(more.maxOpen).toEqual({ most: 4, configured: 4 })
    await stream.shows(
      () => stream.lines.some(({ level, message }) => level === 'warn' && message.includes('applies only when')),
      'the start',
    )
    await second.stop()

    expect((await order(3)).view.maxOpen).toMatchObject({ most: 3, configured: 4, ordered: { by: 'night-shift' } })
    const third = stream.agent({ maxOpen: 9 })
    const kept = await stream.shows(({ maxOpen }) => maxOpen?.configured === 9, 'the limit of the third config')
    expect(kept).toMatchObject({ full: true, open: 4, maxOpen: { most: 3, ordered: { by: 'night-shift' } } })
    expect((await order()).view.maxOpen).toEqual({ most: 9, configured: 9 })
    await stream.shows(({ open }) => open === 5, 'all that there is')
    await third.stop()
  })
})

/** No server has messages of Wormhole's chain 2, and no transfer is really started. */
describe('a source that gets a node, loses it, and is renamed', () => {
  const emitter = 'c5'.repeat(32)
  const nameOf = (chain: string) => `wormhole-token-bridge:${chain}:${emitter}`
  const own = { emitterChain: 2, emitter, ...ofTokenBridge(), maxOpen: 50 }
  const heard = createSourceWithoutNode({ ...own, begins: {}, sourceChain: 'wormhole-2' })
  /** A client whose config names the source's chain `chain`. */
  const client = (chain: string): TemporalClient =>
    Object.assign(Object.create(setting.ledgers.temporal.client) as TemporalClient, {
      streamNames: createStreamNames([{ id: nameOf('2'), name: nameOf(chain) }]),
    })

  const counted = (sourceChain: string, highest: string): SignedSource => {
    const { withoutNode: _, ...rest } = createSourceWithoutNode({ ...own, begins: {}, sourceChain })
    const config = { ...rest.config, stream: nameOf(sourceChain), origin: '1/0xcc' }
    return { ...rest, config, sourceChain, highest: async () => highest }
  }

  function start(source: SignedSource, { auditMs = 60_000, watchEveryMs = 60_000 } = {}) {
    const { bridge, client: _, logger, ...others } = setting.signed()
    const head = { latest: { height: 9 }, finalized: 9, applied: [], rolledBack: [] } as never
    const chain = source.withoutNode
      ? chainWithoutNode(source.sourceChain)
      : { name: source.sourceChain, block: async () => undefined, heads: { current: head, subscribe: () => () => {} } }
    const agent = createSignedAgent({
      ...{ ...others, bridge, client: client(source.sourceChain), logger, source, chain, auditMs, watchEveryMs },
    })
    agent.start()
    return agent
  }

  const shows = (chain: string, wanted: (view: StreamView, state: StreamState) => boolean, what: string) =>
    until(
      async () => {
        const state = await queryStream(client(chain), nameOf(chain))
        return state && wanted(viewStream(state), state) && { ...viewStream(state), config: state.config, orders: state.orders }
      },
      { timeoutMs: 90_000, everyMs: 100, what: `${chain} to have ${what}` },
    )
  const ofEmitter = async () => (await listStreamNames(setting.ledgers.temporal.client)).filter((id) => id.endsWith(emitter))

  let without: ReturnType<typeof start>

  test('the agent notices what another process or an operator has recorded before the next audit', async () => {
    const tell = (requests: Parameters<typeof applyToStream>[2]['requests']) =>
      applyToStream(
        client('wormhole-2'),
        nameOf('wormhole-2'),
        { requests },
        { begin: () => ({ config: { ...heard.config, first: '5' } }) },
      )
    await tell([{ kind: 'seen', numbers: [['5']], ignored: [['5', '5']] }])
    without = start(heard, { auditMs: 3_600_000, watchEveryMs: 200 })
    const metrics = createMetrics()
    metrics.onCollect((all) => without.report(all))
    const knows = async () => (await metrics.render()).includes(`portage_stream_open{stream="${nameOf('wormhole-2')}"} 0`)
    await until(knows, { timeoutMs: 90_000, what: 'the agent to have nothing to do' })
    await tell([{ kind: 'seen', numbers: [['6'], ['9']] }])
    const view = await shows(
      'wormhole-2',
      ({ gaps }) => gaps.unasked === undefined && Object.keys(gaps).length > 0,
      'its missing numbers asked for',
    )
    expect(view).toMatchObject({ open: 2, gaps: { unobserved: '2' } })
  })

  test('a source that gets a node keeps its stream, with watermark, open and missing numbers, and orders', async () => {
    const order = { by: 'night-shift', reason: 'a test' }
    await orderStream(client('wormhole-2'), nameOf('wormhole-2'), { kind: 'pause', order })
    await without.stop()

    const withNode = start(counted('ethereum', '11'))
    const first = await shows('ethereum', ({ next }) => next === '12', 'all that its node counts')
    expect(first).toMatchObject({
      completedNumber: '5',
      open: 2,
      paused: order,
      counts: { ignored: 1 },
      orders: [{ kind: 'pause', by: 'night-shift' }],
    })
    expect(Object.values(first.gaps).reduce((sum, count) => sum + Number(count), 0)).toBe(4)
    const named = await shows('ethereum', (_, { config }) => config.stream === nameOf('ethereum'), 'its new name')
    expect(named.config.origin).toBe('1/0xcc')
    await withNode.stop()

    const again = start(heard, { auditMs: 400 })
    const second = await shows('wormhole-2', (_, { config }) => config.stream === nameOf('wormhole-2'), 'its first name again')
    expect(second).toMatchObject({ next: '12', completedNumber: '5', open: 2, paused: order })
    await again.stop()

    const renamed = start(counted('eth', '12'))
    await shows('eth', ({ next, completedNumber }) => next === '13' && completedNumber === '5', 'all that its node counts')
    await renamed.stop()
    expect(await ofEmitter()).toEqual([nameOf('2')])
  })

  test('portage doctor names streams without a source, with the command that ends each', async () => {
    const config = parseConfig(
      `
temporal: {}
chains:
  mainnet:
    family: evm
    networkId: 1
    wormholeChainId: 2
    nodes: [{ url: http://127.0.0.1:8545 }]
    finality: { kind: tag }
    blockTimeMs: 12000
    contracts: { core: '0x98f3c9e6E3fAce36bAAd05FE09d375Ef1464288B', tokenBridge: '0x3ee18B2214AFF97000D974cf647E7C347E8fa585' }
    lanes: []
bridges:
  wormhole-token-bridge:
    emitters: { 44: '${emitter}' }
`,
      {},
      'portage.yaml',
    )
    const { address } = setting.ledgers.server
    const checks = await checkStreams(config, { address, namespace: 'default', streamNames: streamNames(config) })
    const of = (name: string) => checks.filter((check) => check.name === name)
    expect(of(nameOf('2'))).toMatchObject([
      { status: 'warn', remedy: expect.stringContaining(`temporal workflow terminate --workflow-id stream:${nameOf('2')} --reason`) },
    ])
    const token = `wormhole-token-bridge:mainnet:${'3ee18b2214aff97000d974cf647e7c347e8fa585'.padStart(64, '0')}`
    expect(of(token)).toMatchObject([{ status: 'ok', detail: expect.stringContaining('has not begun') }])
  })
})
