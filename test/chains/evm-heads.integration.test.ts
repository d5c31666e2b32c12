import { beforeEach, describe, expect, test } from 'vitest'
import type { EvmChain, EvmChainOptions } from '../../chains/evm/index.ts'
import type { HeadEvent, Inclusion } from '../../chains/port.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { inclusion } from '../helpers/inclusions.ts'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

describe('head tracker', () => {
  const { anvil, proxy, connect } = evmSetting(10)
  let node: RpcProxy

  beforeEach(async () => {
    node = await proxy()
  })

  async function connected(options: Partial<EvmChainOptions> = {}): Promise<{ chain: EvmChain; events: HeadEvent[] }> {
    const chain = await connect(node.url, options)
    const events: HeadEvent[] = []
    chain.heads.subscribe((event) => events.push(event))
    return { chain, events }
  }

  /** Cuts the node off. Resolves at the next poll, so that no earlier poll still waits for an answer. */
  async function cutOff(): Promise<void> {
    node.mode = 503
    const polls = node.requests.length
    await expect.poll(() => node.requests.length).toBeGreaterThan(polls)
  }

  async function latest(): Promise<{ height: number; hash: string }> {
    const block = await anvil.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false])
    return { height: Number(block.number), hash: block.hash }
  }

  /** Mines blocks, the first with a payment, because anvil would mine the same empty blocks again after a reorg. */
  async function minePaid(chain: EvmChain, blocks: number): Promise<void> {
    const signer = await devnetSigner(32)
    const nonce = Number(await anvil.rpc<string>('eth_getTransactionCount', [signer.address, 'latest']))
    expect(await chain.send((await signer.sign(payment(signer, nonce))).raw)).toEqual({ kind: 'accepted' })
    await anvil.mine(blocks)
  }

  function replay(first: HeadEvent, events: readonly HeadEvent[]): string[] {
    const chain = [first.latest.hash]
    for (const { applied, rolledBack } of events) {
      for (const block of rolledBack) if (chain.at(-1) === block.hash) chain.pop()
      for (const block of applied) {
        if (chain.length > 0) expect(block.parentHash).toBe(chain.at(-1))
        chain.push(block.hash)
      }
    }
    return chain
  }

  test('a poll is one HTTP request, of two reads at most, and nothing else while no block comes', async () => {
    const { chain, events } = await connected()
    node.requests.length = 0
    // A poll reads the final tag only if the tag's last reading is old, so there are two kinds of polls.
    const kinds = ['eth_getBlockByNumber', 'eth_getBlockByNumber,eth_getBlockByNumber']
    await expect.poll(() => [...new Set(node.requests.map(String))].sort()).toEqual(kinds)
    expect(events).toEqual([])
    expect(chain.heads.current?.latest).toMatchObject(await latest())
  })

  test('a new head always comes with its tag, though not every poll reads it, so the finality lag is right', async () => {
    await anvil.mine(70)
    const { chain, events } = await connected()
    for (let block = 0; block < 8; block++) {
      await anvil.mine()
      const height = Number(await anvil.rpc<string>('eth_blockNumber'))
      await head(chain, (event) => event.latest.height >= height)
    }
    const tagged = Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', ['finalized', false])).number)
    const lag = (chain.heads.current?.latest.height ?? 0) - tagged
    // If a block comes between the two reads of a poll, that poll shows a smaller lag, so only the maximum is exact.
    expect(Math.max(...events.map(({ latest, finalized }) => latest.height - finalized))).toBe(lag)
  })

  test('a gap of 130 blocks is filled in order, in batches', async () => {
    const { chain, events } = await connected()
    const first = chain.heads.current as HeadEvent
    node.mode = 503
    await anvil.rpc('anvil_mine', ['0x82'])
    node.mode = 'pass'
    await head(chain, (event) => event.latest.height >= first.latest.height + 130)
    const blocks = events.flatMap(({ applied }) => applied)
    expect(blocks.map(({ height }) => height)).toEqual(Array.from({ length: 130 }, (_, index) => first.latest.height + 1 + index))
    expect(replay(first, events)).toHaveLength(131)
    expect(Math.max(...node.requests.map((methods) => methods.length))).toBeLessThanOrEqual(52)
  })

  test('a gap past all bounds is skipped, and watches read their receipts', async () => {
    const { chain, events } = await connected()
    const signer = await devnetSigner(30)
    const { raw, hash } = await signer.sign(payment(signer, 0))
    await chain.send(raw)
    const watch = chain.watch([hash])
    const first = chain.heads.current as HeadEvent
    node.mode = 503
    await anvil.rpc('anvil_mine', ['0x5dc'])
    node.mode = 'pass'
    expect(await inclusion(watch, (now) => now.kind === 'included' && now.final)).toMatchObject({ receipt: { hash } })
    expect(events.flatMap(({ applied }) => applied).length).toBeLessThan(100)
    expect(chain.heads.current?.latest.height).toBe(first.latest.height + 1500)
  })

  test.each([1, 3, 9])('a reorg of depth %i is reported: the removed blocks, newest first, and then the new blocks', async (depth) => {
    const { chain, events } = await connected({ finality: { kind: 'depth', blocks: 20 } })
    const first = chain.heads.current as HeadEvent
    await anvil.mine(10 - depth)
    await minePaid(chain, depth)
    const before = (await head(chain, (event) => event.latest.height === first.latest.height + 10)).latest
    const reported = events.length
    await anvil.rpc('anvil_reorg', [depth, []])
    const now = await latest()
    await head(chain, (event) => event.latest.hash === now.hash)
    // The tracker reports the reorg in one event, or in several if it reads during the change.
    const since = events.slice(reported)
    const rolledBack = since.flatMap((event) => event.rolledBack)
    expect(rolledBack.map(({ height }) => height)).toEqual(Array.from({ length: depth }, (_, index) => before.height - index))
    expect(rolledBack[0]?.hash).toBe(before.hash)
    expect(since.flatMap(({ applied }) => applied)).toHaveLength(depth)
    expect(replay(first, events).at(-1)).toBe(now.hash)
  })

  test('a reorganisation that is first seen together with later blocks is reported completely', async () => {
    const { chain, events } = await connected({ finality: { kind: 'depth', blocks: 50 } })
    const first = chain.heads.current as HeadEvent
    await anvil.mine(5)
    await minePaid(chain, 25)
    await head(chain, (event) => event.latest.height === first.latest.height + 30)
    await cutOff()
    await anvil.rpc('anvil_reorg', [25, []])
    await anvil.mine(7)
    node.mode = 'pass'
    const event = await head(chain, ({ latest: { height } }) => height === first.latest.height + 37)
    expect(event.rolledBack).toHaveLength(25)
    expect(event.applied).toHaveLength(32)
    expect(replay(first, events)).toHaveLength(38)
  })

  test('a head that evm_revert lowers is believed once it lasts and the other chain grows', async () => {
    const { chain, events } = await connected()
    const signer = await devnetSigner(31)
    const nonce = (await chain.account(signer.address)).latestNonce
    const snapshot = await anvil.rpc('evm_snapshot')
    const first = chain.heads.current as HeadEvent
    const { raw, hash } = await signer.sign(payment(signer, nonce))
    await chain.send(raw)
    const watch = chain.watch([hash])
    await anvil.mine(4)
    const before = (await inclusion(watch, ({ kind }) => kind === 'included')) as Inclusion & { kind: 'included' }
    await head(chain, ({ latest: { height } }) => height === first.latest.height + 4)
    await anvil.rpc('evm_revert', [snapshot])
    await anvil.rpc('evm_increaseTime', [1000])
    await anvil.mine(1)
    await inclusion(watch, ({ kind }) => kind === 'unseen')
    const other = await latest()
    await head(chain, (event) => event.latest.hash === other.hash)
    expect(await chain.account(signer.address)).toMatchObject({ latestNonce: nonce })
    await chain.send(raw)
    await anvil.mine(1)
    const after = (await inclusion(watch, ({ kind }) => kind === 'included')) as Inclusion & { kind: 'included' }
    expect(after.receipt.hash).toBe(before.receipt.hash)
    expect(after.receipt.block).not.toEqual(before.receipt.block)
    await head(chain, ({ latest: { height } }) => height === first.latest.height + 2)
    expect(replay(first, events)).toHaveLength(3)
    watch.close()
  })

  test('a head that stays lower is believed, although no cached block is replaced', async () => {
    const { chain } = await connected()
    const snapshot = await anvil.rpc('evm_snapshot')
    const first = chain.heads.current as HeadEvent
    await anvil.mine(3)
    await head(chain, ({ latest: { height } }) => height === first.latest.height + 3)
    await anvil.rpc('evm_revert', [snapshot])
    const event = await head(chain, ({ rolledBack }) => rolledBack.length === 3)
    expect(event.latest.hash).toBe(first.latest.hash)
    expect(event.applied).toEqual([])
  })

  test('one lagging answer rolls nothing back, nor do lasting ones while another node has the cached head', async () => {
    const chain = await connect([node.url, anvil.url])
    const events: HeadEvent[] = []
    const first = chain.heads.current as HeadEvent
    const stale = await anvil.rpc('eth_getBlockByNumber', ['latest', false])
    await anvil.mine(4)
    await head(chain, ({ latest: { height } }) => height === first.latest.height + 4)
    chain.heads.subscribe((event) => events.push(event))
    node.alter = (method, result) => {
      const block = method === 'eth_getBlockByNumber' ? (result as { number: string } | null) : null
      return block && Number(block.number) > first.latest.height ? stale : undefined
    }
    node.requests.length = 0
    await expect.poll(() => node.requests.length).toBeGreaterThan(15)
    expect(events.flatMap(({ rolledBack }) => rolledBack)).toEqual([])
    expect(chain.heads.current?.latest.height).toBe(first.latest.height + 4)
  })

  test('finality by tag lags as the node says, and the wait is estimated by that', async () => {
    // With a block time of a minute, the time since the latest block hardly shortens the estimate.
    const { chain } = await connected({ blockTimeMs: 60_000 })
    const first = chain.heads.current as HeadEvent
    await anvil.mine(4)
    const event = await head(chain, ({ finalized, latest: { height } }) => height === first.latest.height + 4 && finalized === height - 2)
    const wait = chain.msToFinality(event.latest.height)
    expect(wait).toBeGreaterThan(chain.blockTimeMs)
    expect(wait).toBeLessThanOrEqual(3 * chain.blockTimeMs)
    expect(chain.msToFinality(event.latest.height - 2)).toBe(0)
    expect(chain.msToFinality(event.latest.height + 10)).toBeGreaterThan(wait)
  })

  test('after a stop and a new start, the blocks in between are reported', async () => {
    // With a block time of a minute, no poll is under way when the tracker stops.
    const { chain, events } = await connected({ blockTimeMs: 60_000 })
    const first = chain.heads.current as HeadEvent
    chain.heads.stop()
    await anvil.mine(6)
    await chain.heads.start()
    await head(chain, ({ latest: { height } }) => height === first.latest.height + 6)
    expect(events.flatMap(({ applied }) => applied)).toHaveLength(6)
  })
})
