import { describe, expect, test, vi } from 'vitest'
import { verified } from '../../chains/evm/signers/verified.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { signWithRandom } from '../../lab/devnet/signing/ecdsa.ts'
import { until } from '../../lab/devnet/until.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { callHash } from '../../lanes/deps.ts'
import type { FeePolicy } from '../../domain/fees/fees.ts'
import type { PendingTransaction, PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { deployReverting } from '../helpers/reverting.ts'
import { acquired, becomes, signedAndSent, request, useLaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }
const randomKey = 40
const dear = 400n * 10n ** 9n

describe('A pending transaction under a policy', () => {
  let policy: FeePolicy = {}
  const setting = useLaneSetting(() => ({ fees: ({ terms }) => ({ ...policy, terms }) }))
  const { fresh, pool, ledger } = setting

  async function passDear(): Promise<void> {
    await setting.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${dear.toString(16)}`])
    await setting.passBlock()
  }

  test('at the cap the best attempt is sent again; a cap that is lifted holds from the next raise on', async () => {
    const one = request('capped')
    policy = { maxFeePerGas: String((BigInt(one.first.maxFee) * 3n) / 2n) }
    const agent = await fresh({ bumpAfterBlocks: 1 })
    const pending = await signedAndSent(agent, one)
    await setting.passUntil('the limit', () => pending.atFeeLimit)
    expect(pending.offered.every(({ maxFee }) => BigInt(maxFee) <= BigInt(policy.maxFeePerGas!))).toBe(true)
    const raises = pending.attempts
    await pending.bump()
    await setting.passBlock()
    expect(pending.attempts).toBe(raises)
    expect(agent.atFeeLimit).toBe(1)
    const isLast = async () => (await pool())[0]?.hash === pending.tried.at(-1)?.hash
    await until(isLast, { ...waitLimit, what: 'the best attempt to replace those before it' })
    const [best] = await pool()
    await setting.anvil.rpc('anvil_dropTransaction', [best!.hash])
    await setting.passUntil('the best attempt in the pool', async () => (await pool())[0]?.hash === best!.hash)
    policy = {}
    await setting.passUntil('a raise', () => pending.attempts > raises)
    const sent = async () => pending.tried.length === pending.attempts && (await pool())[0]?.hash === pending.tried.at(-1)?.hash
    await until(sent, { ...waitLimit, what: 'the raise in the pool' })
    await setting.mine()
    const { receipt } = (await becomes(pending, ({ kind }) => kind === 'included')) as Extract<
      PendingTransactionState,
      { kind: 'included' }
    >
    expect(pending.tried.map(({ fate }) => fate)).toEqual([...Array<string>(pending.attempts - 1).fill('outbid'), 'mined'])
    const { to, value } = one.intent
    expect(pending.tried.every((attempt) => attempt.to === to && attempt.value === value && attempt.gasLimit === one.first.gasLimit)).toBe(
      true,
    )
    expect(pending.tried.at(-1)).toMatchObject({
      kind: 'call',
      hash: receipt.hash,
      gasUsed: receipt.gasUsed,
      includedAt: expect.any(Number),
    })
    const times = pending.tried.flatMap(({ at, acceptedAt }) => [at, acceptedAt])
    expect(times).toEqual(times.toSorted((early = 0, late = 0) => early - late))
  })

  test('an attempt has the status signed until a node accepts it, and reverted if its call reverts', async () => {
    policy = {}
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const { address } = await deployReverting(setting.anvil, 'closed')
    const intent = { to: address, data: '0x', value: '0' }
    const { first } = request('reverts')
    const call = { intent, owner: { intentId: 'reverts/1', callHash: callHash(intent) }, first: { ...first, gasLimit: '100000' } }
    const pending = await acquired(agent, request('reverts', call))
    const hold = vi.spyOn(setting.chain, 'send').mockResolvedValueOnce({ kind: 'refused', error: 'ambiguous', message: 'no answer' })
    await pending.signAndSend()
    hold.mockRestore()
    expect(pending.tried).toMatchObject([{ fate: 'signed', to: address }])
    expect(pending.tried[0]).not.toHaveProperty('acceptedAt')
    await setting.passUntil('the attempt in the pool', async () => (await pool()).length === 1)
    await until(() => pending.tried[0]?.fate === 'open', { ...waitLimit, what: 'the answer of the node' })
    await setting.mine()
    await becomes(pending, ({ kind }) => kind === 'included')
    expect(pending.tried).toMatchObject([{ fate: 'reverted', gasUsed: expect.stringMatching(/^[1-9]/), acceptedAt: expect.any(Number) }])
  })

  test('an attempt raises the fees by the percentage of the policy', async () => {
    policy = { bumpPercent: 50 }
    const agent = await fresh({ bumpAfterBlocks: 1 })
    const one = request('fifty percent')
    const pending = await signedAndSent(agent, one)
    await setting.passUntil('a raise', async () => pending.attempts > 1)
    policy = {}
    expect(BigInt(pending.tried[1]?.tip ?? 0)).toBe((BigInt(one.first.tip) * 150n + 99n) / 100n)
    await setting.mine()
    await becomes(pending, ({ kind }) => kind === 'included')
  })

  test('at the limit of its terms a call is replaced by a no-op, so that higher nonces of the lane go on', async () => {
    policy = {}
    const agent = await fresh({ bumpAfterBlocks: 1 })
    const one = request('own limit')
    const { maxFee } = one.first
    const pending = await signedAndSent(agent, { ...one, terms: { maxFeePerGas: maxFee } })
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    expect(pending.tried.filter(({ kind }) => kind === 'call').map((attempt) => attempt.maxFee)).toEqual([maxFee])
    expect(agent.atFeeLimit).toBe(0)
    await setting.mine()
    await becomes(pending, ({ kind }) => kind === 'spent' || kind === 'included')
  })

  test('a cancelled call leaves by a no-op, also beyond its cap', async () => {
    const one = request('cap and cancel')
    policy = { maxFeePerGas: one.first.maxFee, maxTip: one.first.tip }
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    await signedAndSent(agent, one)
    expect(await agent.cancel(one.owner.intentId)).toBe('held')
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    await setting.mine()
    policy = {}
  })

  test('all attempts that the base fee has left behind are repriced at once, not one after the other', async () => {
    policy = { maxFeePerGas: String(3n * dear) }
    const agent = await fresh({ bumpAfterBlocks: 4 })
    const transactions: PendingTransaction[] = []
    for (const name of ['a', 'b', 'c', 'd']) transactions.push(await signedAndSent(agent, request(`priced out ${name}`)))
    let blocks = 0
    for (; blocks < 12 && transactions.some(({ attempts }) => attempts === 1); blocks++) {
      await passDear()
      // Each block is reported while nonces are in flight. Once a block is reported, its check for raises is over too.
      const height = setting.chain.heads.current?.latest.height ?? 0
      await until(() => (agent.view?.height ?? 0) >= height, { timeoutMs: 10_000, what: 'the block to be reported' }).catch(() => {})
      // From the fifth block on, the transactions are stuck. A slow machine needs time to sign the raises.
      const repriced = () => transactions.every(({ attempts }) => attempts > 1)
      if (blocks >= 4) await until(repriced, { timeoutMs: 15_000, what: 'new prices' }).catch(() => {})
    }
    // All transactions wait for the same four blocks, not for four blocks each.
    expect(blocks).toBeLessThanOrEqual(8)
    await until(async () => (await pool()).every(({ maxFeePerGas }) => maxFeePerGas > dear), { ...waitLimit, what: 'them in the pool' })
    await setting.mine()
    for (const pending of transactions) await becomes(pending, ({ kind }) => kind === 'included')
    await setting.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00'])
    await setting.mine()
  })

  test('a transaction of an earlier process is found though the key gives another hash each time it signs', async () => {
    const address = (await devnetSigner(randomKey)).address
    setting.signer = randomSigner(randomKey, address)
    const one = request('random')
    const before = await setting.agent(setting.signer, { fillAfterBlocks: 1_000 })
    const first = await signedAndSent(before, one)
    const [sent] = await pool()
    before.stop()
    const after = await setting.agent(setting.signer, { fillAfterBlocks: 1_000, bumpAfterBlocks: 1_000 })
    // Mine the old transaction.
    await setting.mine()
    const again = await after.find(one)
    if (again.kind !== 'acquired') throw new Error(again.detail)
    await again.pending.signAndSend()
    expect(again.pending.nonce).toBe(first.nonce)
    await setting.passUntil('the hash of the first', () => !again.pending.unmined)
    expect(again.pending.state).toMatchObject({ kind: 'included', noop: false, receipt: { hash: sent!.hash } })
    expect(again.pending.tried).toMatchObject([{ hash: sent!.hash, fate: 'mined' }])
    expect((await ledger()).counts.external).toBe(0)
  })

  test('a call that the key refuses gives its nonce back; a raise that it refuses is filled', async () => {
    const key = await setting.key()
    let refusing = true
    setting.signer = {
      address: key.address,
      sign: (transaction) =>
        refusing && transaction.to !== key.address ? Promise.reject(new RelayerError('SIGNING_REFUSED')) : key.sign(transaction),
    }
    const agent = await setting.agent(setting.signer, { bumpAfterBlocks: 1_000 })
    const pending = await acquired(agent, request('refused'))
    const refusal = await pending.signAndSend().catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'SIGNING_REFUSED' })
    expect(await agent.giveUp(pending, refusal)).toBe(true)
    expect(await ledger()).toMatchObject({ next: 0, counts: { released: 1 } })
    refusing = false
    const next = await signedAndSent(agent, request('allowed for now'))
    refusing = true
    await next.bump()
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    await setting.mine(3)
    expect(await becomes(next, ({ kind }) => kind === 'spent')).toEqual({ kind: 'spent', by: 'noop' })
  })

  test('a call that no node can ever mine is given up after two blocks, not after one answer', async () => {
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const one = request('hopeless')
    const pending = await signedAndSent(agent, { ...one, first: { ...one.first, gasLimit: '20999' } })
    expect(pending.state).toMatchObject({ kind: 'pending', note: expect.stringContaining('fatal') as string })
    expect((await ledger()).entries['0']?.fill).toBeUndefined()
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    expect((await ledger()).entries['0']).toMatchObject({ fill: 'refused', refusal: expect.stringMatching(/^fatal: ./) as string })
    await setting.mine()
  })

  test("each process quotes the nodes' reason for refusing a call, even after the no-op is final", async () => {
    const one = request('refused by every node')
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const pending = await signedAndSent(agent, { ...one, first: { ...one.first, gasLimit: '20999' } })
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    expect(pending.refusedCall).toBeUndefined()
    const late = await setting.agent(setting.signer, { bumpAfterBlocks: 1_000 })
    const adopted = await late.find(one)
    if (adopted.kind !== 'acquired') throw new Error(adopted.detail)
    await adopted.pending.signAndSend()
    await setting.mineUntil(() => agent.load.pending + late.load.pending === 0, 'the no-op to be final')
    for (const process of [agent, late]) {
      const found = await process.find(one)
      if (found.kind !== 'acquired') throw new Error(found.detail)
      const { state, refusedCall } = found.pending
      expect(state).toEqual({ kind: 'spent', by: 'noop' })
      expect(refusedCall?.reason).toMatch(/^every node refused the call: fatal: ./)
      expect(refusedCall?.receipt.status).toBe('success')
    }
  })

  test('if too few nodes refuse a call, it does not count as refused, and its process quotes the nodes', async () => {
    const one = request('refused by a lone node')
    const send = setting.chain.send.bind(setting.chain)
    const lone = vi.spyOn(setting.chain, 'send').mockImplementation(async (...of) => {
      const { mostAnswered: _, ...outcome } = { mostAnswered: undefined, ...(await send(...of)) }
      return outcome
    })
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const pending = await signedAndSent(agent, { ...one, first: { ...one.first, gasLimit: '20999' } })
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    expect(pending.refusedByFew).toBeUndefined()
    await setting.mineUntil(() => agent.load.pending === 0, 'the no-op to be final')
    lone.mockRestore()
    expect([pending.state, pending.refusedCall]).toEqual([{ kind: 'spent', by: 'noop' }, undefined])
    expect(pending.refusedByFew).toMatch(/^fatal: ./)
  })

  test('a no-op that the chain refuses for its gas limit is made anew with what it needs', async () => {
    const one = request('cancelled where no-ops are dear')
    const agent = await fresh({ bumpAfterBlocks: 1_000, noopGas: '20999' })
    await signedAndSent(agent, { ...one, first: { ...one.first, gasLimit: '20000' } })
    expect(await agent.cancel(one.owner.intentId)).toBe('held')
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    const gas = (await ledger()).entries['0']?.attempts.filter(({ kind }) => kind === 'noop').map(({ gasLimit }) => BigInt(gasLimit)) ?? []
    expect([gas[0], gas.length]).toEqual([20_999n, 2])
    expect(gas[1]).toBeGreaterThanOrEqual(25_200n)
    await setting.mineUntil(() => agent.view?.latest === 1, 'the no-op to be mined')
  })

  /** A signer that, like AWS KMS, uses a random number for each signature. */
  function randomSigner(index: number, address: string): Signer {
    const { privateKey } = devnetAccount(index)
    return verified({ address, sign: async ({ digest }) => signWithRandom(digest, privateKey) })
  }
})
