import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SignedSource } from '../../bridges/port.ts'
import type { SourceReader } from '../../bridges/kit/published.ts'
import { createEmitterSource } from '../../bridges/kit/emitter-sources.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { type Guardian, startGuardian } from '../../lab/devnet/wormhole/guardian.ts'
import { until } from '../../lab/devnet/until.ts'
import { startUsers } from '../../lab/devnet/wormhole/users.ts'
import { digestOf, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole, type WormholeChain } from '../../lab/devnet/wormhole/wormhole.ts'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { startManualAnvil, testChain } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { ofTokenBridge } from '../helpers/of-token-bridge.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const

describe('a token bridge as a numbered source, on real contracts', () => {
  let anvils: (Anvil & { mine(blocks?: number): Promise<void> })[]
  let ethereum: WormholeChain
  let bsc: WormholeChain
  let chain: EvmChain
  let target: EvmChain
  let guardian: Guardian
  let source: SignedSource
  const emitter = () => toUniversal(ethereum.tokenBridge)

  const sourceOf = (
    targets: readonly string[],
    chainNames = new Map([
      [2, 'ethereum'],
      [4, 'bsc'],
    ]),
    reader: SourceReader & { readonly networkId: string } = chain,
  ) =>
    createEmitterSource({
      chain: reader,
      core: ethereum.core,
      sourceChain: 'ethereum',
      emitterChain: 2,
      emitter: emitter(),
      ...ofTokenBridge(chainNames, new Map(targets.map((name) => [name, { chain: target, tokenBridge: bsc.tokenBridge }]))),
      begins: {},
      maxOpen: 10,
    })
  const finalise = async () => {
    const height = Number(await anvils[0]!.rpc<string>('eth_blockNumber'))
    await anvils[0]!.mine(3)
    await anvils[1]!.mine(3)
    await head(chain, (event) => event.finalized >= height)
    return height
  }
  /**
   * Sends coins, and mines until the transactions are in blocks, because `send` resolves only then, and the chain mines
   * only on demand.
   */
  const sendCoins = async (count: number) => {
    let isSent = false
    const sending = startUsers(ethereum, bsc)
      .send(Array.from({ length: count }, () => coin))
      .finally(() => (isSent = true))
    const mineOne = async () => {
      await anvils[0]!.mine()
      return isSent
    }
    const [sent] = await Promise.all([
      sending,
      until(mineOne, { timeoutMs: 120_000, everyMs: 100, what: 'the users to have their blocks' }),
    ])
    return sent
  }

  beforeAll(async () => {
    anvils = await Promise.all([startManualAnvil(), startManualAnvil()])
    const plans = [chainPlan('ethereum', 2, anvils[0]!, 0), chainPlan('bsc', 4, anvils[1]!, 1)] as const
    ;[ethereum, bsc] = await deployWormhole(plans, { guardians: devnetGuardians(1) })
    chain = testChain(anvils[0]!.url, { name: 'ethereum' })
    target = testChain(anvils[1]!.url, { name: 'bsc' })
    await Promise.all([chain.connect(), target.connect()])
    guardian = await startGuardian([ethereum, bsc], { guardians: devnetGuardians(1) })
    source = sourceOf(['bsc'])
    await finalise()
  })
  afterAll(async () => {
    chain?.close()
    target?.close()
    await guardian?.stop()
    await Promise.all((anvils ?? []).map((anvil) => anvil.stop()))
  })

  test('the stream of a token bridge is named by its chain and emitter', () => {
    expect(source).toMatchObject({ kind: 'signed', bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', emitterChain: 2 })
    expect(source.config).toEqual({
      stream: `wormhole-token-bridge:ethereum:${emitter()}`,
      origin: `${chain.networkId}/${ethereum.core.toLowerCase()}`,
      first: '0',
      maxOpen: 10,
    })
  })

  test('the token bridge knows its highest number at finality, and none for an emitter without messages', async () => {
    expect(await source.highest()).toBe('3')
    // The block of this transfer is not final yet.
    const script = await Script.of(ethereum.anvil, ethereum.deployer)
    const recipient = `0x${toUniversal(ethereum.deployer.address)}`
    script.call(ethereum.tokenBridge, artifact('BridgeImplementation').abi, 'wrapAndTransferETH', [4, recipient, 0, 0], coin.amount)
    await script.mine()
    expect(await source.highest()).toBe('3')
    await finalise()
    expect(await source.highest()).toBe('4')
    const other = createEmitterSource({
      ...{
        chain,
        core: ethereum.core,
        sourceChain: 'ethereum',
        emitterChain: 2,
        ...ofTokenBridge(),
        begins: {},
        maxOpen: 1,
      },
      emitter: '77'.padStart(64, '0'),
    })
    expect(await other.highest()).toBeUndefined()
  })

  test("the digests that guardians will sign are derived from the contract's logs", async () => {
    const sent = await sendCoins(3)
    const toBlock = await finalise()
    const published = await source.published({ fromBlock: 0, toBlock })
    expect(published.map(({ number }) => number)).toEqual(published.map((_, index) => String(index)))
    for (const { sequence } of sent) {
      await guardian.waitFor(2, emitter(), sequence)
      const { message } = guardian.observations.find((one) => one.message.emitter === emitter() && one.message.sequence === sequence)!
      expect(published[Number(sequence)]).toMatchObject({
        content: {
          kind: 'transfer',
          transfer: {
            sourceChain: 'ethereum',
            targetChain: 'bsc',
            emitter: emitter(),
            sequence: String(sequence),
            digest: digestOf(message),
          },
        },
      })
    }
  })

  test('logs that are no transfers, or go to an unknown chain, are classified', async () => {
    const range = { fromBlock: 0, toBlock: chain.heads.current!.finalized }
    // The deployment published these two attestations and two transfers.
    expect((await source.published(range)).slice(0, 4).map(({ content }) => content?.kind)).toEqual([
      'none',
      'none',
      'transfer',
      'transfer',
    ])
    const alone = await sourceOf(['bsc'], new Map([[2, 'ethereum']])).published(range)
    expect(new Set(alone.map(({ content }) => content?.kind))).toEqual(new Set(['none']))
  })

  test('the token bridge reads only the blocks of wanted numbers', async () => {
    const range = { fromBlock: 0, toBlock: chain.heads.current!.finalized }
    const read: number[] = []
    const counting: SourceReader & { readonly networkId: string } = {
      name: chain.name,
      networkId: chain.networkId,
      call: (to, data, at) => chain.call(to, data, at),
      logs: (filter, at) => chain.logs(filter, at),
      block(height, at) {
        read.push(height)
        return chain.block(height, at)
      },
    }
    const source = sourceOf(['bsc'], undefined, counting)
    const published = await source.published(range, () => false)
    expect([published.every(({ content }) => content === undefined), read]).toEqual([true, []])
    const [third] = (await source.published(range, (number) => number === '3')).filter(({ content }) => content)
    expect([third?.number, read]).toEqual(['3', [third?.height]])
  })

  test('the token bridge knows the final deliveries of the deployment and of Portage, and no others', async () => {
    const range = { fromBlock: 0, toBlock: chain.heads.current!.finalized }
    const transfers = (await source.published(range)).flatMap(({ content }) => (content?.kind === 'transfer' ? [content.transfer] : []))
    const expected = transfers.map(({ sequence }) => Number(sequence) < 4)
    expect(await source.delivered(transfers)).toEqual(expected)
    expect(await sourceOf([]).delivered(transfers)).toEqual(transfers.map(() => false))
    const { bytes } = await guardian.waitFor(2, emitter(), 4n)
    const script = await Script.of(bsc.anvil, bsc.deployer)
    script.call(bsc.tokenBridge, artifact('BridgeImplementation').abi, 'completeTransfer', [bytes])
    await script.mine()
    const fourth = transfers.filter(({ sequence }) => sequence === '4')
    expect(await source.delivered(fourth)).toEqual([false])
    const height = Number(await anvils[1]!.rpc<string>('eth_blockNumber'))
    await anvils[1]!.mine(3)
    await head(target, (event) => event.finalized >= height)
    expect(await source.delivered(fourth)).toEqual([true])
  })

  test('the token bridge fails if the config names another contract', async () => {
    const wrong = createEmitterSource({
      ...{ chain, core: ethereum.weth, sourceChain: 'ethereum', emitterChain: 2, emitter: emitter(), begins: {}, maxOpen: 1 },
      ...ofTokenBridge(),
    })
    expect(await codeOfAsync(() => wrong.highest())).toBe('NODE_REFUSED')
  })
})
