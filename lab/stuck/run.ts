import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { causeReportSchema } from '../../operations/causes/schema.ts'
import { RoleFleet } from '../alerts/role-fleet.ts'
import { makeToken } from '../devnet/access.ts'
import { devnetQuoter } from '../devnet/executor/deploy.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { startWeb3Signer } from '../devnet/signing/web3signer.ts'
import { stuckCases } from './cases.ts'
import { finalityStalledMinutes } from './nodes.ts'
import { mostSeconds } from './options.ts'
import { makePlugins } from './plugins.ts'
import { withPrices, withQuoter } from './products.ts'
import { setTokens, type StuckCase, stuckDevnet, type StuckScene } from './scene.ts'
import { type Question, hasRow, type Report, secondsUntil } from './watch.ts'

export interface CaseResult {
  readonly name: string
  readonly fault: string
  readonly code: string
  /** Seconds until `portage stuck` and the API show the row. Undefined if the row did not appear. */
  readonly command: number | undefined
  readonly api: number | undefined
  /** Seconds from the end of the fault until neither of the two shows the row. Undefined if the row remained. */
  readonly gone: number | undefined
}

const waits = { rowMs: 60_000, goneMs: 120_000, quietMs: 120_000 } as const
const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))

export function isClean(results: readonly CaseResult[]): boolean {
  const inTime = (seconds: number | undefined) => seconds !== undefined && seconds <= mostSeconds
  return results.length > 0 && results.every(({ command, api, gone }) => inTime(command) && inTime(api) && gone !== undefined)
}

export async function runStuck(names: readonly string[], say: (line: string) => void): Promise<CaseResult[]> {
  const devnet = await startDevnet({ ...stuckDevnet, ui: false, log: say })
  const stops: (() => Promise<unknown>)[] = [() => devnet.stop()]
  try {
    const connection = await Connection.connect({ address: devnet.temporal.address })
    stops.push(() => connection.close())
    const { bsc } = devnet.chains
    for (const { chain, address } of devnet.lanes) if (chain === 'bsc') await setTokens(bsc.anvil, bsc.weth, address, 1n)
    const plugins = await makePlugins(devnet)
    const priceFeed = await withPrices(devnet)
    const quoter = await startWeb3Signer([devnetQuoter])
    stops.push(() => quoter.stop())
    const bridgesOf = (bridges: ConfigInput['bridges']) => ({ ...withQuoter(bridges, quoter.url), plugins: plugins.config })
    const fleet = new RoleFleet(
      devnet,
      ({ bridges, ...config }) => ({ ...config, bridges: bridgesOf(bridges), chains: chainsOf(config, bsc.weth), priceFeed }),
      async () => {},
    )
    stops.push(() => fleet.stop())
    await fleet.whole()
    const { scene: parts, command, api } = await sceneOf(devnet, fleet, new Client({ connection }))
    const scene = { ...parts, plugins, quoter }
    const results: CaseResult[] = []
    for (const one of stuckCases.filter(({ name }) => names.length === 0 || names.includes(name))) {
      const quiet = await secondsUntil(command, ({ stuck }) => !stuck, waits.quietMs)
      if (quiet === undefined) say(`before ${one.name} something is already stuck: ${codesOf(await command())}`)
      const result = await runCase(one, scene, command, api)
      results.push(result)
      say(tell(result))
    }
    return results
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

const codesOf = ({ causes }: Report) => causes.map(({ code, where }) => `${code} ${where.id}`).join(', ')

async function runCase(one: StuckCase, scene: StuckScene, command: Question, api: Question): Promise<CaseResult> {
  const { name, fault, code } = one
  const { where, mend } = await one.make(scene)
  const isThere = (report: Report) => hasRow(report, one, where)
  const shown = await Promise.all([command, api].map((ask) => secondsUntil(ask, isThere, waits.rowMs)))
  await mend()
  const gone = await Promise.all([command, api].map((ask) => secondsUntil(ask, (report) => !isThere(report), waits.goneMs)))
  const [first, second] = gone
  return {
    ...{ name, fault, code, command: shown[0], api: shown[1] },
    gone: first === undefined || second === undefined ? undefined : Math.max(first, second),
  }
}

export function tell({ name, code, fault, command, api, gone }: CaseResult): string {
  const text = (seconds: number | undefined) =>
    seconds === undefined ? 'NOT SHOWN' : `${seconds.toFixed(1)} s${seconds > mostSeconds ? ' TOO LATE' : ''}`
  const after = gone === undefined ? 'NOT GONE' : `gone ${gone.toFixed(1)} s after the repair`
  return `${name}: ${fault}: ${code} by the command ${text(command)}, by the API ${text(api)}; ${after}`
}

function chainsOf({ chains: { ethereum, bsc } }: Pick<ConfigInput, 'chains'>, weth: string): ConfigInput['chains'] {
  if (!ethereum || !bsc) throw new Error('a chain is missing')
  const finality = { kind: 'tag', stalledAfterMinutes: finalityStalledMinutes } as const
  return { ethereum, bsc: { ...bsc, finality, watchTokens: [{ token: weth, minimum: '1' }] } }
}

async function sceneOf(devnet: Devnet, fleet: RoleFleet, client: Client): Promise<{ scene: StuckScene; command: Question; api: Question }> {
  const { configPath, apiUrl, admin } = processOf(fleet, 'api')
  const env = { ...process.env, PORTAGE_TOKEN: await makeToken({ dataFolder: resolve(devnet.dir, 'portage-data') }) }
  const portage = (argv: readonly string[]) =>
    new Promise<{ out: string; err: string; code: number }>((done) => {
      execFile(process.execPath, [launcher, ...argv, '--config', configPath], { env, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) =>
        done({ out, err, code: error ? Number(error.code ?? 1) : 0 }),
      )
    })
  const scene: StuckScene = {
    ...{ devnet, client, treatments: new Map() },
    async cli(...argv) {
      const { out, err, code } = await portage(argv)
      if (code !== 0) throw new Error(`portage ${argv.join(' ')} ended with ${code}: ${err}${out}`)
    },
    async kill(role, chain) {
      const lanes = devnet.lanes.flatMap((lane, index) => (lane.chain === chain ? [`lane-${index}`] : []))
      for (const name of role === 'lane' ? lanes : [role === 'chain' ? `chain-${chain}` : role]) await fleet.kill(name)
      return () => fleet.whole()
    },
  }
  return {
    scene,
    command: async () => causeReportSchema.parse(JSON.parse((await portage(['stuck', '--json'])).out)),
    api: async () => causeReportSchema.parse(await (await fetch(`${apiUrl}/v1/stuck`, { headers: admin })).json()),
  }
}

function processOf(fleet: RoleFleet, name: string) {
  const found = fleet.processes.get(name)
  if (!found) throw new Error(`there is no ${name}`)
  return found
}
