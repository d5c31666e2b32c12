import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SignedSource } from '../../../bridges/port.ts'
import { createEmitterSource } from '../../../bridges/kit/emitter-sources.ts'
import type { EvmChain } from '../../../chains/evm/index.ts'
import { silentLogger } from '../../../observability/logger.ts'
import type { Anvil } from '../../../lab/devnet/chain/anvil.ts'
import { devnetAccount, devnetGuardians, freshAddress } from '../../../lab/devnet/chain/accounts.ts'
import { artifact, type Mined, Script } from '../../../lab/devnet/chain/contracts.ts'
import { digestOf, signVaa, toUniversal } from '../../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole, published, type WormholeChain } from '../../../lab/devnet/wormhole/wormhole.ts'
import { until } from '../../../lab/devnet/until.ts'
import { bootstrapSigned } from '../../../intake/streams/signed/bootstrap.ts'
import { createGapFiller } from '../../../intake/streams/signed/gaps/fill-gaps.ts'
import { createLookBack, createManyMissing } from '../../../intake/streams/signed/look-back.ts'
import { startManualAnvil, testChain } from '../../helpers/evm.ts'
import { head } from '../../helpers/heads.ts'
import { unused } from '../../helpers/unused.ts'
import { transferPayload } from '../../helpers/vaa.ts'
import { fakeStream } from './fake-context.ts'
import { ofTokenBridge } from '../../helpers/of-token-bridge.ts'

const day = 86_400
/** `before`: number of messages before the pause of eight days. `all`: number of all messages. */
const [before, all] = [300, 2_000]
const perBlock = 100
/** Numbers within the look-back that the target lacks. */
const open = ['310', '777', '1500', '1999']
const user = devnetAccount(9)
const publish = artifact('Implementation').abi
const bridgeAbi = artifact('BridgeImplementation').abi

