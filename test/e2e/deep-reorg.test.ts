import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { AuditReport } from '../../temporal/contracts/audit.ts'
import { runCli } from '../cli/run-cli.ts'
import { sendCoins } from '../faults/processes.ts'
import { mine, nonceOf, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

describe('A reorg deeper than finality', () => {
  let stage: Stage
  let portage: PortageProcess

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200 })
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  test('the audit finds and logs what it undoes, which is delivered again; the lane goes on', async () => {
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
    await startMining(anvil)

    const undone: string[] = []
    const found = async () => {
      const args = ['--config', portage.configPath, '--json', 'audit', 'run', '--chain', 'bsc']
      const { code, out } = await runCli(args, { env: { ...process.env, ...stage.devnet.env } })
      const { reports } = JSON.parse(out) as { reports?: AuditReport[] }
      const [report] = reports ?? []
      if (report && report.undoneCount > 0) expect(code).toBe(1)
      undone.push(...(report?.undone ?? []))
      return undone.length >= sent.length
    }
    await until(found, { timeoutMs: 90_000, everyMs: 500, what: 'the audit to find both undone' })
    expect(undone.toSorted()).toEqual(sent.map(({ id }) => id).toSorted())
    const logged = async () => (await readFile(portage.logFile, 'utf8')).includes('a delivered effect is gone')
    await until(logged, { timeoutMs: 30_000, what: 'the log to say so' })
    const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    expect(metrics).toContain('portage_effects_undone_total{chain="bsc"} 2')

    // The lane finds out by itself that nonces which were final are open again, gives them their time to come back, then fills them.
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
