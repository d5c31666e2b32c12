import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSigner, type EvmChain } from '../../chains/evm/index.ts'
import type { SendOutcome } from '../../chains/port.ts'
import type { SendErrorClass } from '../../domain/lane/send-errors.ts'
import type { Signer, UnsignedTransaction } from '../../chains/signing-port.ts'
import { until } from '../../lab/devnet/until.ts'
import { devnetSigner, payment, startManualAnvil, testChain } from '../helpers/evm.ts'
import { inclusion } from '../helpers/inclusions.ts'
import { type RpcProxy, startRpcProxy } from '../helpers/rpc-proxy.ts'

/** These tests fail if a new version of anvil changes its messages. */
describe('answers of anvil to a send', () => {
  let anvil: Awaited<ReturnType<typeof startManualAnvil>>
  let chain: EvmChain
  let signer: Signer

  beforeAll(async () => {
    anvil = await startManualAnvil()
    await anvil.mine(2)
    chain = testChain(anvil.url)
    await chain.connect()
    signer = await devnetSigner(40)
    const { raw, hash } = await signer.sign(payment(signer, 0))
    await chain.send(raw)
    const watch = chain.watch([hash])
    await anvil.mine()
    await inclusion(watch, ({ kind }) => kind === 'included')
    // Later tests need a transaction with nonce 1 in the pool.
    await chain.send((await signer.sign(payment(signer, 1))).raw)
  })
  afterAll(async () => {
    chain?.close()
    await anvil?.stop()
  })

  async function poorSigner(): Promise<Signer> {
    process.env['PORTAGE_TEST_DEVNET_KEY_POOR'] = Wallet.createRandom().privateKey
    return createSigner({ kind: 'environment', variable: 'PORTAGE_TEST_DEVNET_KEY_POOR' })
  }

  const refusals: [SendErrorClass, string, number, Partial<UnsignedTransaction>][] = [
    ['nonce-too-low', 'nonce too low', 0, { value: '2' }],
    ['replacement-underpriced', 'replacement transaction underpriced', 1, { value: '2' }],
    ['fatal', 'intrinsic gas too low', 2, { gasLimit: '20000' }],
    ['fatal', 'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit', 2, { gasLimit: '70000000' }],
    ['underpriced', 'max fee per gas less than block base fee', 2, { maxFee: '2', tip: '1' }],
    ['fatal', 'invalid chain id for signer', 2, { networkId: '5' }],
    ['insufficient-funds', 'Insufficient funds for gas * price + value', 2, { value: `1${'0'.repeat(30)}` }],
  ]
  test.each(refusals)('%s: %s', async (error, message, nonce, changes) => {
    const { raw } = await signer.sign(payment(signer, nonce, changes))
    expect(await chain.send(raw)).toEqual({ kind: 'refused', error, message, mostAnswered: true })
  })

  test('the same bytes sent again are known', async () => {
    expect(await chain.send((await signer.sign(payment(signer, 1))).raw)).toEqual({ kind: 'known' })
  })

  test('an empty account lacks funds', async () => {
    const poor = await poorSigner()
    expect(await chain.send((await poor.sign(payment(poor, 0))).raw)).toMatchObject({ error: 'insufficient-funds' })
    await expect(chain.simulate({ to: signer.address, data: '0x6000', value: '1' }, poor.address)).rejects.toMatchObject({
      code: 'TRANSACTION_REFUSED',
    })
  })

  test('a transaction with a nonce ahead of its turn waits in the pool', async () => {
    expect(await chain.send((await signer.sign(payment(signer, 9))).raw)).toEqual({ kind: 'accepted' })
  })

  test('a legacy transaction, where both fees are equal, is taken and mined', async () => {
    const other = await devnetSigner(41)
    const { raw, hash } = await other.sign(payment(other, 0, { maxFee: '5000000000', tip: '5000000000' }))
    expect(raw.startsWith('0xf8')).toBe(true)
    expect(await chain.send(raw)).toEqual({ kind: 'accepted' })
    const watch = chain.watch([hash])
    await anvil.mine()
    expect(await inclusion(watch, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { hash, effectiveGasPrice: '5000000000' } })
    expect(await chain.transactionSender(hash)).toBe(other.address)
    expect(await chain.transactionSender(`0x${'0'.repeat(64)}`)).toBeUndefined()
  })

  describe('where nodes differ', () => {
    let other: RpcProxy

    beforeAll(async () => (other = await startRpcProxy(anvil.url)))

    /**
     * Sends through anvil and a proxy that refuses with `message` and forwards no transaction. `place`: position of the
     * proxy.
     */
    async function sendBeside(message: string, account: number, place: 'first' | 'last'): Promise<SendOutcome> {
      const urls = place === 'first' ? [other.url, anvil.url] : [anvil.url, other.url]
      const both = testChain(urls)
      await both.connect()
      other.refuse = (method) => (method === 'eth_sendRawTransaction' ? { code: -32000, message } : undefined)
      const one = await devnetSigner(account)
      const outcome = await both.send((await one.sign(payment(one, 0))).raw)
      both.close()
      other.refuse = undefined
      return outcome
    }

    test('a send is accepted if one node accepts it and the other says fatal, in either order', async () => {
      expect(await sendBeside('exceeds block gas limit', 42, 'first')).toEqual({ kind: 'accepted' })
      expect(await sendBeside('invalid sender', 43, 'last')).toEqual({ kind: 'accepted' })
    })

    test.each(['nonce too low', 'replacement transaction underpriced', 'insufficient funds for transfer', 'never heard of'])(
      'a send is known if one node knows it and the other says "%s"',
      async (message) => {
        const one = await devnetSigner(44)
        await anvil.rpc('eth_sendRawTransaction', [(await one.sign(payment(one, 0))).raw]).catch(() => undefined)
        expect(await sendBeside(message, 44, 'first')).toEqual({ kind: 'known' })
      },
    )

    test('a majority refuses only if most nodes in the config answer, even if most of them are down', async () => {
      const nodes = await Promise.all([0, 1, 2].map(() => startRpcProxy(anvil.url)))
      const three = testChain(nodes.map(({ url }) => url))
      await three.connect()
      const { raw } = await signer.sign(payment(signer, 2, { gasLimit: '20000' }))
      const refused = { kind: 'refused', error: 'fatal', message: 'intrinsic gas too low' }
      expect(await three.send(raw)).toEqual({ ...refused, mostAnswered: true })
      for (const [index, node] of nodes.slice(1).entries()) {
        Object.assign(node, { mode: 429, retryAfter: '30' })
        await until(async () => three.nodes()[index + 1]?.state === 'failing', { timeoutMs: 10_000, what: 'the node to rest' })
        expect(await three.send(raw)).toEqual(index === 0 ? { ...refused, mostAnswered: true } : refused)
      }
      three.close()
      for (const node of nodes) node.stop()
    })

    test("a chain's own texts decide first", async () => {
      const own = testChain(other.url, { errors: { 'pool-limit': ['come back tomorrow'] } })
      await own.connect()
      other.refuse = (method) =>
        method === 'eth_sendRawTransaction' ? { code: -32000, message: 'Come Back Tomorrow: nonce too low' } : undefined
      expect(await own.send('0x00')).toMatchObject({ kind: 'refused', error: 'pool-limit' })
      own.close()
      other.refuse = undefined
    })
  })
})
