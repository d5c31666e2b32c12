import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import type { ActiveRule, FaultRule } from '../../lab/devnet/fault-proxy/rules.ts'
import type { AnySent } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { expectAllProved, sendNatives } from '../helpers/e2e-native.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { startSound } from './processes.ts'

const tooMany = { code: -32_005, message: 'query returned more than 10000 results' }

/** Faults of one node of three, in its reads of the source's logs. */
const liars: readonly (readonly [string, FaultRule])[] = [
  ['answers that there are no logs', { fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] }],
  ['leaves a log out', { fault: { kind: 'logs', how: 'one-less' } }],
  ['returns logs of another branch', { fault: { kind: 'logs', how: 'forked' } }],
  ['refuses to return logs', { fault: { kind: 'log-range', blocks: 0, ...tooMany } }],
  ['has a finality that lags by eight blocks', { fault: { kind: 'finality-behind', blocks: 8 } }],
]

/** Faults of all nodes, which still show the table of the source's contract as it is. */
const storms: readonly (readonly [string, FaultRule])[] = [
  ['answer that there are no logs', { fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] }],
  ['leave a log out', { fault: { kind: 'logs', how: 'one-less' } }],
  ['have a finality that lags by eight blocks', { fault: { kind: 'finality-behind', blocks: 8 } }],
]

/**
 * Waits until the fault has struck. This happens when the live scan reaches the messages, even if an audit has found
 * them before.
 */
function haveStruck(rules: readonly ActiveRule[]): Promise<unknown> {
  return until(() => rules.some(({ strikes }) => strikes > 0), { timeoutMs: 90_000, what: 'the fault to have struck' })
}

const coin = { kind: 'coin', amount: 10n ** 16n } as const

describe('sources that nodes or the spy show wrongly', { timeout: 600_000 }, () => {
  let stage: Stage
  const sent: AnySent[] = []

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', nodesPerChain: 3, auditMinutes: 0.1 })
    await startSound(stage)
  })

  afterEach(async () => {
    for (const node of stage.devnet.nodes.ethereum) node.clear()
    stage.devnet.guardian.api.trouble()
    stage.devnet.guardian.wormholescan.trouble()
    await stage.devnet.guardian.spy.start()
  })
  afterAll(() => stage?.close())

  test.each(liars)('messages are delivered once if one node of three %s', async (_, rule) => {
    const [first] = stage.devnet.nodes.ethereum
    const active = first?.add(rule)
    const struck = async () => {
      sent.push(...(await sendNatives(stage, 'ethereum', 2)))
      await expectAllProved(stage, sent)
      return (active?.strikes ?? 0) > 0
    }
    // For a while, a node that was slow or lagged is asked last. Its fault strikes only when it is asked first again.
    await until(struck, { timeoutMs: 180_000, what: 'the fault to have struck' })
  })

  test.each(storms)('messages are delivered once if all nodes %s', async (_, rule) => {
    const active = stage.devnet.nodes.ethereum.map((node) => node.add(rule))
    sent.push(...(await sendNatives(stage, 'ethereum', 3)))
    // Several answers must lag, so that the stream has read the lagging finality.
    if (rule.fault.kind === 'finality-behind')
      await until(() => active.some(({ strikes }) => strikes > 5), { timeoutMs: 90_000, what: 'a lag' })
    await expectAllProved(stage, sent)
    await haveStruck(active)
  })

  test('if all nodes refuse ranges of more than one block, several blocks are still read', async () => {
    const { anvil } = stage.devnet.chains.ethereum
    const height = async () => Number(await anvil.rpc<string>('eth_blockNumber'))
    const lag = stage.devnet.nodes.ethereum.map((node) => node.add({ fault: { kind: 'finality-behind', blocks: 8 } }))
    const refused = stage.devnet.nodes.ethereum.map((node) => node.add({ fault: { kind: 'log-range', blocks: 1, ...tooMany } }))
    sent.push(...(await sendNatives(stage, 'ethereum', 3)))
    const from = await height()
    await until(async () => (await height()) >= from + 6, { timeoutMs: 90_000, what: 'blocks that nobody calls final' })
    for (const rule of lag) rule.end()
    await expectAllProved(stage, sent)
    await haveStruck(refused)
  })

  test('messages that a spy sends while its readers are dropped are delivered', async () => {
    const { guardian, users } = stage.devnet
    await guardian.spy.stop()
    const missed = await users.ethereum.send([coin, { ...coin, amount: 2n * coin.amount }])
    for (const { emitterChain, emitter, sequence } of missed) await guardian.waitFor(emitterChain, emitter, sequence)
    await guardian.spy.start()
    sent.push(...missed)
    await expectAllProved(stage, sent)
  })

  test.each([
    ['429, and when to come again', { status: 429, retryAfterSeconds: 1 }],
    ['503', { status: 503 }],
  ])('messages are delivered although the spy drops its readers and the servers answer %s for a while', async (_, refuse) => {
    const { guardian, users } = stage.devnet
    const keepers = [guardian.api, guardian.wormholescan]
    for (const keeper of keepers) keeper.trouble({ refuse })
    const before = keepers.reduce((sum, { requests }) => sum + requests.length, 0)
    await guardian.spy.stop()
    const missed = await users.ethereum.send([coin])
    for (const { emitterChain, emitter, sequence } of missed) await guardian.waitFor(emitterChain, emitter, sequence)
    await guardian.spy.start()
    const asked = () => keepers.reduce((sum, { requests }) => sum + requests.length, 0) > before
    await until(asked, { timeoutMs: 120_000, what: 'them to be asked' })
    for (const keeper of keepers) keeper.trouble()
    sent.push(...missed)
    await expectAllProved(stage, sent)
  })
})
