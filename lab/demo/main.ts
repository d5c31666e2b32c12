import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { makeToken } from '../devnet/access.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { keyOf, type AnySent } from '../devnet/sent.ts'
import { isSettled, lookAtTransfers, type Seen } from './follow.ts'
import { partsOf, sendTransfers } from './load.ts'
import { type DemoOptions, parseOptions } from './options.ts'
import { Screen } from './screen.ts'
import { type Summary, describe, isClean, summarize } from './summary.ts'
import { unprovedStreams, watermarks } from './streams.ts'

const lookEveryMs = 500

const parts = {
  wormhole: 'the Wormhole contracts, and a guardian',
  native: 'a native bridge in both directions',
  both: 'the Wormhole contracts, a native bridge, and a guardian',
  all: 'the Wormhole contracts, contracts that take messages, NTT, an Executor, CCTP, a native bridge, and a guardian',
} as const

const seconds = () => (performance.now() / 1_000).toFixed(1)

export async function demo(options: DemoOptions): Promise<number> {
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const dir = join(process.cwd(), '.portage', 'demo', String(Date.now()))
  await mkdir(dir, { recursive: true })
  const { bridge, batch, keys, blockTime, guardians, inMemory } = options
  let clean = false
  say(`Starting Temporal and two chains with ${parts[bridge]}…`)
  const devnet = await startDevnet({
    ...{ keysPerChain: keys, blockTimeSeconds: blockTime, guardians, inMemory, dir, log: say },
    ...{ ...partsOf(bridge), batch, auditMinutes: 0.1 },
  })
  try {
    say(`The network is running after ${seconds()} s. Starting Portage…`)
    const portage = await startPortage(devnet)
    await devnet.executor?.askQuotes([portage.apiUrl])
    say(`Portage is running after ${seconds()} s (log: ${portage.logFile}).`)
    const ends = options.keep ? '' : ' (until the demo ends; --keep keeps everything running until Ctrl-C)'
    say(`Portage's page: ${portage.apiUrl}/`)
    const token = await pageToken(devnet)
    say(`  with this access token (level write, valid only for this demo): ${token}`)
    const webUi = `${devnet.temporal.uiUrl}/namespaces/default/workflows`
    say(`Temporal Web UI: ${webUi}${ends}\n`)
    const summary = await run(devnet, portage, options)
    if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else process.stdout.write(`\n${describe(summary)}\n`)
    if (options.keep) await stayUp([`Page: ${portage.apiUrl}/`, `Access token: ${token}`, `Web UI: ${webUi}`], say)
    await portage.stop(15_000)
    clean = isClean(summary)
    return clean ? 0 : 1
  } finally {
    await devnet.stop()
    // The logs and the database are kept only after a failure.
    if (clean) await rm(dir, { recursive: true, force: true })
    else say(`Logs: ${dir}`)
  }
}

/** Token for the demo's page, signed with keys that exist only in the demo's folder. */
function pageToken(devnet: Devnet): Promise<string> {
  const { dataFolder = devnet.dir, temporal } = devnet.relayerConfig()
  return makeToken({ dataFolder, temporal }, { name: 'demo', level: 'write' })
}

async function run(devnet: Devnet, portage: PortageProcess, options: DemoOptions): Promise<Summary> {
  const connection = await Connection.connect({ address: devnet.temporal.address })
  const client = new Client({ connection })
  const screen = new Screen()
  const rpcBefore = await rpcCalls(portage)
  const started = Date.now()
  const sent: AnySent[] = []
  let sending = true
  const sends = sendTransfers(devnet, options, (some) => sent.push(...some)).finally(() => (sending = false))
  let seen: Seen[] = []
  let progressAt = Date.now()
  let last = ''
  for (;;) {
    seen = await lookAtTransfers(client)
    screen.draw({ seen, total: options.transfers, sent: sent.length, elapsedMs: Date.now() - started })
    const now = JSON.stringify([sent.length, seen.map(({ state }) => state)])
    if (now !== last) progressAt = Date.now()
    last = now
    const settled = new Set(seen.filter(isSettled).map(({ key }) => key))
    if (!sending && sent.every((one) => settled.has(keyOf(one)))) break
    if (portage.ended) throw new Error(`Portage ${portage.ended}: ${portage.tail()}`)
    if (Date.now() - progressAt > options.timeout * 1000) break
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
  screen.end()
  const elapsedMs = Date.now() - started
  await sends
  const calls = (await rpcCalls(portage)) - rpcBefore
  const unproved = await untilProved(client, sent)
  const summary = summarize({
    ...{ bridge: options.bridge, sent, seen, elapsedMs, unproved, rpcCalls: calls },
    check: await devnet.check(sent),
    streams: await watermarks(client),
  })
  await connection.close()
  return summary
}

/**
 * Waits up to 30 s for the streams, which learn of deliveries late. Returns the streams that have not proved all
 * transfers.
 */
async function untilProved(client: Client, sent: readonly AnySent[]): Promise<readonly string[]> {
  const look = async () => (await unprovedStreams({ client, sent })).length === 0
  await until(look, { timeoutMs: 30_000, everyMs: 250, what: 'the streams to prove all' }).catch(() => undefined)
  return unprovedStreams({ client, sent })
}

async function rpcCalls(portage: PortageProcess): Promise<number> {
  const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
  const values = text.matchAll(/^portage_rpc_calls_total\{.*\} (\d+)/gm)
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0)
}

async function stayUp(places: readonly string[], say: (line: string) => void): Promise<void> {
  say(['\nStaying up. Ctrl-C ends it.', ...places].join('\n  '))
  const forever = setInterval(() => {}, 60_000)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  clearInterval(forever)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await demo(parseOptions(process.argv.slice(2)))
}
