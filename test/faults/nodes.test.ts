import { Interface } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../lab/devnet/fault-proxy/rules.ts'
import { until } from '../../lab/devnet/until.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'
import { deliveredOnce } from './delivered-once.ts'
import { sendCoins, startSound } from './processes.ts'

const sends = ['eth_sendRawTransaction']
const fatal = { code: -32_000, message: 'intrinsic gas too low: have 21000, want 53000' }

/** Faults of the first of three nodes. */
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

const isTransferCompleted = new Interface(['function isTransferCompleted(bytes32)']).getFunction('isTransferCompleted')!.selector
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** One node of three always lies. A transfer must end as the two honest nodes show. */
const lies: readonly (readonly [string, FaultRule])[] = [
  ['every transaction reverted', { fault: { kind: 'receipt', lie: 'status' } }],
  ['no transaction has a receipt', { fault: { kind: 'receipt', lie: 'null' } }],
  ['no transfer is ever delivered', { fault: { kind: 'answer', result: word(0n) }, methods: [`eth_call ${isTransferCompleted}`] }],
]

/** Faults of all nodes, each with the number of strikes after which it ends. */
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

  afterEach(() => stage.devnet.nodes.bsc.forEach((node) => node.clear()))
  afterAll(() => stage?.close())

  test.each(lies)('one of three says that %s: each transfer ends once, by our lane, in its first round', async (_, rule) => {
    const [own] = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
    const sent: Sent[] = []
    // The node that is asked first must be one of the faulty nodes.
    for (const node of stage.devnet.nodes.bsc) {
      const active = node.add(rule)
      const one = await stage.send('ethereum', [{ kind: 'coin', amount: 10n ** 16n }])
      const [end] = await stage.outcomes(one)
      expect(end).toMatchObject({ state: 'delivered', rounds: 1, delivery: { by: own?.address, ours: true } })
      active.end()
      sent.push(...one)
    }
    const { wastedTransactions } = await expectDelivered(stage)
    expect(wastedTransactions).toBe(0)
    expect(sent).toHaveLength(3)
  })

  test('if one of three nodes shows every transfer as delivered, none ends or waits because of it', async () => {
    const [own] = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
    const fault = { kind: 'answer', result: word(1n) } as const
    for (const node of stage.devnet.nodes.bsc) {
      const active = node.add({ fault, methods: [`eth_call ${isTransferCompleted}`] })
      const [one] = (await stage.send('ethereum', [{ kind: 'coin', amount: 10n ** 16n }])) as [Sent]
      // Even a process that asks this node first also asks the honest nodes, which show no delivery.
      expect(await stage.outcomes([one])).toMatchObject([{ state: 'delivered', delivery: { by: own?.address, ours: true } }])
      active.end()
    }
    expect((await expectDelivered(stage)).wastedTransactions).toBe(0)
  })

  test.each(liars)('transfers are delivered once if one node of three %s', async (_, rule) => {
    const [first] = stage.devnet.nodes.bsc
    const active = first?.add(rule)
    const struck = async () => {
      const { wastedTransactions } = await deliveredOnce(stage, await sendCoins(stage, 2))
      expect(wastedTransactions).toBe(0)
      return (active?.strikes ?? 0) > 0
    }
    // For a while, a node that lagged is asked last. Its fault strikes only when it is asked first again.
    await until(struck, { timeoutMs: 180_000, what: 'the fault to have struck' })
  })

  test.each(storms)('transfers are delivered once if all nodes %s', async (_, strikes, rule) => {
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
