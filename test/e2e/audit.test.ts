import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { type AuditReport, auditId } from '../../temporal/contracts/audit.ts'
import { runCli } from '../cli/run-cli.ts'
import { sendCoins } from '../faults/processes.ts'
import { mine, nonceOf, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

describe('The audit of what was delivered', () => {
  let stage: Stage
  let portage: PortageProcess

  const cli = (...args: string[]) =>
    runCli(['--config', portage.configPath, '--json', ...args], { env: { ...process.env, ...stage.devnet.env } })
  const audit = async () => {
    const { code, out } = await cli('audit', 'run', '--chain', 'bsc')
    const [report] = (JSON.parse(out) as { reports: AuditReport[] }).reports
    if (!report) throw new Error(`no report: ${out}`)
    return { code, report }
  }

  beforeAll(async () => {
    stage = await startStage()
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  test('every chain has its schedule, which a second process finds and keeps', async () => {
    const schedule = stage.client.schedule.getHandle(auditId('bsc'))
    const every = async () => (await schedule.describe()).spec.intervals?.map((one) => one.every).join()
    const is = async (wanted: string) => (await every()) === wanted
    await until(() => is('600000'), { timeoutMs: 60_000, what: 'the schedule' })
    expect((await schedule.describe()).policies.overlap).toBe('SKIP')
    await schedule.pause('an operator has a reason')
    const second = await stage.portage({ role: 'chain', configure: (config) => ({ ...config, audit: { everyMinutes: 30, hours: 2 } }) })
    await until(() => is('1800000'), { timeoutMs: 60_000, what: 'the schedule to be as the second config says' })
    expect((await schedule.describe()).state.paused).toBe(true)
    await stage.end(second)
    await schedule.delete()
    await until(() => is('600000'), { timeoutMs: 90_000, everyMs: 200, what: 'the schedule to be set again' })
  })

  test('an audit starts transfers that closed undelivered once again, and no cancelled or delivered one', async () => {
    // The audit that this test orders must find the missing transfers, so the scheduled audit is paused.
    const schedule = stage.client.schedule.getHandle(auditId('bsc'))
    await until(() => schedule.pause('by hand for now').then(() => true), { timeoutMs: 60_000, what: 'the schedule to be paused' })
    const sent = await sendCoins(stage, 3)
    await stage.outcomes(sent)
    const seen = await until(
      async () => {
        const { code, report } = await audit()
        return report.checked === 3 && { code, report }
      },
      { timeoutMs: 60_000, everyMs: 200, what: 'the audit to see three transfers' },
    )
    expect(seen).toMatchObject({ code: 0, report: { intact: 3, undoneCount: 0, reopenedCount: 0, underway: 0, unsure: 0 } })

    await stage.end(portage)
    const chainless = await stage.portage({ role: 'intake' })
    const [killed, unwanted] = await sendCoins(stage, 2)
    if (!killed || !unwanted) throw new Error('two transfers were sent')
    const running = (id: string) => async () => (await stage.client.workflow.getHandle(id).describe()).status.name === 'RUNNING'
    for (const { id } of [killed, unwanted]) await until(running(id), { timeoutMs: 60_000, what: `${id} to run` })
    // The servers must fail, because the stream would otherwise start the transfers before the audit does.
    const { api, wormholescan } = stage.devnet.guardian
    for (const server of [api, wormholescan]) server.trouble({ refuse: { status: 503 } })
    await stage.client.workflow.getHandle(killed.id).terminate('by mistake')
    await stage.client.workflow.getHandle(unwanted.id).signal('cancel', { order: { by: 'operator', reason: 'unwanted' } })
    await stage.end(chainless)
    portage = await stage.portage()
    await stage.reaches(unwanted.id, 'cancelled')

    const reopened = await until(
      async () => {
        const { report } = await audit()
        return report.reopenedCount > 0 && report
      },
      { timeoutMs: 60_000, everyMs: 200, what: 'the audit to see the terminated one' },
    )
    for (const server of [api, wormholescan]) server.trouble()
    expect(reopened).toMatchObject({ reopened: [killed.id], undoneCount: 0 })
    await stage.outcomes([killed])
    expect((await audit()).report.reopenedCount).toBe(0)
    expect((await stage.status(unwanted.id)).state).toBe('cancelled')
    await expectDelivered(stage, [...sent, killed])

    const shown = async () => {
      const { out } = await cli('audit', 'show', '--chain', 'bsc', '--limit', '100')
      const { audits } = JSON.parse(out) as { audits: { report?: AuditReport }[] }
      return audits.some(({ report }) => report?.reopened.includes(killed.id))
    }
    await until(shown, { timeoutMs: 60_000, everyMs: 200, what: 'the audit to be among those that are shown' })
    const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    expect(metrics).toContain('portage_transfers_reopened_total{chain="bsc"} 1')
  })

  test('an audit finds deliveries that a deep reorg undid; they are delivered again, and the lane goes on', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')
    if (!lane) throw new Error('bsc has a lane')
    const before = await anvil.rpc<string>('evm_snapshot')
    const nonceBefore = await nonceOf(anvil, lane.address)
    const sent = await sendCoins(stage, 2)
    await stage.outcomes(sent)
    const height = async (tag: string) => Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])).number)
    const finalBefore = await height('finalized')
    await stopMining(anvil)
    await anvil.rpc('evm_revert', [before])
    expect(await height('latest')).toBeLessThan(finalBefore)
    expect(await nonceOf(anvil, lane.address)).toBe(nonceBefore)
    await mine(anvil, finalBefore - (await height('latest')) + 5)
    await startMining(anvil, 1)

    const undone: string[] = []
    const startedAt = Date.now()
    const found = async () => {
      const { code, report } = await audit()
      if (report.undoneCount > 0) expect(code).toBe(1)
      undone.push(...report.undone)
      return undone.length >= sent.length
    }
    await until(found, { timeoutMs: 90_000, everyMs: 500, what: 'the audit to find both undone' })
    expect(undone.toSorted()).toEqual(sent.map(({ id }) => id).toSorted())
    const recorded = async () => (await stage.client.workflow.count(`WorkflowType = 'reversal'`)).count === sent.length
    await until(recorded, { timeoutMs: 60_000, what: 'a record of each reversal' })
    const logged = async () => (await readFile(portage.logFile, 'utf8')).includes('a delivered effect is gone')
    await until(logged, { timeoutMs: 30_000, what: 'the log to say so' })
    const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    expect(metrics).toContain('portage_effects_undone_total{chain="bsc"} 2')
    const [, finished] = /portage_audit_finished_time_seconds\{chain="bsc"\} (\S+)/.exec(metrics) ?? []
    expect(Number(finished) * 1_000).toBeGreaterThan(startedAt)

    // Old transactions of the reopened nonces may still be mined, so the lane fills these nonces only some blocks
    // later.
    const open = async () => {
      const { entries, observed } = await stage.lane('bsc')
      return observed?.finalized === nonceBefore && entries[nonceBefore]?.fill === 'inherited'
    }
    await until(open, { timeoutMs: 60_000, everyMs: 250, what: 'the ledger to know that its final nonces are open again' })
    const { config } = await stage.lane('bsc')
    await mine(anvil, config.fillAfterBlocks + 5)
    const again = await stage.outcomes(sent, 90_000)
    expect(again.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    const result = await stage.devnet.check(sent)
    expect(result).toMatchObject({ delivered: 2, lost: 0, duplicates: 0, nonceHoles: 0, revertedTransactions: 0 })
  })
})
