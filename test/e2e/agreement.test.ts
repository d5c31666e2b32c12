import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import type { FaultRule } from '../../lab/devnet/fault-proxy/rules.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const isTransferCompleted = new Interface(['function isTransferCompleted(bytes32)']).getFunction('isTransferCompleted')!.selector
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** What one node of three answers all the time. */
const lies: readonly (readonly [string, FaultRule])[] = [
  ['every transaction reverted', { fault: { kind: 'receipt', lie: 'status' } }],
  ['no transaction has a receipt', { fault: { kind: 'receipt', lie: 'null' } }],
  ['no transfer is ever delivered', { fault: { kind: 'answer', result: word(0n) }, methods: [`eth_call ${isTransferCompleted}`] }],
]

/** One of three nodes lies, for as long as it likes: a transfer ends as the other two show it. */
describe('One node of three that lies', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await startStage({ nodesPerChain: 3, consistencyLevel: 200 })
    await stage.portage()
  })
  afterEach(() => stage?.devnet.nodes.bsc.forEach((node) => node.clear()))
  afterAll(() => stage?.close())

  test.each(lies)('%s: each transfer ends once, by our lane, in its first round', async (_, rule) => {
    const [own] = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
    const sent: Sent[] = []
    // Each node in turn, so that the one that is asked first is among them.
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

  test('it shows every transfer as delivered: none ends by that, and none waits for it', async () => {
    const [own] = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
    const fault = { kind: 'answer', result: word(1n) } as const
    for (const node of stage.devnet.nodes.bsc) {
      const active = node.add({ fault, methods: [`eth_call ${isTransferCompleted}`] })
      const [one] = (await stage.send('ethereum', [{ kind: 'coin', amount: 10n ** 16n }])) as [Sent]
      // A process that asks this node first also asks the others, which show no delivery.
      expect(await stage.outcomes([one])).toMatchObject([{ state: 'delivered', delivery: { by: own?.address, ours: true } }])
      active.end()
    }
    expect((await expectDelivered(stage)).wastedTransactions).toBe(0)
  })
})
