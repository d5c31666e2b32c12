import { describe, expect, test } from 'vitest'
import type { Inclusion } from '../../chains/port.ts'
import type { Signer, UnsignedTransaction } from '../../chains/signing-port.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { inclusion } from '../helpers/inclusions.ts'
import { head } from '../helpers/heads.ts'
import { deployReverting } from '../helpers/reverting.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

/** The chain asks only one node for a receipt. The reported result must be true even if this node lies. */
describe('receipts that lie', () => {
  const { anvil, connectBehind: connected } = evmSetting(5)
  let account = 20

  async function sent(changes: Partial<UnsignedTransaction> = {}): Promise<{ signer: Signer; hash: string }> {
    const signer = await devnetSigner(account++)
    const { raw, hash } = await signer.sign(payment(signer, 0, changes))
    await anvil.rpc('eth_sendRawTransaction', [raw])
    return { signer, hash }
  }

  /** Makes the node change `times` receipts. The returned function counts the changed receipts. */
  function lie(node: RpcProxy, times: number, changed: (receipt: Record<string, unknown>) => unknown): () => number {
    let lies = 0
    node.alter = (method, result) => {
      if (method !== 'eth_getTransactionReceipt' || result === null || lies >= times) return undefined
      lies++
      return changed(result as Record<string, unknown>)
    }
    return () => lies
  }

  function recordStates(watch: { onChange(listener: (now: Inclusion) => void): void }): string[] {
    const all: string[] = []
    watch.onChange((now) => all.push(now.kind === 'included' ? now.receipt.status : now.kind))
    return all
  }

  const lies: [string, (receipt: Record<string, unknown>) => unknown][] = [
    ['null', () => null],
    ['another status', (receipt) => ({ ...receipt, status: '0x0' })],
    ['a block that does not exist', (receipt) => ({ ...receipt, blockHash: `0x${'cd'.repeat(32)}` })],
    ['a block that has not the transaction', (receipt) => ({ ...receipt, ...parent })],
    ['a height that is long gone', (receipt) => ({ ...receipt, blockNumber: '0x1', blockHash: `0x${'cd'.repeat(32)}` })],
    ['junk', () => ({ blockHash: '0x12' })],
  ]
  let parent: { blockNumber: string; blockHash: string }

  test.each(lies)('a lie of the only node is never reported: %s', async (_, changed) => {
    const { chain, first } = await connected(1)
    const block = await anvil.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false])
    parent = { blockNumber: block.number, blockHash: block.hash }
    const { hash } = await sent()
    const watch = chain.watch([hash])
    const all = recordStates(watch)
    const count = lie(first, 1, changed)
    await anvil.mine()
    await expect.poll(count).toBe(1)
    await anvil.mine()
    const now = await inclusion(watch, ({ kind }) => kind === 'included')
    expect(now).toMatchObject({ receipt: { hash, status: 'success', block: { height: Number(block.number) + 1 } } })
    await anvil.mine(4)
    await inclusion(watch, (later) => later.kind === 'included' && later.final)
    expect(new Set(all)).toEqual(new Set(['success']))
  })

  test('one of three nodes that always says reverted is not believed', async () => {
    const { chain, first } = await connected(3)
    const { hash } = await sent()
    const watch = chain.watch([hash])
    const all = recordStates(watch)
    const count = lie(first, Infinity, (receipt) => ({ ...receipt, status: '0x0' }))
    await anvil.mine()
    expect(await inclusion(watch, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { status: 'success' } })
    expect(count()).toBeGreaterThan(0)
    expect(all).toEqual(['success'])
  })

  test('if one of three nodes never knows a receipt, the others are asked', async () => {
    const { chain, first } = await connected(3)
    const lies = lie(first, Infinity, () => null)
    const { hash } = await sent()
    const watch = chain.watch([hash])
    const seen = recordStates(watch)
    await anvil.mine(2)
    await inclusion(watch, ({ kind }) => kind === 'included')
    expect(seen).toEqual(['success'])
    expect(lies()).toBeGreaterThan(1)
    watch.close()
  })

  test('a true revert is reported, with one node and with three; it costs one more read of each', async () => {
    const { address } = await deployReverting(anvil, 'not today')
    for (const count of [1, 3]) {
      const { chain, behind } = await connected(count)
      const { hash } = await sent({ to: address, value: '0', gasLimit: '100000' })
      const watch = chain.watch([hash])
      await expect.poll(() => behind.flatMap(({ requests }) => requests.flat())).toContain('eth_getTransactionReceipt')
      for (const node of behind) node.requests.length = 0
      await anvil.mine()
      if (count === 1) await expect.poll(() => behind[0]?.requests.flat()).toContain('eth_getTransactionReceipt')
      if (count === 1) await anvil.mine()
      expect(await inclusion(watch, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { hash, status: 'reverted' } })
      const reads = behind.flatMap(({ requests }) => requests.flat()).filter((method) => method === 'eth_getTransactionReceipt')
      expect(reads.length).toBeLessThanOrEqual(1 + Math.max(2, count))
    }
  })

  test('an earlier mined transaction that the only node denies once is read again; another block is none', async () => {
    const { hash } = await sent()
    await anvil.mine(3)
    const { chain, first } = await connected(1)
    const count = lie(first, 1, () => null)
    const watch = chain.watch([hash])
    await expect.poll(count).toBe(1)
    await anvil.mine()
    // The transaction's block is not cached, so the chain's only node must answer twice, one block apart.
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, ({ latest }) => latest.height === height)
    await anvil.mine()
    await expect.poll(() => watch.inclusion).toMatchObject({ kind: 'included', receipt: { hash } })
  })

  test('a long mined transaction that is denied once is read again when a caller knows its block', async () => {
    const { hash } = await sent()
    await anvil.mine()
    const { chain, first } = await connected(1)
    await anvil.mine(70)
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, ({ latest }) => latest.height === height)
    const lies = lie(first, 1, () => null)
    const watch = chain.watch([hash])
    await expect.poll(lies).toBe(1)
    const polls = first.requests.length
    await expect.poll(() => first.requests.length).toBeGreaterThan(polls + 3)
    expect(watch.inclusion.kind).toBe('unseen')
    watch.add(hash)
    expect(await inclusion(watch, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { hash } })
  })

  test('a block that one of three nodes keeps claiming for an earlier transaction is not believed', async () => {
    const { hash } = await sent()
    await anvil.mine(3)
    const { chain, first } = await connected(3)
    lie(first, Infinity, (receipt) => ({ ...receipt, blockHash: `0x${'cd'.repeat(32)}` }))
    const watch = chain.watch([hash])
    const now = await inclusion(watch, ({ kind }) => kind === 'included')
    expect(now.kind === 'included' && now.receipt.block.hash).not.toBe(`0x${'cd'.repeat(32)}`)
  })

  test('whole blocks of receipts are no more trusted than single ones', async () => {
    const { chain, first } = await connected(3)
    const signer = await devnetSigner(account++)
    const signed = await Promise.all(Array.from({ length: 10 }, (_, nonce) => signer.sign(payment(signer, nonce))))
    for (const { raw } of signed) await anvil.rpc('eth_sendRawTransaction', [raw])
    const watches = signed.map(({ hash }) => chain.watch([hash]))
    const all = watches.map(recordStates)
    let lied = false
    first.alter = (method, result) => {
      if (method !== 'eth_getBlockReceipts' || lied) return undefined
      lied = true
      return (result as Record<string, unknown>[]).map((receipt, index) => (index % 2 ? { ...receipt, status: '0x0' } : receipt))
    }
    await anvil.mine()
    for (const watch of watches) await inclusion(watch, ({ kind }) => kind === 'included')
    expect(lied).toBe(true)
    expect(all.flat()).toEqual(all.map(() => 'success'))
  })
})
