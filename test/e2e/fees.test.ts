import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { expediteSignal } from '../../temporal/contracts/transfer.ts'
import { runCli } from '../cli/run-cli.ts'
import { inPool, mine, mineDear, mineDearUntil, nonceOf, pooled, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

let stage: Stage
let portage: PortageProcess
let lane: string
const anvil = () => stage.devnet.chains.bsc.anvil

beforeAll(async () => {
  stage = await startStage({ consistencyLevel: 200 })
  lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
  portage = await stage.portage()
  await stage.outcomes(await stage.send('ethereum', [coin]))
})
afterEach(() => startMining(anvil()))
afterAll(() => stage?.close())

describe('Stuck transactions', { timeout: 300_000 }, () => {
  test('the fee is raised at the same nonce until the block takes it; those behind it follow', async () => {
    const used = await nonceOf(anvil(), lane)
    await stopMining(anvil())
    const sent = await stage.send('ethereum', [coin, coin, coin])
    const first = await inPool(anvil(), lane, 3)
    const dear = 10n * first.map(({ maxFeePerGas }) => maxFeePerGas).reduce((a, b) => (a > b ? a : b))
    await mineDearUntil(anvil(), dear, lane, first.at(-1)!.nonce + 1)
    await startMining(anvil())
    await mine(anvil(), 2)
    const ends = await stage.outcomes(sent)
    expect(ends.map(({ state, rounds }) => [state, rounds])).toEqual(sent.map(() => ['delivered', 1]))
    const { lanes, findings, revertedTransactions } = await expectDelivered(stage)
    expect(revertedTransactions).toBe(0)
    // Each raised transaction replaced the first one at its nonce, so the lane used only three nonces.
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(used + 3)
    const landed = findings.slice(-3).flatMap(({ txHashes }) => txHashes)
    expect(first.filter(({ hash }) => landed.includes(hash))).toEqual([])
  })

  test('the result of a transfer says how many attempts it took', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [first] = await inPool(anvil(), lane, 1)
    await mineDearUntil(anvil(), first!.maxFeePerGas * 2n, lane, first!.nonce + 1)
    await startMining(anvil())
    await mine(anvil(), 3)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', nonce: first!.nonce, rounds: 1 })
    expect(end?.attempts).toBeGreaterThan(1)
    expect(end?.txHash).not.toBe(first!.hash)
    await expectDelivered(stage)
  })

  test('expedite raises the fee at once: in the ledger, in the pool, and in the block', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [first] = await inPool(anvil(), lane, 1)
    await stage.client.workflow.getHandle(sent.id).signal(expediteSignal)
    const replaced = async () => {
      const [call] = await pooled(anvil(), lane)
      return call && call.hash !== first!.hash && call
    }
    const raised = await until(replaced, { timeoutMs: 60_000, everyMs: 100, what: 'a dearer call to be in the pool' })
    expect(raised.nonce).toBe(first!.nonce)
    expect(raised.maxFeePerGas).toBeGreaterThanOrEqual((first!.maxFeePerGas * 12n) / 10n)
    const { attempts = [] } = (await stage.lane('bsc')).entries[first!.nonce] ?? {}
    expect(attempts.map(({ kind, maxFee }) => [kind, BigInt(maxFee)])).toEqual([
      ['call', first!.maxFeePerGas],
      ['call', raised.maxFeePerGas],
    ])
    await startMining(anvil())
    await mine(anvil(), 3)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', nonce: first!.nonce, txHash: raised.hash, attempts: 2, rounds: 1 })
    await expectDelivered(stage)
  })
})

describe('Fee limits', () => {
  const metric = async (line: RegExp) => Number(line.exec(await (await fetch(`${portage.apiUrl}/metrics`)).text())?.[1])
  const settingsVersion = () => metric(/^portage_settings_version(?:\{\})? (\d+)$/m)
  const limit = async (policy: Record<string, string>) => {
    const orders = [{ kind: 'setFees', scope: { kind: 'chain', chain: 'bsc' }, policy }]
    const body = JSON.stringify({ reason: 'an exercise', orders })
    const answer = await fetch(`${portage.apiUrl}/v1/settings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...portage.admin },
      body,
    })
    expect(answer.status).toBe(200)
    const { version } = (await answer.json()) as { version: number }
    await until(async () => (await settingsVersion()) === version, { timeoutMs: 60_000, what: 'the limit to hold' })
  }
  const granted = async () => (await stage.lane('bsc')).counts.granted

  test('a transfer above the fee ceiling waits without a nonce and continues when the base fee has fallen', async () => {
    const ceiling = 50n * 10n ** 9n
    await limit({ baseFeeCeiling: String(ceiling) })
    const before = await granted()
    // An empty block lowers the base fee by an eighth, so no block may be mined before the transfer waits.
    await stopMining(anvil())
    await mineDear(anvil(), ceiling * 4n)
    const height = Number(await anvil().rpc<string>('eth_blockNumber'))
    const seen = async () => (await metric(/^portage_head_height\{chain="bsc"\} (\d+)$/m)) >= height
    await until(seen, { timeoutMs: 60_000, what: 'the process to see the dear block' })
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const waiting = await stage.reaches(sent.id, 'waiting')
    expect(waiting).toMatchObject({ code: 'FEE_CEILING' })
    expect(waiting.nonce).toBeUndefined()
    expect(await granted()).toBe(before)
    await startMining(anvil())
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(end?.tried).toMatchObject([{ kind: 'call', hash: end?.txHash, fate: 'mined' }])
    await expectDelivered(stage)
  })

  test('a transfer with more gas than allowed is parked; once allowed and retried, it is delivered', async () => {
    await limit({ gasLimit: '30000' })
    const before = await granted()
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    expect(await stage.reaches(sent.id, 'parked')).toMatchObject({ code: 'GAS_LIMIT' })
    expect(await granted()).toBe(before)
    await limit({ maxFeePerGas: String(300n * 10n ** 9n) })
    const { code } = await runCli(['transfer', 'retry', sent.id, '--reason', 'a test', '--config', portage.configPath], {
      env: process.env,
    })
    expect(code).toBe(0)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered' })
    expect(BigInt(end?.tried?.at(-1)?.maxFee ?? '0')).toBeLessThanOrEqual(300n * 10n ** 9n)
    await expectDelivered(stage)
  })
})
