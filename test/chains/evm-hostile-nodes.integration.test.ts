import { describe, expect, test } from 'vitest'
import { headerHash } from '../../chains/evm/heads/blocks.ts'
import type { HeadEvent } from '../../chains/port.ts'
import { firstOffer } from '../../domain/fees/fees.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { startHostileServer } from '../helpers/hostile-server.ts'
import { deployReverting } from '../helpers/reverting.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

type Raw = Record<string, unknown> & { number: string; hash: string; parentHash: string }

const { address } = devnetAccount(7)
const gwei = 10n ** 9n

describe('one node of three is hostile, and is asked first', () => {
  const { anvil, connect, connectBehind } = evmSetting(60)

  const height = async () => Number(await anvil.rpc<string>('eth_blockNumber'))

  describe('malformed answers', () => {
    const junk: [string, unknown][] = [
      ['null', null],
      ['{}', {}],
      ['0x', '0x'],
      ['a number', 7],
    ]
    const answers: [string, (node: RpcProxy) => void][] = [
      ...junk.map(([name, value]): [string, (node: RpcProxy) => void] => [
        name,
        (node) => (node.alter = (method) => (method === 'eth_chainId' ? undefined : value)),
      ]),
      [
        'a block without its parent',
        (node) => (node.alter = (_, result) => (result && typeof result === 'object' ? { ...result, parentHash: '0xabc' } : undefined)),
      ],
      ['an error', (node) => (node.refuse = (method) => (method === 'eth_chainId' ? undefined : { code: -32_000, message: 'boom' }))],
    ]

    test.each(answers)('%s: the next node is asked, for heads and for other reads', async (_, lie) => {
      const { chain, first } = await connectBehind(3)
      lie(first)
      await anvil.mine(2)
      const now = await height()
      expect((await head(chain, ({ latest }) => latest.height === now)).latest.height).toBe(now)
      expect(await chain.account(address)).toMatchObject({ latestNonce: 0, finalizedNonce: 0 })
      expect(BigInt((await chain.quote()).maxFee)).toBeGreaterThan(0n)
      expect(await chain.call(address, '0x', 'latest')).toBe('0x')
      expect(await chain.logs({ address, topics: [], fromBlock: 1, toBlock: 2 })).toEqual([])
      expect(await chain.pendingNonce(address)).toBe(0)
      expect(await chain.simulate({ to: address, data: '0x', value: '1' }, address)).toMatchObject({ ok: true })
    })

    test('a start with a malformed node succeeds, and its answers count as failures', async () => {
      // The block time is long, because polls would add failures.
      const { chain, first } = await connectBehind(3, { blockTimeMs: 60_000 })
      expect(chain.nodes()[0]?.failures).toBe(0)
      first.alter = (method) => (method === 'eth_chainId' ? undefined : null)
      await chain.pendingNonce(address)
      expect(chain.nodes()[0]?.failures).toBe(1)
      const second = await connect([first.url, anvil.url, anvil.url])
      expect(second.heads.current?.latest.height).toBe(await height())
    })

    test('a malformed answer of one node vetoes no majority', async () => {
      const { chain, behind } = await connectBehind(3)
      const [reverts, , malformed] = behind as [RpcProxy, RpcProxy, RpcProxy]
      reverts.refuse = (method) => (method === 'eth_estimateGas' ? { code: 3, message: 'execution reverted' } : undefined)
      malformed.alter = (method) => (method === 'eth_estimateGas' ? '' : method === 'eth_getTransactionCount' ? null : undefined)
      expect(await chain.pendingNonce(address)).toBe(0)
      // One node reports a revert, one returns an estimate, and one gives a malformed answer, so there is no majority.
      expect(await chain.simulate({ to: address, data: '0x', value: '1' }, address)).toMatchObject({ ok: false })
    })
  })

  test('a call that reverts with the word batch does not make batches smaller', async () => {
    const { chain, first } = await connectBehind(1)
    chain.heads.stop()
    const { address: contract } = await deployReverting(anvil, 'batch too large')
    const reads = Array.from({ length: 40 }, (_, index) => devnetAccount(index).address)
    const reverts = () => chain.simulate({ to: contract, data: '0x', value: '0' }, address)
    await Promise.all([reverts(), ...reads.map((account) => chain.hasCode(account))])
    first.requests.length = 0
    await Promise.all(reads.map((account) => chain.hasCode(account)))
    expect(first.requests.map((methods) => methods.length)).toEqual([40])
  })

  test.each(['rate limit exceeded', 'too many requests'])(
    "if a call reverts with %s, no node counts as failed, and the revert's bytes are kept",
    async (reason) => {
      const { chain } = await connectBehind(3)
      chain.heads.stop()
      const { address: contract } = await deployReverting(anvil, reason)
      const revert = { data: expect.stringMatching(/^0x08c379a0/) as string, reason }
      for (let count = 0; count < 2; count++)
        expect(await chain.simulate({ to: contract, data: '0x', value: '0' }, address)).toEqual({ ok: false, revert })
      for (const at of ['latest', 'majority-latest'] as const)
        await expect(chain.call(contract, '0x', at)).rejects.toMatchObject({ code: 'NODE_REFUSED', rpcCode: 3 })
      for (const node of chain.nodes()) expect(node).toMatchObject({ state: 'up', failures: 0 })
    },
  )

  describe('heads', () => {
    const depth = 10

    /** Blocks above the true head, whose hashes fit their headers. */
    async function invented(count: number): Promise<Raw[]> {
      const top = await anvil.rpc<Raw>('eth_getBlockByNumber', ['latest', false])
      const blocks: Raw[] = []
      let parent = top
      for (let index = 1; index <= count; index++) {
        const raw = { ...top, number: `0x${(Number(top.number) + index).toString(16)}`, parentHash: parent.hash, transactions: [] }
        parent = { ...raw, hash: headerHash(raw) as string }
        blocks.push(parent)
      }
      return blocks
    }

    function show(node: RpcProxy, blocks: readonly Raw[]): void {
      const byNumber = new Map(blocks.map((block) => [Number(block.number), block]))
      node.alter = (method, _, [at]) => {
        if (method === 'eth_blockNumber') return blocks.at(-1)?.number
        if (method !== 'eth_getBlockByNumber') return undefined
        return at === 'latest' || at === 'finalized' ? blocks.at(-1) : byNumber.get(Number(at))
      }
    }

    test.each(['depth', 'instant', 'tag'] as const)(
      '49 invented blocks of a node make no block final (%s), and no honest node counts as lagging',
      async (kind) => {
        const finality = kind === 'depth' ? { kind, blocks: depth } : { kind }
        const { chain, first } = await connectBehind(3, { finality })
        const now = await height()
        const events: HeadEvent[] = []
        await head(chain, ({ latest, finalized }) => latest.height === now && finalized > 0)
        const before = chain.heads.current as HeadEvent
        chain.heads.subscribe((event) => events.push(event))
        show(first, await invented(49))
        first.requests.length = 0
        await expect.poll(() => first.requests.length).toBeGreaterThan(15)
        expect(events).toEqual([])
        expect(chain.heads.current).toBe(before)
        for (const node of chain.nodes().slice(1)) expect(node.lag ?? 0).toBe(0)
        await anvil.mine(2)
        expect((await head(chain, ({ latest }) => latest.height === now + 2)).finalized).toBeLessThanOrEqual(now + 2)
      },
    )

    test('a branch of one node does not become final on its word alone while a second node is away', async () => {
      const { chain, behind } = await connectBehind(3, { finality: { kind: 'depth', blocks: depth } })
      const [first, second] = behind as [RpcProxy, RpcProxy]
      const now = await height()
      const { finalized } = await head(chain, ({ latest, finalized: final }) => latest.height === now && final === now - depth)
      second.mode = 503
      const blocks = await invented(30)
      show(first, blocks)
      await anvil.mine(30)
      first.requests.length = 0
      await expect.poll(() => first.requests.length).toBeGreaterThan(15)
      const final = chain.heads.current?.finalized ?? 0
      const truth = await anvil.rpc<Raw>('eth_getBlockByNumber', [`0x${final.toString(16)}`, false])
      expect(final).toBeGreaterThanOrEqual(finalized)
      expect(await chain.block(final, 'agreed').catch(() => ({ hash: truth.hash }))).toMatchObject({ hash: truth.hash })
      expect(final).toBeLessThanOrEqual(now)
      second.mode = 'pass'
      expect((await head(chain, ({ latest }) => latest.height === now + 30 && latest.hash !== blocks.at(-1)?.hash)).latest.height).toBe(
        now + 30,
      )
    })

    test('one node that says that nothing is final, or repeats old heads, does not stop the chain', async () => {
      const { chain, first } = await connectBehind(3)
      const old = await anvil.rpc<Raw>('eth_getBlockByNumber', ['latest', false])
      first.alter = (method, _, [at]) => (method !== 'eth_getBlockByNumber' ? undefined : at === 'finalized' ? null : old)
      await anvil.mine(6)
      const now = await height()
      expect((await head(chain, ({ latest, finalized }) => latest.height === now && finalized === now - 2)).finalized).toBe(now - 2)
    })

    test('an altered header is refused, and the next node is asked', async () => {
      const lines: [string, unknown][] = []
      const log = { info: (text: string, fields?: object) => void lines.push([text, fields]), warn: () => undefined }
      const { chain, first } = await connectBehind(3, { log })
      expect(lines).toEqual([['hashes of block headers', { chain: 'test', headerHash: 'checked' }]])
      first.alter = (method, result) => (method === 'eth_getBlockByNumber' && result ? { ...result, timestamp: '0x1' } : undefined)
      expect((await chain.block(3, 'latest'))?.timestamp).toBeGreaterThan(1)
      await anvil.mine(2)
      const now = await height()
      expect((await head(chain, ({ latest }) => latest.height === now)).latest.timestamp).toBeGreaterThan(1)
    })

    test('transactions that one node leaves out of a block with a true hash are read from the others', async () => {
      const { chain, first } = await connectBehind(3)
      first.alter = (method, result) => (method === 'eth_getBlockByNumber' && result ? { ...result, transactions: [] } : undefined)
      const signer = await devnetSigner(33)
      const { raw, hash } = await signer.sign(payment(signer, 0))
      await chain.send(raw)
      await anvil.mine()
      const now = await height()
      expect((await head(chain, ({ latest }) => latest.height === now)).latest.transactions).toEqual([hash])
    })
  })

  describe('prices', () => {
    const dear = `0x${(5_000n * gwei).toString(16)}`

    function overprice(node: RpcProxy): void {
      node.alter = (method, result) => {
        if (method === 'eth_gasPrice') return dear
        if (method !== 'eth_feeHistory') return undefined
        const { reward, baseFeePerGas } = result as { reward: unknown[]; baseFeePerGas: string[] }
        return {
          ...(result as object),
          baseFeePerGas: baseFeePerGas.map(() => dear),
          gasUsedRatio: reward.map(() => 1),
          reward: reward.map(() => [dear]),
        }
      }
    }

    test('prices of one hostile node are not used, and its fee history makes no cap', async () => {
      const honest = await (await connect(anvil.url)).quote()
      const { chain, first } = await connectBehind(3)
      overprice(first)
      expect(await chain.quote()).toEqual(honest)
    })

    test('without configured limits, one node gets at most 50 gwei plus twenty times the usual fee', async () => {
      const { chain, first } = await connectBehind(1)
      const { cap } = await chain.quote()
      expect(BigInt(cap ?? 0)).toBeGreaterThanOrEqual(50n * gwei)
      expect(BigInt(cap ?? 0)).toBeLessThan(100n * gwei)
      overprice(first)
      await anvil.mine()
      const now = await height()
      await head(chain, ({ latest }) => latest.height === now)
      const market = await chain.quote()
      expect(BigInt(market.tip)).toBe(5_000n * gwei)
      expect(firstOffer(market, {}, { gasLimit: '500000' })).toMatchObject({ kind: 'wait', code: 'FEE_LIMIT' })
      expect(firstOffer(market, { maxFeePerGas: String(6_000n * gwei) }, { gasLimit: '500000' })).toMatchObject({ kind: 'offer' })
    })

    test('a gas estimate of one node that is far too low or high is not believed', async () => {
      const { chain, first } = await connectBehind(3)
      const intent = { to: address, data: '0x', value: '1' }
      const truth = await (await connect(anvil.url)).simulate(intent, address)
      for (const lie of ['0x100', '0x1ba8140']) {
        first.alter = (method) => (method === 'eth_estimateGas' ? lie : undefined)
        expect(await chain.simulate(intent, address)).toEqual(truth)
        expect(await chain.simulate({ ...intent, value: '2' }, address)).toEqual(truth)
      }
    })
  })

  test('a node that was added at run time does not count in a majority, and is never believed alone', async () => {
    const { chain, behind } = await connectBehind(2)
    const [first, second] = behind as [RpcProxy, RpcProxy]
    const identity = `0x${'4'.padStart(40, '0')}`
    const word = `0x${'7'.padStart(64, '0')}`
    const liar = await startHostileServer((body, response) => {
      const calls = [JSON.parse(body)].flat() as { id: number; method: string }[]
      const answers = calls.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? '0x7a69' : `0x${'8'.padStart(64, '0')}` }))
      response.end(JSON.stringify(answers.length === 1 ? answers[0] : answers))
    })
    const added = ['x', 'y', 'z'].map((name) => ({ chain: 'test', name, url: `${liar}/${name}`, disabled: false }))
    chain.adjustNodes(added)
    await expect.poll(() => chain.nodes().filter(({ added: isAdded, state }) => isAdded && state === 'up')).toHaveLength(3)
    expect(await chain.call(identity, word, 'agreed')).toBe(word)
    second.mode = 503
    await expect(chain.call(identity, word, 'agreed')).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    first.mode = 503
    await expect(chain.call(identity, word, 'agreed')).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    chain.adjustNodes([...added, ...['node-1', 'node-2'].map((name) => ({ chain: 'test', name, disabled: true }))])
    for (const at of ['latest', 'agreed', 'majority-latest'] as const) {
      await expect(chain.call(identity, word, at)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    }
    await expect(chain.quote()).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test('disabling nodes does not change the majority: a disabled node counts as a silent node', async () => {
    const { chain, behind } = await connectBehind(3)
    const [first, second, liar] = behind as [RpcProxy, RpcProxy, RpcProxy]
    const identity = `0x${'4'.padStart(40, '0')}`
    const [word, lie] = ['7', '8'].map((digit) => `0x${digit.padStart(64, '0')}`) as [string, string]
    liar.alter = (method) => (method === 'eth_call' ? lie : undefined)
    const disable = (...names: string[]) => chain.adjustNodes(names.map((name) => ({ chain: 'test', name, disabled: true })))
    const reads = ['agreed', 'agreed-latest', 'majority-latest'] as const
    const finalized = () => chain.heads.current?.finalized ?? -1
    disable('node-3')
    for (const at of reads) expect(await chain.call(identity, word, at)).toBe(word)
    disable('node-1')
    for (const at of reads) await expect(chain.call(identity, word, at)).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    disable('node-1', 'node-2')
    // A read of heads may have begun before the nodes were disabled. Such a read has ended once the chain shows this
    // new block.
    await anvil.mine(1)
    const next = await height()
    await head(chain, ({ latest }) => latest.height === next)
    const before = finalized()
    for (const node of [first, second]) node.requests.length = 0
    for (const at of reads) {
      const facts = { nodes: 3, answered: 1 }
      await expect(chain.call(identity, word, at)).rejects.toMatchObject({ code: 'NODES_DISAGREE', facts })
    }
    await expect(chain.pendingNonce(address)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    await anvil.mine(70)
    const now = await height()
    await head(chain, ({ latest }) => latest.height === now)
    expect(finalized()).toBe(before)
    expect([...first.requests, ...second.requests]).toEqual([])
    disable()
    await expect.poll(() => chain.call(identity, word, 'agreed').catch(() => 'none')).toBe(word)
    await head(chain, ({ finalized: final }) => final > before)
  })
})