describe('2,000 messages of a real core contract, Temporal was wiped and there is no checkpoint', () => {
  let anvils: (Anvil & { mine(blocks?: number): Promise<void> })[]
  let chain: EvmChain
  let core = ''
  let real: readonly [WormholeChain, WormholeChain]
  let source: SignedSource
  let now = 0
  let mining: NodeJS.Timeout | undefined
  const redeemed = new Set<string>()
  const asked = { target: 0, logs: 0 }
  const chainNames = new Map([
    [2, 'ethereum'],
    [4, 'bsc'],
  ])

  async function send(from: number, to: number): Promise<void> {
    const [{ rpc }, wallet] = [anvils[0]!, new Wallet(user.privateKey)]
    const fees = {
      type: 2,
      chainId: anvils[0]!.chainId,
      gasLimit: 200_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    }
    for (let first = from; first < to; first += perBlock) {
      const numbers = Array.from({ length: Math.min(perBlock, to - first) }, (_, index) => first + index)
      const raws = numbers.map((nonce) => {
        // Every tenth message goes to chain 99, which the config lacks.
        const payload = transferPayload({ toChain: nonce % 10 === 5 ? 99 : 4 })
        return wallet.signTransaction({ ...fees, nonce, to: core, data: publish.encodeFunctionData('publishMessage', [nonce, payload, 1]) })
      })
      await Promise.all(raws.map(async (raw) => rpc('eth_sendRawTransaction', [await raw])))
      await anvils[0]!.mine()
    }
    await until(async () => Number(await rpc<string>('eth_getTransactionCount', [user.address, 'latest'])) === to, {
      what: 'all to be mined',
      timeoutMs: 60_000,
    })
  }

  /** Marks all numbers but these as redeemed. The lab computes the digests, because it shares no code with Portage. */
  async function redeemAllBut(numbers: readonly string[]): Promise<void> {
    const { rpc } = anvils[0]!
    const logs = await rpc<(Mined['logs'][number] & { blockNumber: string })[]>('eth_getLogs', [
      { address: core, fromBlock: '0x0', toBlock: 'latest' },
    ])
    const times = new Map<string, number>()
    for (const height of new Set(logs.map(({ blockNumber }) => blockNumber)))
      times.set(height, Number((await rpc<{ timestamp: string }>('eth_getBlockByNumber', [height, false])).timestamp))
    for (const log of logs) {
      const place = { transactionHash: '', blockNumber: 0, timestamp: times.get(log.blockNumber)!, logs: [log] }
      for (const message of published(place, core, 2))
        if (message.emitter === toUniversal(user.address) && !numbers.includes(String(message.sequence))) redeemed.add(digestOf(message))
    }
    now = Math.max(...times.values()) * 1_000
  }

  beforeAll(async () => {
    anvils = await Promise.all([startManualAnvil(), startManualAnvil()])
    const plans = [chainPlan('ethereum', 2, anvils[0]!, 0), chainPlan('bsc', 4, anvils[1]!, 1)] as const
    real = await deployWormhole(plans, { guardians: devnetGuardians(1) })
    core = real[0].core
    await send(0, before)
    await anvils[0]!.rpc('evm_increaseTime', [8 * day])
    await anvils[0]!.mine()
    await send(before, all)
    const height = Number(await anvils[0]!.rpc<string>('eth_blockNumber'))
    await redeemAllBut(open)
    await anvils[0]!.mine(3)
    // A chain's only node must answer twice, one block apart, so the test keeps mining.
    mining = setInterval(() => {
      for (const anvil of anvils) void anvil.mine().catch(() => {})
    }, 250)
    chain = testChain(anvils[0]!.url, { name: 'ethereum' })
    await chain.connect()
    await head(chain, ({ finalized }) => finalized >= height)
    const counted = createEmitterSource({
      ...{ chain, core, sourceChain: 'ethereum', emitterChain: 2, emitter: toUniversal(user.address) },
      ...ofTokenBridge(chainNames, new Map([['bsc', { chain: { name: 'bsc', call: isRedeemed }, tokenBridge: `0x${'b0'.repeat(20)}` }]])),
      begins: {},
      maxOpen: 10,
    })
    source = {
      ...counted,
      published(...args) {
        asked.logs++
        return counted.published(...args)
      },
    }
  }, 120_000)
  afterAll(async () => {
    clearInterval(mining)
    chain?.close()
    await Promise.all((anvils ?? []).map((anvil) => anvil.stop()))
  })

  async function isRedeemed(_: string, data: string): Promise<string> {
    asked.target++
    return `0x${(redeemed.has(`0x${data.slice(10)}`) ? '1' : '0').padStart(64, '0')}`
  }

  const options = (lookBackDays: number) => ({ source, chain, rangeBlocks: 5, lookBackMs: lookBackDays * day * 1_000, clock: () => now })
  const firstOf = async (lookBackDays: number) => {
    const keeper = { read: async () => undefined, complain: unused('complain') }
    return (await bootstrapSigned(source, keeper, createLookBack(options(lookBackDays)).firstNumber)).config.first
  }

  test.each([
    ['the first of seven days', 7, '300'],
    ['the first of all', 30, '0'],
    ['the latest thousand, at least', 0, '1000'],
  ])('a stream without a checkpoint begins with %s', async (_, days, first) => {
    expect(await firstOf(days)).toBe(first)
  })

  test('only numbers that the target lacks are fetched from the network', async () => {
    const config = { ...source.config, first: await firstOf(7) }
    const { streamClient } = fakeStream(config)
    await streamClient.apply([{ kind: 'audited', upTo: (await source.highest())!, height: chain.heads.current!.finalized, present: [] }])
    const fetched: string[] = []
    const deps = {
      ...options(7),
      streamClient,
      ...{ freshMs: 0, proved: { own: async () => [] } },
      logger: silentLogger(),
      bridge: { name: 'wormhole-token-bridge', decode: unused('decode'), endpoints: new Map() },
      submitter: { submit: unused('submit') },
      lookup: {
        find: async ({ sequence }: { sequence: string }) => (fetched.push(sequence), { kind: 'absent' as const, againInMs: 60_000 }),
        held: async () => false,
      },
    } as unknown as Parameters<typeof createGapFiller>[0]
    Object.assign(asked, { target: 0, logs: 0 })
    const { state, counts } = await createManyMissing(deps).resolve(streamClient.now!, async () => 0)
    const [transfers, ignored] = [all - before - (all - before) / 10, (all - before) / 10]
    expect(counts).toEqual({ started: 0, delivered: transfers - open.length, ignored })
    // The majority is asked again about numbers that the first node shows as delivered.
    expect(asked.target).toBe(2 * transfers - open.length)
    expect(asked.logs).toBeLessThan(10)
    expect(state.gaps.map(({ from, to }) => [from, to])).toEqual(open.map((number) => [number, number]))
    await createGapFiller(deps, 60_000).fillGaps(state, '1999')
    expect(fetched).toEqual(open)
  }, 60_000)

  test('a real token bridge shows which of its transfers were redeemed', async () => {
    const [ethereum, bsc] = real
    const account = devnetAccount(8)
    const sending = await Script.of(ethereum.anvil, account)
    for (let count = 0; count < 12; count++) {
      const to = `0x${toUniversal(freshAddress())}`
      sending.call(ethereum.tokenBridge, bridgeAbi, 'wrapAndTransferETH', [bsc.wormholeChainId, to, 0, count], 10n ** 16n)
    }
    const mined = await sending.mine()
    const messages = mined.flatMap((transaction) => published(transaction, core, ethereum.wormholeChainId))
    const unredeemed = messages.filter((_, index) => index % 4 === 1).map(({ sequence }) => String(sequence))
    const redeeming = await Script.of(bsc.anvil, account)
    for (const message of messages.filter(({ sequence }) => !unredeemed.includes(String(sequence))))
      redeeming.call(bsc.tokenBridge, bridgeAbi, 'completeTransfer', [signVaa(message, devnetGuardians(1)).bytes])
    const last = (await redeeming.mine()).at(-1)!.blockNumber
    const target = testChain(bsc.anvil.url, { name: 'bsc' })
    try {
      await target.connect()
      await Promise.all([
        head(target, ({ finalized }) => finalized >= last),
        head(chain, ({ finalized }) => finalized >= mined.at(-1)!.blockNumber),
      ])
      const bridge = createEmitterSource({
        ...{ chain, core, sourceChain: 'ethereum', emitterChain: 2, emitter: toUniversal(ethereum.tokenBridge) },
        ...ofTokenBridge(chainNames, new Map([['bsc', { chain: target, tokenBridge: bsc.tokenBridge }]])),
        ...{ begins: {}, maxOpen: 100 },
      })
      const { streamClient } = fakeStream({ ...bridge.config, first: '0' })
      const upTo = String(messages.at(-1)!.sequence)
      expect(await bridge.highest()).toBe(upTo)
      await streamClient.apply([{ kind: 'audited', upTo, height: chain.heads.current!.finalized, present: [] }])
      const lookBack = createLookBack({ source: bridge, chain, rangeBlocks: 1_000, lookBackMs: 30 * day * 1_000, clock: () => now })
      // The deployment has published two attestations and two transfers, which are redeemed.
      expect(await lookBack.resolve(streamClient.now!, streamClient)).toEqual({ started: 0, delivered: 9 + 2, ignored: 2 })
      expect(streamClient.now!.gaps.flatMap(({ from, to }) => (from === to ? [from] : [from, to]))).toEqual(unredeemed)
    } finally {
      target.close()
    }
  }, 60_000)
})
