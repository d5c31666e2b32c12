import { describe, expect, test } from 'vitest'
import type { EvmChain } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { deployReverting } from '../helpers/reverting.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

const to = devnetAccount(1).address

/**
 * The only node of a chain is asked again after the next block or after four block times. With this block time, the
 * block always comes first.
 */
const patient = { blockTimeMs: 4_000 }

describe('verdicts of more than half of the nodes', () => {
  const { anvil, connectBehind: connected } = evmSetting(5)

  const at = (proxy: RpcProxy | undefined): RpcProxy => proxy as RpcProxy
  /** The identity precompile, for which anvil returns 32 bytes. */
  const identity = `0x${'4'.padStart(40, '0')}`
  const word = `0x${'7'.padStart(64, '0')}`
  const lie = `0x${'8'.padStart(64, '0')}`

  async function heightOf(chain: EvmChain): Promise<number> {
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, ({ latest }) => latest.height === height)
    return height
  }

  async function spend(account: number, count: number): Promise<{ hash: string; signingHash: string }[]> {
    const signer = await devnetSigner(account)
    const signed = []
    for (let nonce = 0; nonce < count; nonce++) {
      const one = await signer.sign(payment(signer, nonce))
      await anvil.rpc('eth_sendRawTransaction', [one.raw])
      await anvil.mine(2)
      signed.push({ hash: one.hash, signingHash: one.signingHash })
    }
    return signed
  }

  test('the highest pending count counts, but not one that no pool could hold', async () => {
    const { chain, behind } = await connected(3)
    const { address } = await devnetSigner(9)
    at(behind[0]).alter = (method) => (method === 'eth_getTransactionCount' ? '0x3' : undefined)
    expect(await chain.pendingNonce(address)).toBe(3)
    at(behind[1]).alter = (method) => (method === 'eth_getTransactionCount' ? '0xf4240' : undefined)
    expect(await chain.pendingNonce(address)).toBe(3)
  })

  test('one lying or silent node of three, at any place in the list, changes no verdict', async () => {
    const { chain, behind } = await connected(3)
    for (const liar of behind) {
      liar.alter = (method) => (method === 'eth_call' ? lie : undefined)
      expect(await chain.call(identity, word, 'agreed')).toBe(word)
      liar.alter = undefined
    }
    at(behind[0]).mode = 'hang'
    expect(await chain.call(identity, word, 'agreed')).toBe(word)
    at(behind[0]).mode = 503
    expect(await chain.call(identity, word, 'agreed')).toBe(word)
  })

  test.each([
    [1, 2],
    [3, 1],
  ])('reads of one tick are sent to %i nodes together, and share one wait if there is one node', async (nodes, looks) => {
    const { chain, behind } = await connected(nodes, patient)
    const words = Array.from({ length: 250 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
    const asked = Promise.all(words.map((one) => chain.call(identity, one, 'agreed')))
    if (looks > 1) {
      await expect
        .poll(
          () =>
            at(behind[0])
              .requests.flat()
              .filter((method) => method === 'eth_call').length,
        )
        .toBe(words.length)
      await anvil.mine()
    }
    expect(await asked).toEqual(words)
    for (const { requests } of behind) {
      const sizes = requests.map((methods) => methods.filter((method) => method === 'eth_call').length).filter((size) => size > 0)
      expect(sizes.toSorted((a, b) => b - a)).toEqual([100, 100, 50].flatMap((size) => Array<number>(looks).fill(size)))
    }
  })

  test('two silent nodes of three, or two nodes that differ, make no verdict', async () => {
    const { chain, behind } = await connected(3)
    at(behind[0]).mode = 503
    at(behind[2]).mode = 'cut'
    await expect(chain.call(identity, word, 'agreed')).rejects.toMatchObject({ code: 'NODES_DISAGREE', retriable: true })
    at(behind[1]).mode = 503
    await expect(chain.call(identity, word, 'agreed')).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    const two = await connected(2)
    at(two.behind[1]).alter = (method) => (method === 'eth_call' ? lie : undefined)
    await expect(two.chain.call(identity, word, 'agreed')).rejects.toMatchObject({
      code: 'NODES_DISAGREE',
      facts: { nodes: 2, answered: 2 },
    })
    at(two.behind[1]).alter = undefined
    expect(await two.chain.call(identity, word, 'agreed')).toBe(word)
  })

  test('one node’s revert of a simulation is ignored, and most nodes’ revert is refused with its reason', async () => {
    const { chain, behind } = await connected(3)
    const intent = { to: identity, data: word, value: '0' }
    const truth = await chain.simulate(intent, to)
    expect(truth).toMatchObject({ ok: true })
    const estimates = () => behind.map(({ requests }) => requests.flat().filter((method) => method === 'eth_estimateGas').length)
    // All nodes estimate the first call of a function. The estimate of a later call by one node is used, because it is
    // near the agreed one.
    expect(estimates()).toEqual([2, 1, 1])
    expect(await chain.simulate({ ...intent, data: lie }, to)).toMatchObject({ ok: true })
    expect(estimates()).toEqual([3, 1, 1])
    const liar = at(behind[0])
    liar.refuse = (method) => (method === 'eth_estimateGas' ? { code: 3, message: 'execution reverted: never' } : undefined)
    expect(await chain.simulate(intent, to)).toEqual(truth)
    const { address } = await deployReverting(anvil, 'a true reason')
    const reverting = { ...intent, to: address }
    expect(await chain.simulate(reverting, to)).toMatchObject({ ok: false, revert: { reason: 'a true reason' } })
    // The third node fails and the other two disagree, so no result is certain.
    at(behind[2]).mode = 503
    expect(await chain.simulate(reverting, to)).toMatchObject({
      ok: false,
      revert: { data: '0x', reason: 'never (the nodes do not agree on that)', isDisputed: true },
    })
  })

  test("a chain's only node needs two equal answers, one block apart", async () => {
    const { chain, behind } = await connected(1, patient)
    const node = at(behind[0])
    let asked = 0
    node.alter = (method) => {
      if (method !== 'eth_call') return undefined
      asked++
      return asked === 1 ? lie : undefined
    }
    const verdict = chain.call(identity, word, 'agreed')
    await expect.poll(() => asked).toBe(1)
    await anvil.mine()
    await expect.poll(() => asked).toBe(2)
    await anvil.mine()
    expect(await verdict).toBe(word)
    expect(asked).toBe(3)
  })

  test("a chain's only node that changes its answer with each block makes no verdict", async () => {
    const { chain, behind } = await connected(1, patient)
    let asked = 0
    at(behind[0]).alter = (method) => (method === 'eth_call' ? `0x${(++asked).toString(16).padStart(64, '0')}` : undefined)
    const verdict = chain.call(identity, word, 'agreed').catch((error: unknown) => error)
    for (const looks of [1, 2, 3]) {
      await expect.poll(() => asked).toBe(looks)
      await anvil.mine()
    }
    expect(await verdict).toMatchObject({ code: 'NODES_DISAGREE' })
  })

  test('the transaction that used a nonce is found in few reads, however far back', async () => {
    const { chain, behind } = await connected(3)
    const signed = await spend(20, 4)
    await anvil.rpc('anvil_mine', ['0x64'])
    const height = await heightOf(chain)
    const { address } = await devnetSigner(20)
    for (const node of behind) node.requests.length = 0
    for (const [nonce, { hash, signingHash }] of signed.entries()) {
      expect(await chain.mined(address, nonce)).toMatchObject({
        hash,
        signingHash,
        block: { height: height - 101 - (2 * 4 - 2 * nonce - 1) + 1 },
      })
    }
    const finding = behind.flatMap(({ requests }) => requests).filter((methods) => methods.includes('eth_getTransactionCount'))
    expect(finding.length).toBeLessThanOrEqual(4 * 5)
    expect(await chain.mined(address, 4)).toBeUndefined()
    expect(await chain.mined(devnetAccount(21).address, 0)).toBeUndefined()
  })

  test('beyond 128 blocks, an archive node finds the transaction of a nonce, and a pruned node does not', async () => {
    const { chain, behind } = await connected(3)
    const [first] = await spend(22, 1)
    await anvil.rpc('anvil_mine', ['0x190'])
    const { address } = await devnetSigner(22)
    const height = await heightOf(chain)
    expect(await chain.mined(address, 0)).toMatchObject(first as object)
    for (const node of behind) {
      node.refuse = (method, params) => {
        const old = method === 'eth_getTransactionCount' && String(params[1]).startsWith('0x') && Number(params[1]) < height - 128
        return old ? { code: -32000, message: 'missing trie node' } : undefined
      }
    }
    expect(await chain.mined(address, 0)).toBeUndefined()
  })

  test.each([['0x0'], ['0xff']])('mined: a node that counts %s transactions of every account is not believed', async (count) => {
    const { chain, behind } = await connected(3)
    const account = count === '0x0' ? 24 : 25
    const [first] = await spend(account, 1)
    const { address } = await devnetSigner(account)
    await heightOf(chain)
    at(behind[0]).alter = (method) => (method === 'eth_getTransactionCount' ? count : undefined)
    expect(await chain.mined(address, 0)).toMatchObject(first as object)
    expect(await chain.mined(address, 1)).toBeUndefined()
  })

  test("a node that lies about code is not believed, and a chain's only node answers at once", async () => {
    const { chain, behind } = await connected(3)
    at(behind[0]).alter = (method, result) => (method === 'eth_getCode' ? (result === '0x' ? '0x60' : '0x') : undefined)
    const { address: contract } = await deployReverting(anvil, 'no')
    expect([await chain.hasCode(contract), await chain.hasCode(to)]).toEqual([true, false])
    at(behind[1]).mode = 503
    await expect(chain.hasCode(contract)).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    const lone = await connected(1)
    expect(await lone.chain.hasCode(contract)).toBe(true)
  })

  test('an account has code in a block if the block or its parent shows code, or if its nonce changed in it', async () => {
    const { chain, first } = await connected(1)
    const account = `0x${'7702'.repeat(10)}`
    const height = async () => Number(await anvil.rpc<string>('eth_blockNumber', []))
    const before = await height()
    // anvil changes the state of its latest block, so each change needs a block of its own.
    await anvil.rpc('anvil_setCode', [account, '0x60'])
    await anvil.mine()
    await anvil.rpc('anvil_setCode', [account, '0x'])
    await anvil.mine()
    await anvil.rpc('anvil_setNonce', [account, '0x2'])
    await anvil.mine()
    await anvil.mine()
    // The account has code only after the block `before`. `hasCode` reads the states before and after a block. In the
    // block `before + 2` the nonce changes, which also counts as code.
    const heights = Array.from({ length: 6 }, (_, index) => before + index - 1)
    expect(await Promise.all(heights.map((at) => chain.hasCode(account, at)))).toEqual([false, true, true, true, false, false])
    expect(await chain.hasCode(account)).toBe(false)
    first.refuse = (method, [, block]: readonly unknown[] = []) =>
      method.startsWith('eth_get') && block !== 'latest' ? { code: -32000, message: 'missing trie node' } : undefined
    expect(await chain.hasCode(account, before + 1)).toBe(false)
  })

  test('a node that lies about the transaction of a nonce, or shows another block, is not believed', async () => {
    const { chain, behind } = await connected(3)
    const [first] = await spend(23, 1)
    const { address } = await devnetSigner(23)
    await heightOf(chain)
    for (const [index, field] of ['hash', 'value'].entries()) {
      at(behind[index]).alter = (method, result) => {
        const block = result as { transactions?: Record<string, unknown>[] } | null
        if (method !== 'eth_getBlockByNumber' || typeof block?.transactions?.[0] !== 'object') return undefined
        return { ...block, transactions: block.transactions.map((one) => ({ ...one, [field]: `0x${'1'.repeat(64)}` })) }
      }
      if (index === 0) expect(await chain.mined(address, 0)).toMatchObject(first as object)
      else await expect(chain.mined(address, 0)).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    }
  })

  test('a block is denied by another block at its height or a much shorter chain, not by a lagging chain', async () => {
    const { chain, behind } = await connected(3)
    const { latest } = await head(chain, () => true)
    const other = `0x${'ab'.repeat(32)}`
    expect(await chain.denies({ height: latest.height, hash: latest.hash })).toBe(false)
    expect(await chain.denies({ height: latest.height, hash: other })).toBe(true)
    expect(await chain.denies({ height: latest.height + 5, hash: other })).toBe(false)
    expect(await chain.denies({ height: latest.height + 10_000, hash: other })).toBe(true)
    at(behind[0]).refuse = (method) => (method === 'eth_syncing' ? { code: -1, message: 'not served' } : undefined)
    at(behind[1]).alter = (method) => (method === 'eth_syncing' ? { currentBlock: '0x1' } : undefined)
    expect(await chain.denies({ height: latest.height + 10_000, hash: other })).toBe(true)
    at(behind[0]).refuse = undefined
    at(behind[0]).alter = at(behind[1]).alter
    expect(await chain.denies({ height: latest.height + 10_000, hash: other })).toBe(false)
  })

  test('one node that shows another chain denies no block', async () => {
    const { chain, behind } = await connected(3)
    const { latest } = await head(chain, () => true)
    const asked = { height: 1, hash: (await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', ['0x1', false])).hash }
    at(behind[0]).alter = (method, result) =>
      method === 'eth_getBlockByNumber' && Number((result as { number: string } | null)?.number) === 1
        ? { ...(result as object), hash: `0x${'cd'.repeat(32)}` }
        : undefined
    expect(latest.height).toBeGreaterThan(1)
    expect(await chain.denies(asked)).toBe(false)
  })
})
