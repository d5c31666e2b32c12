import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CauseReport } from '../../causes/collect.ts'
import type { Cause } from '../../domain/cause.ts'
import { causeReportSchema } from '../../causes/schema.ts'
import { until } from '../../lab/devnet/until.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { laneId } from '../../domain/lane/lane-id.ts'
import { runCli } from '../cli/run-cli.ts'
import { ether } from '../helpers/limited-key.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

/** One fault after the other on real parts: each time one `portage stuck --json` names it, with the next command, and says that it is over once it is. */
describe('portage stuck', () => {
  let stage: Stage
  let portage: PortageProcess
  let lane: string

  const cli = (...argv: string[]) => runCli([...argv, '--config', portage.configPath])
  const order = async (...argv: string[]) => expect(await cli(...argv, '--reason', 'a test')).toMatchObject({ code: 0, err: '' })
  async function stuck(): Promise<CauseReport & { readonly code: number }> {
    const answer = await cli('stuck', '--json')
    return { ...(causeReportSchema.parse(answer.json()) as CauseReport), code: answer.code }
  }
  /** The row of this kind and place, as soon as there is one. */
  async function named(code: string, id?: string, isWanted: (cause: Cause) => boolean = () => true): Promise<Cause> {
    let last: readonly Cause[] = []
    const look = async () => {
      const { causes, code: exit } = await stuck()
      last = causes
      const found = causes.find((one) => one.code === code && (id === undefined || one.where.id === id) && isWanted(one))
      if (found) expect(exit).toBe(1)
      return found
    }
    return until(look, { timeoutMs: 90_000, everyMs: 200, what: `the cause ${code}` }).catch((error: unknown) => {
      throw new Error(`${String(error)}; there are ${JSON.stringify(last)}`, { cause: error })
    })
  }
  async function isOver(code: string): Promise<void> {
    await until(async () => (await stuck()).causes.every((one) => one.code !== code), {
      timeoutMs: 90_000,
      everyMs: 200,
      what: `no ${code}`,
    })
  }

  beforeAll(async () => {
    stage = await startStage()
    portage = await stage.portage()
    const { bsc } = stage.devnet.chains
    lane = laneId('evm', bsc.anvil.chainId, stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address)
    await until(async () => (await stage.lane('bsc')).synced, { timeoutMs: 90_000, what: 'the lane to be synced' })
  })
  afterAll(() => stage?.close())

  test('says that nothing is stuck where nothing is', async () => {
    // A node that a busy machine keeps waiting is a cause for a moment.
    await expect
      .poll(() => cli('stuck'), { timeout: 90_000, interval: 200 })
      .toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing is stuck \(read /) })
  })

  test('names a paused lane, a window of 0 and a halt, and what waits for them; GET /v1/stuck says the same', async () => {
    await order('lane', 'pause', lane)
    const paused = await named('LANE_PAUSED', lane)
    expect(paused.next.at(-1)).toBe(`portage lane resume ${lane} --reason "<text>"`)
    const [sent] = await stage.send('ethereum', [{ kind: 'coin', amount: ether }])
    const holding = await named('LANE_PAUSED', lane, ({ count }) => count === 1)
    expect(holding.examples).toEqual([sent!.id])
    const answer = await fetch(`${portage.apiUrl}/v1/stuck`, { headers: portage.admin })
    expect(((await answer.json()) as CauseReport).causes.map(({ code }) => code)).toContain('LANE_PAUSED')
    await order('lane', 'resume', lane)
    // It is woken by that: it may be delivered before anybody could order a retry.
    await stage.outcomes([sent!])
    await order('lane', 'set-window', lane, '0')
    await named('LANE_WINDOW_ZERO', lane)
    await order('lane', 'set-window', lane, '64')
    await order('halt', '--target', 'bsc')
    expect((await named('HALTED', '--target bsc')).next).toContain('portage unhalt --target bsc --reason "<text>"')
    await order('unhalt', '--target', 'bsc')
    await isOver('HALTED')
  })

  test('names an account without coins, by its node', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const address = lane.split(':')[1]!
    const before = await anvil.rpc<string>('eth_getBalance', [address, 'latest'])
    await anvil.rpc('anvil_setBalance', [address, '0x0'])
    expect((await named('LANE_FUNDS', lane)).what).toMatch(/empty|pay/)
    await anvil.rpc('anvil_setBalance', [address, before])
    await isOver('LANE_FUNDS')
  })

  test('names a dead node with the messages that wait for it: none of them is called unobserved', async () => {
    process.kill(stage.devnet.chains.bsc.anvil.pid, 'SIGKILL')
    await named('CHAIN_UNREACHABLE', 'bsc')
    await stage.devnet.users.ethereum.send([{ kind: 'coin', amount: ether }])
    const waiting = await named('CHAIN_UNREACHABLE', 'bsc', ({ count }) => count > 0)
    expect(waiting.next[0]).toBe('portage node list --chain bsc')
    const { causes } = await stuck()
    expect(causes.filter(({ code }) => code === 'GAP_UNOBSERVED')).toEqual([])
  })

  test('names a process that was killed, and a Temporal that is away', async () => {
    await stage.end(portage, 'SIGKILL')
    await named('LEDGER_UNSERVED', 'ledger')
    process.kill(stage.devnet.temporal.pid, 'SIGKILL')
    const away = await named('TEMPORAL_UNAVAILABLE')
    expect(away.next).toEqual(['portage doctor'])
    expect((await stuck()).causes.map(({ code }) => code)).toContain('CHAIN_UNREACHABLE')
  })
})
