import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causeReportSchema } from '../../operations/causes/schema.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { stuckCases } from '../../lab/stuck/cases.ts'
import { type Fault, reason, stuckDevnet, type StuckCase, type StuckScene } from '../../lab/stuck/scene.ts'
import { hasRow, type Report } from '../../lab/stuck/watch.ts'
import { runCli } from '../cli/run-cli.ts'
import { settingsReach } from '../helpers/e2e-settings.ts'
import { ether } from '../helpers/limited-key.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const caseOf = (name: string): StuckCase => {
  const found = stuckCases.find((one) => one.name === name)
  if (!found) throw new Error(`there is no case ${name}`)
  return found
}

/**
 * Causes several faults at the same time on a real network. `portage stuck` must show a row for each, with its next
 * command, until the fault is over.
 */
describe('portage stuck', { timeout: 600_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let scene: StuckScene

  const cli = (...argv: string[]) => runCli([...argv, '--config', portage.configPath])
  const asked: Report[] = []
  async function stuck(): Promise<Report> {
    const { json, code } = await cli('stuck', '--json')
    const report = causeReportSchema.parse(json())
    asked.push(report)
    expect(code).toBe(report.stuck ? 1 : 0)
    return report
  }
  async function stuckByApi(): Promise<Report> {
    return causeReportSchema.parse(await (await fetch(`${portage.apiUrl}/v1/stuck`, { headers: portage.admin })).json())
  }
  function answer(what: string, isSo: (report: Report) => boolean, ask: () => Promise<Report> = stuck): Promise<Report> {
    let last: Report | undefined
    const look = async () => {
      last = await ask()
      return isSo(last) && last
    }
    return until(look, { timeoutMs: 90_000, everyMs: 200, what }).catch((error: unknown) => {
      throw new Error(`${String(error)}; there are ${JSON.stringify(last?.causes)}`, { cause: error })
    })
  }
  const named = (code: string, isWanted: (cause: Report['causes'][number]) => boolean = () => true) =>
    answer(`the cause ${code}`, ({ causes }) => causes.some((cause) => cause.code === code && isWanted(cause))).then(({ causes }) =>
      causes.find((cause) => cause.code === code && isWanted(cause))!,
    )
  async function madeAtOnce(...names: string[]): Promise<{ report: Report; mend: () => Promise<void> }> {
    const made: (readonly [StuckCase, Fault])[] = await Promise.all(
      names.map(async (name) => [caseOf(name), await caseOf(name).make(scene)] as const),
    )
    const all = (report: Report) => made.every(([one, { where }]) => hasRow(report, one, where))
    const report = await answer(`all of ${names.join(', ')}`, all)
    await answer('the same by GET /v1/stuck', all, stuckByApi)
    return {
      report,
      async mend() {
        await Promise.all(made.map(([, fault]) => fault.mend()))
        await answer('nothing to be stuck', (now) => !now.stuck && now.causes.length === 0)
      },
    }
  }
  const rowOf = ({ causes }: Report, code: string) => causes.find((cause) => cause.code === code)!

  beforeAll(async () => {
    stage = await startStage({ ...stuckDevnet, keysPerChain: 3 })
    portage = await stage.portage()
    scene = {
      ...{ devnet: stage.devnet, client: stage.client, treatments: new Map() },
      async cli(...argv) {
        const { code, err } = await cli(...argv)
        if (code !== 0 || err !== '') throw new Error(`portage ${argv.join(' ')} ended with ${code}: ${err}`)
        // A process that does not know the order yet would deliver the transfer.
        await settingsReach(stage, portage)
      },
      kill: () => Promise.reject(new Error('there is one process for everything')),
    }
    await until(async () => (await stage.lane('bsc')).synced, { timeoutMs: 90_000, what: 'the lane to be synced' })
  }, 600_000)
  afterAll(() => stage?.close())

  test('portage stuck says that nothing is stuck', async () => {
    // On a busy machine, a node may answer late, which `portage stuck` reports for a moment.
    await expect
      .poll(() => cli('stuck'), { timeout: 90_000, interval: 200 })
      .toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing is stuck \(read /) })
    // The command cannot see the spy subscription, but GET /v1/stuck can. A message counts as missed only if it is
    // later than the subscription by the chain's clock, so the test waits for a later block.
    await answer('nothing to be stuck by GET /v1/stuck', ({ causes }) => causes.length === 0, stuckByApi)
    const { anvil } = stage.devnet.chains.bsc
    const latestAt = async () =>
      Number((await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp) * 1_000
    const since = Math.max(Date.now(), await latestAt())
    await until(async () => (await latestAt()) > since, { timeoutMs: 90_000, everyMs: 50, what: 'a block after the subscription' })
  })

  test('portage stuck and GET /v1/stuck name all faults at once, and nothing once the faults are mended', async () => {
    // Cause these faults before any transfer from bsc, because a message of bsc's stream would end the spy's silence.
    const { report, mend } = await madeAtOnce(
      ...['lane-paused', 'lane-draining', 'lane-window-zero', 'lane-funds', 'halted', 'node-wrong-network'],
      ...['node-down', 'node-lags', 'bridge-paused', 'bug', 'spy-silent', 'gap-held'],
    )
    const paused = rowOf(report, 'LANE_PAUSED')
    expect(paused.next.at(-1)).toBe(`portage lane resume ${paused.where.id} --reason "<text>"`)
    expect(rowOf(report, 'LANE_FUNDS').what).toMatch(/empty|pay/)
    const scope = '--bridge wormhole-token-bridge --source ethereum'
    expect(rowOf(report, 'HALTED').next).toContain(`portage unhalt ${scope} --reason "<text>"`)
    const [sent] = await stage.send('ethereum', [{ kind: 'coin', amount: ether }])
    expect((await named('HALTED', ({ count }) => count === 1)).examples).toEqual([sent!.id])
    await mend()
    await stage.outcomes([sent!])
  })

  test('portage stuck names a fault of a whole chain or stream', async () => {
    const { mend } = await madeAtOnce('lane-forbidden', 'stream-paused', 'fee-ceiling', 'denied', 'order-name-unknown')
    await mend()
    // Cause `no-majority` separately, because a stream does not notice missing messages while its chain has no
    // majority.
    const { mend: again } = await madeAtOnce('no-majority')
    await again()
  })

  test('portage stuck names a guardian set that the chains do not know, until they do', async () => {
    const { mend } = await madeAtOnce('guardian-set-unknown')
    await mend()
  })

  test('portage stuck names a dead node with the messages that wait for it, and calls none unobserved', async () => {
    // For the last test: a transfer to ethereum that waits until the halt ends.
    await scene.cli('halt', '--bridge', 'wormhole-token-bridge', '--source', 'bsc', ...reason)
    const [waits] = await stage.send('bsc', [{ kind: 'coin', amount: ether }])
    await stage.reaches(waits!.id, 'waiting')
    process.kill(stage.devnet.chains.bsc.anvil.pid, 'SIGKILL')
    await named('CHAIN_UNREACHABLE', ({ where }) => where.id === 'bsc')
    asked.length = 0
    await stage.devnet.users.ethereum.send([{ kind: 'coin', amount: ether }])
    // A gap is reported at an age of 3 s, so 10 s are enough.
    const isOld = ({ oldest }: Report['causes'][number]) => oldest !== undefined && Date.now() - Date.parse(oldest) > 10_000
    const waiting = await named('CHAIN_UNREACHABLE', isOld)
    expect(waiting.next[0]).toBe('portage node list --chain bsc')
    expect(asked.flatMap(({ causes }) => causes).filter(({ code }) => code === 'GAP_UNOBSERVED')).toEqual([])
  })

  test('portage stuck names a killed process, and a Temporal that is away', async () => {
    await stage.end(portage, 'SIGKILL')
    const missing = ['LEDGER_WITHOUT_WORKER ledger', 'CHAIN_WITHOUT_WORKER chain:ethereum']
    await answer(missing.join(' and '), ({ causes }) => {
      const rows = causes.map(({ code, where }) => `${code} ${where.id}`)
      return missing.every((row) => rows.includes(row))
    })
    process.kill(stage.devnet.temporal.pid, 'SIGKILL')
    expect((await named('TEMPORAL_UNAVAILABLE')).next).toEqual(['portage doctor'])
    expect((await stuck()).causes.map(({ code }) => code)).toContain('CHAIN_UNREACHABLE')
  })
})
