import { beforeEach, describe, expect, test } from 'vitest'
import type { EvmChain, EvmChainOptions } from '../../chains/evm/index.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { inclusion } from '../helpers/inclusions.ts'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'
import { hearWarnings } from '../helpers/warnings.ts'

describe('inclusions', () => {
  const { anvil, proxy, connect: connectTo } = evmSetting(3)
  let node: RpcProxy
  let chain: EvmChain
  let accounts = 45

  beforeEach(async () => {
    node = await proxy()
  })

  async function connect(options: Partial<EvmChainOptions> = {}): Promise<void> {
    chain = await connectTo(node.url, options)
  }

  async function sendMany(signer: Signer, count: number): Promise<string[]> {
    const signed = await Promise.all(Array.from({ length: count }, (_, nonce) => signer.sign(payment(signer, nonce))))
    for (const { raw } of signed) expect(await chain.send(raw)).toEqual({ kind: 'accepted' })
    return signed.map(({ hash }) => hash)
  }

  const receiptCalls = () => node.requests.flat().filter((method) => /receipt/i.test(method))

  test('forty own transactions in one block cost one read, and none while they wait', async () => {
    await connect()
    const signer = await devnetSigner(accounts++)
    const signed = await Promise.all(Array.from({ length: 40 }, (_, nonce) => signer.sign(payment(signer, nonce))))
    const hashes = signed.map(({ hash }) => hash)
    // Stop the polls, because a poll between the watch and the send would read an unsent transaction.
    chain.heads.stop()
    // Pending transactions also watch a hash before they send the bytes.
    const watches = hashes.map((hash) => chain.watch([hash]))
    expect(new Set((await Promise.all(signed.map(({ raw }) => chain.send(raw)))).map(({ kind }) => kind))).toEqual(new Set(['accepted']))
    node.requests.length = 0
    await chain.heads.start()
    await expect.poll(() => node.requests.length).toBeGreaterThan(4)
    expect(receiptCalls()).toEqual([])
    await anvil.mine()
    const landed = await Promise.all(watches.map((watch) => inclusion(watch, ({ kind }) => kind === 'included')))
    expect(landed.map((now) => now.kind === 'included' && now.receipt.hash)).toEqual(hashes)
    expect(receiptCalls()).toEqual(['eth_getBlockReceipts'])
    await anvil.mine(3)
    await Promise.all(watches.map((watch) => inclusion(watch, (now) => now.kind === 'included' && now.final)))
    expect(receiptCalls()).toEqual(['eth_getBlockReceipts'])
  })

  test('forty transactions of others cost one batch at the start of the watch, and no read while they wait', async () => {
    await connect()
    const signer = await devnetSigner(accounts++)
    const signed = await Promise.all(Array.from({ length: 40 }, (_, nonce) => signer.sign(payment(signer, nonce))))
    for (const { raw } of signed) await anvil.rpc('eth_sendRawTransaction', [raw])
    node.requests.length = 0
    const watches = signed.map(({ hash }) => chain.watch([hash]))
    await expect.poll(() => receiptCalls().length).toBe(40)
    expect(node.requests.filter((methods) => methods.includes('eth_getTransactionReceipt'))).toHaveLength(1)
    node.requests.length = 0
    await expect.poll(() => node.requests.length).toBeGreaterThan(4)
    expect(receiptCalls()).toEqual([])
    await anvil.mine()
    await Promise.all(watches.map((watch) => inclusion(watch, ({ kind }) => kind === 'included')))
    expect(receiptCalls()).toEqual(['eth_getBlockReceipts'])
  })

  test('a node without eth_getBlockReceipts is asked for single receipts in one batch', async () => {
    await connect()
    node.refuse = 'eth_getBlockReceipts'
    const watches = (await sendMany(await devnetSigner(accounts++), 12)).map((hash) => chain.watch([hash]))
    node.requests.length = 0
    await anvil.mine()
    await Promise.all(watches.map((watch) => inclusion(watch, ({ kind }) => kind === 'included')))
    expect(receiptCalls()).toHaveLength(13)
  })

  test('a watch of a mined transaction finds it in the cached blocks, without a read by hash', async () => {
    await connect()
    const before = chain.heads.current?.latest.height ?? 0
    const [hash = ''] = await sendMany(await devnetSigner(accounts++), 1)
    await anvil.mine(2)
    await head(chain, ({ latest }) => latest.height === before + 2)
    node.requests.length = 0
    const seen = new Promise((resolve) => chain.watch([`0x${'ab'.repeat(32)}`, hash]).onChange(resolve))
    expect(await seen).toMatchObject({ kind: 'included', receipt: { hash, block: { height: before + 1 } } })
    // The next poll reads a receipt for the unknown hash and one for the hash in the block. Further polls read none.
    await expect.poll(() => receiptCalls().length).toBeGreaterThanOrEqual(2)
    const polls = node.requests.length
    await expect.poll(() => node.requests.length).toBeGreaterThan(polls + 1)
    expect(receiptCalls()).toHaveLength(2)
  })

  test('a receipt that is not there yet, or of another block, is read again at the next poll', async () => {
    await connect()
    const [hash = ''] = await sendMany(await devnetSigner(accounts++), 1)
    const watch = chain.watch([hash])
    let answers = 0
    node.alter = (method, result) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      answers++
      if (answers === 1) return null
      return answers === 2 ? { ...(result as object), blockHash: `0x${'cd'.repeat(32)}` } : undefined
    }
    await anvil.mine()
    await inclusion(watch, ({ kind }) => kind === 'included')
    expect(answers).toBe(3)
  })

  test('a reorganisation moves a transaction to another block in one step: unseen, then included there', async () => {
    await connect({ finality: { kind: 'depth', blocks: 10 } })
    const signer = await devnetSigner(accounts++)
    const { raw, hash } = await signer.sign(payment(signer, 0))
    await chain.send(raw)
    const watch = chain.watch([hash])
    await anvil.mine(3)
    const before = await inclusion(watch, ({ kind }) => kind === 'included')
    const seen: string[] = []
    watch.onChange((now) => seen.push(now.kind === 'included' ? String(now.receipt.block.height) : now.kind))
    await expect.poll(() => seen).toHaveLength(1)
    const height = before.kind === 'included' ? before.receipt.block.height : 0
    node.mode = 503
    // One more poll shows that no earlier poll still waits for an answer.
    const polls = node.requests.length
    await expect.poll(() => node.requests.length).toBeGreaterThan(polls)
    // The fork replaces three blocks, and puts the transaction into the second of the new blocks.
    await anvil.rpc('anvil_reorg', [3, [[raw, 1]]])
    node.mode = 'pass'
    await inclusion(watch, (now) => now.kind === 'included' && now.receipt.block.height === height + 1)
    expect(seen).toEqual([String(height), 'unseen', String(height + 1)])
  })

  test("a listener's throw stops neither the others nor the watch", async () => {
    await connect()
    const [hash = ''] = await sendMany(await devnetSigner(accounts++), 1)
    const watch = chain.watch([hash])
    watch.onChange(() => {
      throw new Error('a bad listener')
    })
    const warnings = hearWarnings()
    const good = inclusion(watch, (now) => now.kind === 'included' && now.final)
    await anvil.mine(4)
    expect(await good).toMatchObject({ final: true })
    expect(warnings).toContain('Error: a bad listener')
  })
})
