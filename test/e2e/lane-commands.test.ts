import { toQuantity, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { roundOf, workflowOf, type LaneState } from '../../domain/lane/lane.ts'
import { runCli } from '../cli/run-cli.ts'
import { sendCoins } from '../faults/processes.ts'
import { stuckInPool } from '../faults/stuck.ts'
import { inPool, mine, nonceOf, pooled } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Stage, ledgerId, startStage } from '../helpers/e2e.ts'

describe('Orders to a lane', () => {
  let stage: Stage
  let portage: PortageProcess
  let address: string

  const lane = async (order: string, ...args: string[]) => {
    const why = args.includes('--reason') ? [] : ['--reason', 'a test']
    const argv = ['lane', order, address, ...args, ...why, '--chain', 'bsc', '--json', '--config', portage.configPath]
    const { code, out } = await runCli(argv, { env: { ...process.env, ...stage.devnet.env } })
    return { code, answer: JSON.parse(out) as Record<string, unknown> }
  }
  const ledger = (what: string, holds: (state: LaneState) => boolean) =>
    until(async () => holds(await stage.lane('bsc')), { timeoutMs: 90_000, everyMs: 100, what })

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200 })
    address = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address ?? ''
    portage = await stage.portage()
    await stage.outcomes(await sendCoins(stage, 1))
  })
  afterAll(() => stage?.close())

  test('replace raises a fee, cancel-nonce mines a no-op in place of a call; both transfers are delivered', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const { next } = await stage.lane('bsc')
    const pool = await stuckInPool(anvil)
    const sent = await sendCoins(stage, 2)
    const waiting = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'pending'])) === next + 2
    await until(waiting, { timeoutMs: 60_000, everyMs: 100, what: 'both calls to be in the pool' })
    const { entries: given } = await stage.lane('bsc')
    const [toRaise, toCancel] = [next, next + 1].map((nonce) => given[nonce]?.owner?.intentId ?? '')

    expect(await lane('replace', String(next), '--reason', 'a test', '--max-fee', '90gwei', '--tip', '3 gwei')).toMatchObject({
      code: 0,
    })
    expect(await lane('cancel-nonce', String(next + 1), '--reason', 'a test')).toMatchObject({ code: 0 })
    const obeyed = async () => {
      await pool.passBlock()
      const { entries } = await stage.lane('bsc')
      const [raised, cancelled] = [entries[next]?.attempts, entries[next + 1]?.attempts]
      const recorded = raised?.some(({ maxFee }) => maxFee === '90000000000') && cancelled?.at(-1)?.kind === 'noop'
      // The raised transaction must be in the pool, because a block would otherwise include the cheaper transaction.
      // The no-op may be missing: anvil drops the no-op in a block without room for the preceding nonce, and the lane
      // sends the no-op again.
      const inPoolNow = await pooled(anvil, address)
      const raiseSent = inPoolNow.some(({ nonce, maxFeePerGas }) => nonce === next && maxFeePerGas === 90_000_000_000n)
      const callGone = !inPoolNow.some(({ nonce, to }) => nonce === next + 1 && to !== address)
      if (recorded && raiseSent && callGone) return true
      throw new Error(
        JSON.stringify({ raised, cancelled, inPoolNow }, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      )
    }
    try {
      // Each call of `obeyed` mines a block. With more than two blocks a second, fees would rise faster than a busy
      // machine signs.
      await until(obeyed, { timeoutMs: 90_000, everyMs: 500, what: 'both orders to be obeyed' })
    } finally {
      await pool.end()
    }

    const ends = await stage.outcomes(sent, 90_000)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    const endOf = (intentId = '') => ends.find(({ id }) => id === workflowOf(intentId))
    const transactionOf = async (intentId?: string) =>
      anvil.rpc<{ nonce: string; maxFeePerGas: string }>('eth_getTransactionByHash', [endOf(intentId)?.delivery?.txHash])
    // Read the nonces from the chain, because the last round of a transfer that the ledger has forgotten has no nonce.
    expect(await transactionOf(toRaise)).toMatchObject({ nonce: toQuantity(next), maxFeePerGas: toQuantity(90_000_000_000) })
    expect(Number((await transactionOf(toCancel)).nonce)).toBeGreaterThan(next + 1)
    expect(endOf(toCancel)?.rounds).toBeGreaterThan(roundOf(toCancel ?? ''))
    expect(await expectDelivered(stage)).toMatchObject({ nonceHoles: 0, wastedTransactions: 1, revertedTransactions: 0 })
  })

  test('drain lets in no new work, and activate does; set-window and resync change no nonce', async () => {
    expect(await lane('drain', '--reason', 'a test')).toMatchObject({ code: 0 })
    await ledger('the lane to drain', ({ closing }) => closing?.mode === 'draining')
    const [one] = await sendCoins(stage, 1)
    expect(await stage.reaches(one?.id ?? '', 'waiting')).toMatchObject({ reason: expect.stringContaining('draining: a test') })
    const before = (await stage.lane('bsc')).next
    expect(await lane('set-window', '5', '--reason', 'a test')).toMatchObject({ code: 0 })
    expect(await lane('resync', '--reason', 'a test')).toMatchObject({ code: 0 })
    expect(await lane('activate', '--reason', 'a test')).toMatchObject({ code: 0 })
    await stage.outcomes([one?.id ?? ''], 90_000)
    // After `resync`, the lane read its account again, and then granted the nonce of this transfer.
    const state = await stage.lane('bsc')
    expect(state).toMatchObject({ next: before + 1, synced: true, config: { window: 5 } })
    const order = { by: 'night-shift', reason: 'a test' }
    expect(state.orders).toMatchObject([
      { ...order, kind: 'replace', facts: { maxFee: '90000000000', tip: '3000000000' } },
      { ...order, kind: 'cancelNonce' },
      { ...order, kind: 'drain' },
      { ...order, kind: 'setWindow', facts: { window: 5 } },
      { ...order, kind: 'resync' },
      { ...order, kind: 'activate' },
    ])
    const shown = await runCli(['lane', 'show', address, '--chain', 'bsc', '--config', portage.configPath], { env: process.env })
    expect(shown.out).toMatch(/^\S+ +setWindow window 5 +night-shift +a test$/m)
    expect(shown.out).toMatch(/^\S+ +replace nonce \d+ maxFee 90 gwei tip 3 +night-shift +a test\n +gwei$/m)
    expect(shown.out).toMatch(/^balance +[0-9.]+ BNB$/m)
    const listed = await runCli(['lane', 'list', '--config', portage.configPath], { env: process.env })
    expect(Math.max(...listed.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    const short = `${address.slice(0, 6)}…${address.slice(-4)}`
    expect(listed.out).toContain(short)
    const again = await runCli(['lane', 'show', short, '--chain', 'bsc', '--json', '--config', portage.configPath], { env: process.env })
    expect(again.json()).toMatchObject({ config: { lane: expect.stringContaining(address) } })
  })

  test('a forbidden lane lets in no new work', async () => {
    expect(await lane('forbid', '--reason', 'a test')).toMatchObject({ code: 0 })
    await ledger('the lane to be forbidden', ({ closing }) => closing?.mode === 'forbidden')
    const [one] = await sendCoins(stage, 1)
    expect(await stage.reaches(one?.id ?? '', 'waiting')).toMatchObject({ reason: expect.stringContaining('forbidden: a test') })
    expect(await lane('activate', '--reason', 'a test')).toMatchObject({ code: 0 })
    expect(await stage.outcomes([one?.id ?? ''], 90_000)).toMatchObject([{ state: 'delivered' }])
  })

  test('impossible lane orders are refused with a reason: a mined nonce, a reset of a live chain', async () => {
    const orders = [
      ['fill', '0'],
      ['cancel-nonce', '0'],
      ['replace', '0'],
      ['reset', '--chain-replaced'],
    ]
    for (const [order = '', argument = ''] of orders) {
      const { code, answer } = await lane(order, argument, '--reason', 'a test')
      expect({ order, code, answer }).toEqual({
        order,
        code: 1,
        answer: {
          error: expect.objectContaining({ code: expect.any(String), message: expect.stringMatching(/nonce 0|was not replaced/) }),
        },
      })
    }
    expect((await stage.lane('bsc')).replaced).toBeUndefined()
  })

  test('fill mines a no-op in place of what an earlier ledger has left in the pool', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const { privateKey } = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!
    await stage.end(portage)
    await stage.temporal('workflow', 'terminate', '--workflow-id', ledgerId(stage.devnet, 'bsc'), '--reason', 'a test')
    const pool = await stuckInPool(anvil)
    // After 200 blocks the base fee is near zero, so the pool takes a call that offers 500 wei.
    await mine(anvil, 200)
    const nonce = await nonceOf(anvil, address)
    const fees = { type: 2, maxFeePerGas: 500n, maxPriorityFeePerGas: 5n }
    const call = { ...fees, chainId: anvil.chainId, nonce, to: stage.devnet.outsiders.bsc.address, gasLimit: 50_000n }
    await anvil.rpc('eth_sendRawTransaction', [await new Wallet(privateKey).signTransaction(call)])
    const [left] = await inPool(anvil, address, 1)

    portage = await stage.portage()
    await ledger('the nonce to be inherited', ({ entries }) => entries[nonce]?.fill === 'inherited')
    expect(await lane('fill', String(nonce), '--reason', 'a test')).toMatchObject({ code: 0 })
    // The block has room for the no-op, but not for the abandoned call.
    const filled = async () => {
      await pool.passBlock()
      return (await nonceOf(anvil, address)) > nonce
    }
    await until(filled, { timeoutMs: 60_000, everyMs: 200, what: 'the no-op to be in a block' })
    expect(await anvil.rpc('eth_getTransactionReceipt', [left!.hash])).toBeNull()
    await pool.end()
    expect(await stage.outcomes(await sendCoins(stage, 1))).toMatchObject([{ state: 'delivered', nonce: nonce + 1, rounds: 1 }])
    expect((await stage.lane('bsc')).counts.filled).toBe(1)
    expect(await expectDelivered(stage)).toMatchObject({ nonceHoles: 0, revertedTransactions: 0 })
  })
})
