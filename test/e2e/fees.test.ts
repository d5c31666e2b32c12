import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { runCli } from '../cli/run-cli.ts'
import { mineDear, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

/** Limits of what may be spent, set while everything runs. */
describe('Fee limits', () => {
  let stage: Stage
  let portage: PortageProcess

  const metric = async (line: RegExp) => Number(line.exec(await (await fetch(`${portage.apiUrl}/metrics`)).text())?.[1])
  const settingsVersion = () => metric(/^portage_settings_version(?:\{\})? (\d+)$/m)
  /** Sets the policy of bsc; resolves when the process works by it. */
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

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200 })
    portage = await stage.portage()
    await stage.outcomes(await stage.send('ethereum', [coin]))
  })
  afterEach(() => startMining(stage.devnet.chains.bsc.anvil))
  afterAll(() => stage?.close())

  test('above the ceiling a transfer waits without a nonce; when the base fee has fallen it goes on by itself', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const ceiling = 50n * 10n ** 9n
    await limit({ baseFeeCeiling: String(ceiling) })
    const before = await granted()
    // Each empty block takes an eighth off: above the ceiling is where the chain stands still until the transfer was seen to wait.
    await stopMining(anvil)
    await mineDear(anvil, ceiling * 4n)
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    const seen = async () => (await metric(/^portage_head_height\{chain="bsc"\} (\d+)$/m)) >= height
    await until(seen, { timeoutMs: 60_000, what: 'the process to see the dear block' })
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const waiting = await stage.reaches(sent.id, 'waiting')
    expect(waiting).toMatchObject({ code: 'FEE_CEILING' })
    expect(waiting.nonce).toBeUndefined()
    expect(await granted()).toBe(before)
    await startMining(anvil)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(end?.tried).toMatchObject([{ kind: 'call', hash: end?.txHash, fate: 'mined' }])
    await expectDelivered(stage)
  })

  test('more gas than is allowed parks a transfer; allowed and tried again, it is delivered within the other limits', async () => {
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
