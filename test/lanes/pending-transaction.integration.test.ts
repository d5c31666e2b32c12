import { describe, expect, test } from 'vitest'
import type { Signer } from '../../chains/signing-port.ts'
import { until } from '../../lab/devnet/until.ts'
import { acquired, becomes, laneOf, signedAndSent, request, useLaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }

describe('A pending transaction', () => {
  const setting = useLaneSetting()
  const { fresh, pool, ledger } = setting

  test('a transaction is included by the next block and final two later; the ledger then forgets it', async () => {
    const agent = await fresh()
    const pending = await signedAndSent(agent, request('happy'))
    expect(pending.state).toMatchObject({ kind: 'pending' })
    expect(await pool()).toMatchObject([{ nonce: 0 }])
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({
      noop: false,
      final: false,
      receipt: { status: 'success' },
    })
    await setting.mine(3)
    expect(await becomes(pending, (state) => state.kind === 'included' && state.final)).toMatchObject({
      receipt: { from: setting.signer.address },
    })
    await setting.mineUntil(async () => (await ledger()).entries['0'] === undefined, 'the entry to end')
    expect(await ledger()).toMatchObject({ next: 1, counts: { granted: 1, attempts: 0, external: 0 } })
    await setting.mineUntil(() => agent.load.pending === 0, 'the pending to be over')
    expect(agent.load).toEqual({ waiting: 0, pending: 0 })
  })

  test('the lowest nonce is raised after some blocks, by a fifth at least; those behind it wait', async () => {
    const agent = await fresh({ bumpAfterBlocks: 4 })
    const lowest = await signedAndSent(agent, request('lowest'))
    const next = await signedAndSent(agent, request('next'))
    const [before] = await pool()
    const blocks = await setting.passUntil('a raise', () => lowest.attempts > 1)
    expect(blocks).toBeGreaterThanOrEqual(4)
    expect(next.attempts).toBe(1)
    await until(async () => (await pool())[0]?.hash !== before?.hash, { ...waitLimit, what: 'the replacement in the pool' })
    const [after, behind] = await pool()
    expect(after?.nonce).toBe(before?.nonce)
    expect(after!.maxFeePerGas * 5n).toBeGreaterThanOrEqual(before!.maxFeePerGas * 6n)
    expect(behind?.maxFeePerGas).toBe(before?.maxFeePerGas)
    // The ledger's entry suffices to make the same bytes again.
    const entry = (await ledger()).entries['0']
    expect(entry?.attempts.map(({ kind, maxFee }) => [kind, maxFee])).toEqual([
      ['call', String(before!.maxFeePerGas)],
      ['call', String(after!.maxFeePerGas)],
    ])
    await setting.mine()
    expect(await becomes(lowest, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { hash: after!.hash } })
    expect(await becomes(next, ({ kind }) => kind === 'included')).toMatchObject({ receipt: { hash: behind!.hash } })
  })

  test('an earlier attempt that is mined after all is recognised', async () => {
    const agent = await fresh()
    const pending = await signedAndSent(agent, request('twice'))
    const [first] = await pool()
    const raw = await setting.anvil.rpc<string>('eth_getRawTransactionByHash', [first!.hash])
    await pending.bump()
    const [second] = await pool()
    expect(second?.hash).not.toBe(first?.hash)
    // A block builder may choose the first transaction, as here, where the pool loses the second.
    await setting.anvil.rpc('anvil_dropTransaction', [second!.hash])
    await setting.anvil.rpc('eth_sendRawTransaction', [raw])
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({ noop: false, receipt: { hash: first!.hash } })
  })

  test('a pending transaction sends the same bytes again after a pool has forgotten them', async () => {
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const pending = await signedAndSent(agent, request('evicted'))
    const [before] = await pool()
    await setting.anvil.rpc('anvil_dropTransaction', [before!.hash])
    expect(await pool()).toEqual([])
    await setting.passUntil('the transaction in the pool', async () => (await pool()).length === 1)
    expect(await pool()).toEqual([before])
    expect(pending.attempts).toBe(1)
    await setting.mine()
    await becomes(pending, ({ kind }) => kind === 'included')
  })

  test('a transaction that falls out of its block in a reorganisation is mined again', async () => {
    // The test waits for the same bytes, so no fee may be raised.
    const agent = await fresh({ bumpAfterBlocks: 1_000 })
    const pending = await signedAndSent(agent, request('reorganised'))
    await setting.mine()
    const first = await becomes(pending, ({ kind }) => kind === 'included')
    await setting.anvil.rpc('anvil_reorg', [1, []])
    await setting.passBlock()
    await becomes(pending, ({ kind }) => kind === 'pending')
    await setting.passUntil('the transaction in the pool', async () => (await pool()).length === 1)
    await setting.mine()
    const second = await becomes(pending, ({ kind }) => kind === 'included')
    if (first.kind !== 'included' || second.kind !== 'included') throw new Error('not included')
    expect(second.receipt.hash).toBe(first.receipt.hash)
    const [{ at = 0, acceptedAt = 0, reorgedAt = 0, includedAt = 0 } = {}] = pending.tried
    const times = [1, at, acceptedAt, reorgedAt, includedAt]
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(second.receipt.block.hash).not.toBe(first.receipt.block.hash)
  })

  test('a process that takes over raises the fee once both processes together have waited long enough', async () => {
    const options = { bumpAfterBlocks: 12, fillAfterBlocks: 20 }
    const before = await fresh(options)
    const one = request('taken over')
    await signedAndSent(before, one)
    const waited = async () => {
      const { entries, observed } = await ledger()
      return (entries['0']?.claimedBlock ?? 0) - (observed?.lowestSince ?? 0) >= 9
    }
    await setting.passUntil('the first process to have waited', waited)
    before.stop()
    const after = await setting.agent(setting.signer, options)
    const again = await after.find(one)
    if (again.kind !== 'acquired') throw new Error(again.detail)
    await again.pending.signAndSend()
    expect(again.pending.attempts).toBe(1)
    expect(await setting.passUntil('a raise', () => again.pending.attempts > 1)).toBeLessThan(8)
    await setting.mine()
    await becomes(again.pending, ({ kind }) => kind === 'included')
  })

  test('a nonce is spent by an external transaction of the same key, once that is final', async () => {
    const agent = await fresh()
    const pending = await signedAndSent(agent, request('robbed'))
    const dear = { maxFee: '90000000000', tip: '20000000000' }
    expect(await setting.sendOutside({ nonce: pending.nonce, ...dear })).toEqual({ kind: 'accepted' })
    await setting.mine()
    // The block with the stranger's transaction is not final yet, so the nonce stays pending.
    expect(pending.state.kind).toBe('pending')
    await setting.mineUntil(() => pending.state.kind !== 'pending', 'a verdict')
    expect(pending.state).toEqual({ kind: 'spent', by: 'external' })
    expect((await signedAndSent(agent, request('after the robbery'))).nonce).toBe(1)
  })

  test('a nonce above ours that was used externally is counted and passed over', async () => {
    const agent = await fresh()
    await setting.sendOutside({ nonce: 0, maxFee: '90000000000' })
    await setting.mine()
    // An idle lane reads its account only at every tenth block.
    await setting.passUntil('the ledger to know', () => agent.view!.next === 1)
    expect((await acquired(agent, request('next'))).nonce).toBe(1)
    expect((await ledger()).counts.external).toBe(1)
  })

  test('a cancelled call is replaced by a no-op that outbids it, also while its fee is being raised', async () => {
    const agent = await fresh({ bumpAfterBlocks: 1 })
    const one = request('cancelled')
    const pending = await signedAndSent(agent, one)
    await setting.passUntil('a raise', () => pending.attempts > 1)
    const line = setting.ledgers.client({ lane: laneOf(setting.signer), window: 8, fillAfterBlocks: 20 })
    expect(await line.ask({ kind: 'withdraw', intentId: one.owner.intentId, how: 'cancel' })).toEqual({ kind: 'held', nonce: 0 })
    await setting.passUntil('the no-op in the pool', async () => (await pool())[0]?.to === setting.signer.address)
    const { attempts } = (await ledger()).entries['0']!
    const calls = attempts.filter(({ kind }) => kind === 'call')
    const noop = attempts.find(({ kind }) => kind === 'noop')
    expect(calls.every(({ maxFee }) => BigInt(noop!.maxFee) * 5n >= BigInt(maxFee) * 6n)).toBe(true)
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({ noop: true })
    await setting.mine(3)
    expect(await becomes(pending, ({ kind }) => kind === 'spent')).toEqual({ kind: 'spent', by: 'noop' })
    // Even after this process has dropped the nonce, a late step of the cancelled try must get no nonce.
    await setting.mineUntil(() => agent.load.pending === 0, 'the pending to be over')
    expect(await agent.acquire(one, { timeoutMs: 60_000 })).toMatchObject({ kind: 'refused', why: 'withdrawn' })
  })

  test('an orphan, which no process drives, ends with a no-op of any process of the lane', async () => {
    const dead = await fresh({ fillAfterBlocks: 4 })
    const orphan = await acquired(dead, request('orphan'))
    dead.stop()
    const heir = await setting.agent(setting.signer, { fillAfterBlocks: 4 })
    await setting.passUntil('the no-op in the pool', async () => (await pool()).length === 1)
    expect(await pool()).toMatchObject([{ nonce: orphan.nonce, to: setting.signer.address }])
    await setting.mine()
    expect(await ledger()).toMatchObject({ entries: { 0: { fill: 'orphaned', owner: { intentId: 'orphan/1' } } } })
    expect((await signedAndSent(heir, request('heir'))).nonce).toBe(1)
  })

  test('a transaction gives its nonce back if the key cannot sign, and the next call gets it', async () => {
    const key = await setting.key()
    let locked = true
    // A signer like a KMS that cannot be reached for a while.
    const lockable: Signer = {
      address: key.address,
      sign: (transaction) => (locked ? Promise.reject(new Error('the key is out of reach')) : key.sign(transaction)),
    }
    setting.signer = lockable
    const agent = await setting.agent(lockable)
    const pending = await acquired(agent, request('unsigned'))
    await expect(pending.signAndSend()).rejects.toThrow('out of reach')
    await agent.release(pending)
    expect(await ledger()).toMatchObject({ next: 0, entries: {}, counts: { released: 1 } })
    locked = false
    const next = await signedAndSent(agent, request('signed'))
    expect(next.nonce).toBe(pending.nonce)
    // The transaction is signed and may have been sent, so a release must not free its nonce.
    await agent.release(next)
    expect(await ledger()).toMatchObject({ next: 1, entries: { 0: { owner: { intentId: 'signed/1' } } } })
    await setting.mine()
    await becomes(next, ({ kind }) => kind === 'included')
  })
})
