import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../lab/devnet/fault-proxy/rules.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { deliveredOnce } from './delivered-once.ts'
import { sendCoins, startSound } from './processes.ts'

const sends = ['eth_sendRawTransaction']
const fatal = { code: -32_000, message: 'intrinsic gas too low: have 21000, want 53000' }

/** One node of three does this all the time, the others are well. */
const liars: readonly (readonly [string, FaultRule])[] = [
  ['calls a transaction fatal that the others accept', { fault: { kind: 'error', ...fatal, forward: false }, methods: sends }],
  ['accepts a transaction and calls it fatal', { fault: { kind: 'error', ...fatal, forward: true }, methods: sends }],
  ['answers with a hash and forgets the transaction', { fault: { kind: 'swallow' } }],
  ['lags eight blocks behind', { fault: { kind: 'behind', blocks: 8 } }],
  ['answers as of three blocks ago every other time', { fault: { kind: 'behind', blocks: 3 }, probability: 0.5 }],
  ['knows nothing of receipts', { fault: { kind: 'receipt', lie: 'null' } }],
  ['lies once: reverted', { fault: { kind: 'receipt', lie: 'status' }, times: 1 }],
  ['lies once: in another block', { fault: { kind: 'receipt', lie: 'block' }, times: 1 }],
  ['leaves an answer of each batch out', { fault: { kind: 'batch', how: 'drop' } }],
  ['gives an answer of each batch twice', { fault: { kind: 'batch', how: 'duplicate' } }],
  ['answers batches in reverse', { fault: { kind: 'batch', how: 'reorder' } }],
]

/** All nodes do this, until it has struck so often. */
const storms: readonly (readonly [string, number, FaultRule])[] = [
  ['accept transactions and time out', 3, { fault: { kind: 'accept-and-hang' }, methods: sends }],
  ['answer with a hash and forget the transaction', 3, { fault: { kind: 'swallow' } }],
  ['answer with 429', 12, { fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } }],
  ['answer with 503', 12, { fault: { kind: 'status', status: 503 } }],
  ['cut every connection', 12, { fault: { kind: 'cut' } }],
  ['hang', 6, { fault: { kind: 'hang' } }],
]

describe('nodes that do wrong', { timeout: 400_000 }, () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await startStage({ nodesPerChain: 3 })
    await startSound(stage)
  })

  // Also after a failure: what one test found must not befall the next.
  afterEach(() => stage.devnet.nodes.bsc.forEach((node) => node.clear()))
  afterAll(() => stage?.close())

  test.each(liars)('one of three %s', async (_, rule) => {
    const [first] = stage.devnet.nodes.bsc
    const active = first?.add(rule)
    const struck = async () => {
      const { wastedTransactions } = await deliveredOnce(stage, await sendCoins(stage, 2))
      expect(wastedTransactions).toBe(0)
      return (active?.strikes ?? 0) > 0
    }
    // A node that has just been found to lag (the test before) is asked last for a while: its fault befalls nobody until it leads again.
    await until(struck, { timeoutMs: 180_000, what: 'the fault to have struck' })
  })

  test.each(storms)('all of them %s', async (_, strikes, rule) => {
    const nodes = stage.devnet.nodes.bsc
    const active = nodes.map((node) => node.add(rule))
    const sent = await sendCoins(stage, 2)
    const struck = () => active.reduce((sum, one) => sum + one.strikes, 0) >= strikes
    await until(struck, { timeoutMs: 120_000, what: 'the storm to have struck' })
    for (const node of nodes) node.clear()
    const { wastedTransactions } = await deliveredOnce(stage, sent)
    expect(wastedTransactions).toBe(0)
  })
})
