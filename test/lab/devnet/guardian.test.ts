import { afterEach, describe, expect, test } from 'vitest'
import { devnetGuardians } from '../../../lab/devnet/chain/accounts.ts'
import { startAnvil } from '../../../lab/devnet/chain/anvil.ts'
import { startGuardian, type Guardian } from '../../../lab/devnet/wormhole/guardian.ts'
import { until } from '../../../lab/devnet/until.ts'
import { startUsers, type SentTransfer } from '../../../lab/devnet/wormhole/users.ts'
import { chainPlan, deployWormhole, type WormholeChain } from '../../../lab/devnet/wormhole/wormhole.ts'

const ether = 10n ** 18n

describe('the guardian', () => {
  const stops: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  async function start(consistencyLevel: number): Promise<{ source: WormholeChain; target: WormholeChain; guardian: Guardian }> {
    const guardians = devnetGuardians(1)
    const options = { blockTimeSeconds: 0.2, slotsInAnEpoch: 5 }
    const nodes = await Promise.all([startAnvil({ ...options, chainId: 1337 }), startAnvil({ ...options, chainId: 1397 })])
    for (const node of nodes) stops.push(() => node.stop())
    const plans = [chainPlan('ethereum', 2, nodes[0], 0), chainPlan('bsc', 4, nodes[1], 1)] as const
    const [source, target] = await deployWormhole(plans, { guardians, consistencyLevel })
    const guardian = await startGuardian([source, target], { guardians })
    stops.push(() => guardian.stop())
    return { source, target, guardian }
  }

  async function height(chain: WormholeChain, tag: string): Promise<number> {
    return Number((await chain.anvil.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])).number)
  }

  async function sendInOneBlock(source: WormholeChain, target: WormholeChain, amount: bigint): Promise<SentTransfer> {
    const { rpc } = source.anvil
    const isPending = async () => Number((await rpc<{ pending: string }>('txpool_status')).pending) === 1
    const [sent] = await Promise.all([
      startUsers(source, target).send([{ kind: 'coin', amount }]),
      until(isPending, { timeoutMs: 60_000, what: 'the transfer to be in the pool' }).then(() => rpc('evm_mine')),
    ])
    if (!sent[0]) throw new Error('nothing was sent')
    return sent[0]
  }

  test.each([
    ['finalized', 1],
    ['safe', 201],
  ])('the guardian signs only what is %s, so a message that a reorg removed is never signed', async (tag, level) => {
    const { source, target, guardian } = await start(level)
    // The block that the test removes must not become safe before its removal, so only the test mines blocks.
    await source.anvil.rpc('evm_setIntervalMining', [0])
    const snapshot = await source.anvil.rpc('evm_snapshot')
    const gone = await sendInOneBlock(source, target, ether)
    await source.anvil.rpc('evm_revert', [snapshot])
    const stays = await sendInOneBlock(source, target, 2n * ether)
    await source.anvil.rpc('anvil_mine', ['0x14'])
    expect(stays.sequence).toBe(gone.sequence)
    const block = Number((await source.anvil.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [stays.txHash])).blockNumber)
    await guardian.waitFor(stays.emitterChain, stays.emitter, stays.sequence)
    expect(await height(source, tag)).toBeGreaterThanOrEqual(block)
    const signed = guardian.observations.filter(({ message }) => message.sequence === stays.sequence && message.emitter === stays.emitter)
    expect(signed.map(({ message }) => message.payload.slice(4, 68))).toEqual([(2n * 10n ** 8n).toString(16).padStart(64, '0')])
  })

  test('the guardian signs messages without finality at once, and again after a reorg changed them', async () => {
    const { source, target, guardian } = await start(200)
    const snapshot = await source.anvil.rpc('evm_snapshot')
    const [first] = await startUsers(source, target).send([{ kind: 'coin', amount: ether }])
    if (!first) throw new Error('nothing was sent')
    const before = await guardian.waitFor(first.emitterChain, first.emitter, first.sequence)
    await source.anvil.rpc('evm_revert', [snapshot])
    const [second] = await startUsers(source, target).send([{ kind: 'coin', amount: 2n * ether }])
    expect(second?.sequence).toBe(first.sequence)
    await expect.poll(() => guardian.find(first.emitterChain, first.emitter, first.sequence)?.digest).not.toBe(before.digest)
  })
})
