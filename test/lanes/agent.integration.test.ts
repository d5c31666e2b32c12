import { describe, expect, test } from 'vitest'
import type { Signer } from '../../chains/signing-port.ts'
import { until } from '../../lab/devnet/until.ts'
import { activateSignal, drainSignal, laneStatusQuery, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { acquired, laneOf, signedAndSent, request, useLaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }

const toStranger = { to: `0x${'de'.repeat(20)}`, value: '1', gasLimit: '30000' }

describe('The agent of a lane', () => {
  const setting = useLaneSetting()
  const { fresh, pool, ledger } = setting

  test('an agent refuses to start with a key of another lane', async () => {
    const signer = await setting.key()
    const other = await setting.key()
    const impostor: Signer = { address: other.address, sign: (transaction) => signer.sign(transaction) }
    const agent = await setting.agent(impostor)
    expect(agent.lane).toBe(laneOf(other))
    await expect(setting.agent(signer, { lane: laneOf(other) })).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' })
  })

  test('an agent gives each nonce once, in sequence, and the same again for a call that has one', async () => {
    const agent = await fresh()
    const requests = Array.from({ length: 6 }, (_, index) => request(`many-${index}`))
    const transactions = await Promise.all(requests.map((one) => signedAndSent(agent, one)))
    expect(transactions.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5])
    const again = await Promise.all(requests.map((one) => acquired(agent, one)))
    expect(again).toEqual(transactions)
    await setting.mine()
    const states = await Promise.all(transactions.map((pending) => pending.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)))
    expect(states).toEqual(transactions.map(() => true))
    expect((await ledger()).counts.granted).toBe(6)
  })

  test('with a full window calls wait for a block, first class first', async () => {
    const agent = await fresh({ window: 2 })
    const held = [await signedAndSent(agent, request('held-0')), await signedAndSent(agent, request('held-1'))]
    const order: string[] = []
    const waiting = (name: string, priority: number) =>
      signedAndSent(agent, request(name, { priority })).then((pending) => {
        order.push(name)
        return pending
      })
    const late = [waiting('last', 5), waiting('middle', 3), waiting('first', 1)]
    await until(() => agent.load.waiting === 3, { ...waitLimit, what: 'three to wait for a nonce' })
    expect(await pool()).toHaveLength(2)
    await setting.mineUntil(() => agent.load.waiting === 1, 'two of the three to be let in')
    await until(() => order.length === 2, { ...waitLimit, what: 'the two to be sent' })
    expect(order.toSorted()).toEqual(['first', 'middle'])
    expect(agent.load.waiting).toBe(1)
    await setting.mineUntil(() => agent.load.waiting === 0, 'the third to be let in')
    const nonces = (await Promise.all(late)).map(({ nonce }) => nonce)
    expect(nonces).toEqual([4, expect.any(Number), expect.any(Number)])
    expect([...held, ...(await Promise.all(late))].map(({ nonce }) => nonce).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
    await setting.mine()
  })

  test('a call that waits too long, or is cancelled, gets the reason and takes no nonce', async () => {
    const agent = await fresh({ window: 1 })
    await signedAndSent(agent, request('holder'))
    expect(await agent.acquire(request('hasty'), { timeoutMs: 100 })).toMatchObject({ kind: 'refused', why: 'window' })
    const abort = new AbortController()
    const waiting = agent.acquire(request('cancelled'), { ...waitLimit, signal: abort.signal })
    await until(() => agent.load.waiting === 1, { ...waitLimit, what: 'one to wait for a nonce' })
    abort.abort()
    expect(await waiting).toMatchObject({ kind: 'refused' })
    expect(agent.load.waiting).toBe(0)
    await setting.mineUntil(() => agent.view?.inFlight === 0, 'the window to be free')
    expect(await ledger()).toMatchObject({ next: 1, counts: { granted: 1 } })
  })

  test('a stopping process gets no more nonces, and drives the nonces that it has', async () => {
    const agent = await fresh({ window: 1 })
    const holder = await signedAndSent(agent, request('holder of a process that stops'))
    const waiting = agent.acquire(request('waits'), waitLimit)
    await until(() => agent.load.waiting === 1, { ...waitLimit, what: 'one to wait for a nonce' })
    agent.quiesce()
    const elsewhere = { code: 'LANE_UNREACHABLE', message: expect.stringContaining('this process stops') }
    await expect(waiting).rejects.toMatchObject(elsewhere)
    await expect(agent.acquire(request('too late'), waitLimit)).rejects.toMatchObject(elsewhere)
    await setting.mineUntil(() => holder.state.kind === 'included' && agent.view?.inFlight === 0, 'the nonce that it has to be included')
    expect(agent.load.waiting).toBe(0)
    expect((await ledger()).counts.granted).toBe(1)
  })

  test('an agent finds and drives the nonce of a dead process, past a full window', async () => {
    const dead = await fresh({ window: 1 })
    const one = request('orphan of a crash')
    const pending = await acquired(dead, one)
    dead.stop()
    const heir = await setting.agent(setting.signer, { window: 1 })
    const again = await heir.find(one)
    if (again.kind !== 'acquired') throw new Error(again.detail)
    await again.pending.signAndSend()
    expect(again.pending.nonce).toBe(pending.nonce)
    expect(await heir.find(request('unknown'))).toMatchObject({ kind: 'refused', why: 'none' })
    await setting.mine()
    expect(await again.pending.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
  })

  test('two processes of one lane share its nonces without a gap', async () => {
    const one = await fresh({ window: 16 })
    const two = await setting.agent(setting.signer, { window: 16 })
    const transactions = await Promise.all(
      Array.from({ length: 8 }, (_, index) => signedAndSent(index % 2 === 0 ? one : two, request(`shared-${index}`))),
    )
    expect(transactions.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    const twin = request('driven by both')
    await signedAndSent(one, twin)
    const before = await pool()
    const other = await two.find(twin)
    if (other.kind !== 'acquired') throw new Error(other.detail)
    await other.pending.signAndSend()
    expect(await pool()).toEqual(before)
    await setting.mine()
    for (const pending of [...transactions, other.pending])
      expect(await pending.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
  })

  test('a paused lane refuses at once, also calls that wait; resumed, it gives the next one a nonce', async () => {
    const agent = await fresh({ window: 1 })
    const handle = setting.ledgers.temporal.client.workflow.getHandle(laneWorkflowId(laneOf(setting.signer)))
    await signedAndSent(agent, request('holder'))
    const waiting = agent.acquire(request('waits'), waitLimit)
    await until(() => agent.load.waiting === 1, { ...waitLimit, what: 'one to wait for a nonce' })
    await handle.signal(pauseSignal, { order: { by: 'night-shift', reason: 'a test' } })
    // The agent learns of the pause from the answer to its next report, at the next block.
    await setting.passBlock()
    expect(await waiting).toEqual({ kind: 'refused', why: 'paused', detail: 'a test' })
    expect(await agent.acquire(request('too early'), waitLimit)).toEqual({ kind: 'refused', why: 'paused', detail: 'a test' })
    await setting.mine()
    await handle.signal(drainSignal, { order: { by: 'night-shift', reason: 'a test' } })
    await handle.signal(resumeSignal)
    expect(await agent.acquire(request('drained'), waitLimit)).toMatchObject({ kind: 'refused', why: 'draining' })
    const operatorTransaction = await signedAndSent(agent, request('operatorTransaction', { operatorTransaction: true }))
    await handle.signal(activateSignal)
    // Mine until the agent has read the last block. A call that asked earlier would wait for a block that never comes.
    await setting.mineUntil(() => agent.view?.inFlight === 0, 'the operator transaction to be in a block')
    expect([operatorTransaction.nonce, (await signedAndSent(agent, request('after'))).nonce]).toEqual([1, 2])
    await setting.mine()
    expect((await handle.query(laneStatusQuery)).orders).toMatchObject([
      { kind: 'pause', by: 'night-shift', reason: 'a test' },
      { kind: 'drain', by: 'night-shift', reason: 'a test' },
      { kind: 'resume', by: 'unnamed', reason: 'signal without a name' },
      { kind: 'activate', by: 'unnamed', reason: 'signal without a name' },
    ])
  })

  test('an account without funds for the worst case refuses at once; with funds, it works again by itself', async () => {
    const { address } = await setting.key()
    await setting.anvil.rpc('anvil_setBalance', [address, '0x1'])
    const agent = await setting.agent(setting.signer)
    expect(await agent.acquire(request('poor'), waitLimit)).toMatchObject({ kind: 'refused', why: 'funds' })
    expect(agent.view?.closed?.why).toBe('funds')
    await setting.anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
    await setting.mineUntil(() => agent.view?.closed === undefined, 'the lane to hear of its funds')
    expect((await signedAndSent(agent, request('rich'))).nonce).toBe(0)
    await setting.mine()
  })

  test('a lane below its minimum balance takes no new work but operator transactions', async () => {
    const agent = await fresh({ minimumBalance: String(10n ** 18n) })
    const held = await signedAndSent(agent, request('held'))
    await setting.anvil.rpc('anvil_setBalance', [setting.signer.address, '0x6f05b59d3b20000'])
    await setting.mine()
    expect(await held.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
    await setting.mineUntil(() => agent.view?.closed?.why === 'funds', 'the lane to be broke')
    expect(await agent.acquire(request('next'), waitLimit)).toMatchObject({ kind: 'refused', why: 'funds' })
    expect((await signedAndSent(agent, request('to the treasury', { operatorTransaction: true }))).nonce).toBe(1)
    await setting.mine()
  })

  test("a starting process sends its config; an operator's window stays until the config changes", async () => {
    const agent = await fresh({ window: 3 })
    await setting.ledgers.order(laneOf(setting.signer), { kind: 'setWindow', id: 'o', window: 2 })
    agent.stop()
    const same = await setting.agent(setting.signer, { window: 3, fillAfterBlocks: 7 })
    expect((await ledger()).config).toMatchObject({ window: 2, fillAfterBlocks: 7 })
    same.stop()
    await setting.agent(setting.signer, { window: 5 })
    expect((await ledger()).config).toMatchObject({ window: 5 })
  })

  test("an operator's raise reaches the driving process, and a cancel replaces the call by a no-op", async () => {
    const agent = await fresh({ fillAfterBlocks: 20, bumpAfterBlocks: 1_000 })
    const one = await signedAndSent(agent, request('raised'))
    await signedAndSent(agent, request('cancelled'))
    await setting.ledgers.order(laneOf(setting.signer), { kind: 'replace', id: 'o', nonce: 0, maxFee: '30000000000' })
    await setting.ledgers.order(laneOf(setting.signer), { kind: 'cancelNonce', id: 'o', nonce: 1 })
    const replaced = async () => {
      await setting.passBlock()
      const [raise, noop] = await pool()
      return raise?.maxFeePerGas === 30_000_000_000n && noop?.to === setting.signer.address
    }
    await until(replaced, { ...waitLimit, what: 'the raise and the no-op' })
    expect((await pool()).map(({ nonce }) => nonce)).toEqual([0, 1])
    expect(one.attempts).toBe(2)
    await setting.mineUntil(async () => (await ledger()).observed?.latest === 2, 'both to be mined')
    expect(Object.values((await ledger()).entries).some((entry) => entry.raise)).toBe(false)
  })

  test("an operator's order to republish sends the same bytes again, before any block", async () => {
    const agent = await fresh()
    await signedAndSent(agent, request('lost'))
    const [sent] = await pool()
    await setting.anvil.rpc('anvil_dropTransaction', [sent?.hash])
    expect(await pool()).toEqual([])
    await setting.ledgers.order(laneOf(setting.signer), { kind: 'republish', id: 'o' })
    // The ledger's next answer carries the order, whatever the request is.
    await agent.cancel('of nobody')
    await until(async () => (await pool()).length > 0, { ...waitLimit, what: 'the transaction to be in the pool again' })
    expect(await pool()).toEqual([sent])
    await setting.mineUntil(async () => (await ledger()).observed?.latest === 1, 'it to be mined')
  })

  test('if the key is used outside Portage among pending nonces, a log line says so, and no gap remains', async () => {
    const agent = await fresh()
    const dear = { maxFee: '90000000000', tip: '90000000000' }
    expect(await setting.sendOutside({ nonce: 0, ...dear })).toMatchObject({ kind: 'accepted' })
    await setting.mine()
    await setting.mineUntil(() => agent.external === 1, 'the first external nonce')
    expect(await ledger()).toMatchObject({ counts: { external: 1 }, externalAt: expect.any(Number) })
    const transactions = [
      await signedAndSent(agent, request('below')),
      await signedAndSent(agent, request('usurped')),
      await signedAndSent(agent, request('above')),
    ]
    expect(transactions.map(({ nonce }) => nonce)).toEqual([1, 2, 3])
    expect(await setting.sendOutside({ nonce: 2, ...dear })).toMatchObject({ kind: 'accepted' })
    await setting.mine()
    await setting.mineUntil(() => transactions.every(({ state }) => state.kind !== 'pending'), 'three fates')
    expect(transactions.map(({ state }) => state.kind)).toEqual(['included', 'spent', 'included'])
    expect(transactions[1]?.state).toEqual({ kind: 'spent', by: 'external' })
    expect((await signedAndSent(agent, request('next'))).nonce).toBe(4)
    await setting.mine()
    await setting.mineUntil(() => agent.external === 2, 'the second to be counted')
  })

  test('the lowest stuck nonce of an earlier ledger is outbid, the rest follow, the lane goes on above', async () => {
    await setting.key()
    for (const nonce of [0, 1, 2]) await setting.sendOutside({ ...toStranger, nonce, maxFee: '3000000000', tip: '1' })
    const agent = await setting.agent(setting.signer, { fillAfterBlocks: 3, bumpAfterBlocks: 1 })
    const filled = async () => {
      await setting.passBlock()
      return (await pool())[0]?.to === setting.signer.address
    }
    await until(filled, { ...waitLimit, what: 'a no-op in the place of the lowest' })
    await setting.mineUntil(() => agent.view?.latest === 3, 'all three to be mined')
    expect((await signedAndSent(agent, request('above'))).nonce).toBe(3)
    await setting.mine()
  })

  test('a transaction of an earlier ledger at fifty times the market is outbid too', async () => {
    await setting.key()
    const { maxFee, tip } = await setting.chain.quote()
    const dear = { maxFee: String(BigInt(maxFee) * 50n), tip: String(BigInt(tip) * 50n) }
    await setting.sendOutside({ ...toStranger, nonce: 0, ...dear })
    const agent = await setting.agent(setting.signer, { fillAfterBlocks: 2, bumpAfterBlocks: 1 })
    for (let blocks = 0; (await pool())[0]?.to !== setting.signer.address; blocks++) {
      if (blocks > 200) throw new Error(`200 blocks passed; the ledger says ${JSON.stringify((await ledger()).entries)}`)
      const offers = () => ledger().then(({ entries }) => entries[0]?.attempts.length ?? 0)
      const before = await offers()
      await setting.passBlock()
      await until(async () => (await offers()) > before, { timeoutMs: 500, what: 'another offer' }).catch(() => {})
    }
    // Fees rise by a fifth per block, so fifty times the market price needs 22 raises.
    expect((await ledger()).entries[0]?.attempts.length).toBeLessThanOrEqual(60)
    await setting.mineUntil(() => agent.view?.latest === 1, 'the no-op to be mined')
    expect((await signedAndSent(agent, request('behind the dear one'))).nonce).toBe(1)
    await setting.mine()
  })

  test('transactions of an earlier ledger in the pool come first; nothing is granted before they are mined', async () => {
    await setting.key()
    await setting.sendOutside({ nonce: 0, maxFee: '9000000000' })
    const agent = await setting.agent(setting.signer)
    expect(await ledger()).toMatchObject({ next: 1, entries: { 0: { fill: 'inherited' } } })
    const abort = new AbortController()
    const early = agent.acquire(request('too early'), { ...waitLimit, signal: abort.signal })
    await until(() => agent.load.waiting === 1, { ...waitLimit, what: 'the refusal of the ledger' })
    abort.abort()
    expect(await early).toMatchObject({ kind: 'refused', why: 'unsynced' })
    const behind = request('behind it')
    const waiting = signedAndSent(agent, behind)
    await setting.mineUntil(() => agent.pendingOf(behind.owner.intentId) !== undefined, 'it to be mined')
    expect((await waiting).nonce).toBe(1)
  })
})
