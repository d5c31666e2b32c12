import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { poll } from '../../runtime/wait.ts'
import { closedOf } from '../bench/closes.ts'
import { sendTransfers } from '../demo/load.ts'
import { startChild } from '../devnet/child.ts'
import type { Devnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { idWithoutDigest } from '../devnet/sent.ts'
import { until } from '../devnet/until.ts'

export interface FloodOptions {
  /** Duration of each of the two phases, seconds. */
  readonly seconds: number
  readonly connections: number
  /** Requests per second, of all strangers together. */
  readonly rate: number
  readonly transfers: number
}

interface Times {
  readonly transfers: number
  readonly median: number
  readonly slowest: number
}

export interface FloodSummary extends FloodOptions {
  readonly quiet: Times
  readonly flooded: Times
  /**
   * Duration of the slowest transfer during the flood, divided by the duration of the slowest transfer without the
   * flood.
   */
  readonly ratio: number
  /**
   * Resident memory, MiB. `firstHalf`, `secondHalf`: lowest value in each half of the flood, because garbage can hide a
   * leak for minutes.
   */
  readonly memory: { readonly before: number; readonly firstHalf: number; readonly secondHalf: number; readonly most: number }
  readonly strangers: unknown
  /** Whether the process answered `GET /health` within a second, in every second of the flood. */
  readonly healthy: boolean
}

/** Maximum `ratio` of a clean run. */
export const mostRatio = 1.5
/** Maximum growth of memory from the first half of the flood to the second, MiB. More counts as a leak. */
const mostGrowth = 100
/** Memory limit of an API process in deploy/helm, MiB. */
const mostMemory = 768

export function isClean({ ratio, memory, healthy }: FloodSummary): boolean {
  const { firstHalf, secondHalf, most } = memory
  return ratio <= mostRatio && healthy && secondHalf - firstHalf <= mostGrowth && most <= mostMemory
}

const strangers = fileURLToPath(new URL('strangers.ts', import.meta.url))

/** Sends honest transfers, first alone, then during a flood of requests without a valid token. */
export async function runFlood(devnet: Devnet, options: FloodOptions, say: (line: string) => void): Promise<FloodSummary> {
  // Sets the config's default rate limit, because the devnet's own limit is higher.
  const portage = await startPortage(devnet, { configure: (config) => ({ ...config, api: { ...config.api, requestsPerMinute: 6_000 } }) })
  const connection = await Connection.connect({ address: devnet.temporal.address })
  const client = new Client({ connection })
  try {
    // The first transfers of a process are slow, because code is compiled and guardian sets are read.
    await honest(devnet, client, portage, { ...options, seconds: 5 })
    say(`${options.seconds} s of honest transfers alone…`)
    const quiet = await honest(devnet, client, portage, options)
    say(
      `${options.seconds} s of honest transfers while strangers send ${options.rate} requests per second over ${options.connections} connections…`,
    )
    const before = await residentMib(portage.pid)
    const paths = await pathsOf(portage)
    const flood = await startChild(process.execPath, [
      ...['--import', 'tsx', strangers],
      ...[portage.apiUrl, String(options.connections), String(options.rate), JSON.stringify(paths)],
    ])
    const ending = new AbortController()
    const watched = watch(portage, ending.signal)
    const flooded = await honest(devnet, client, portage, options)
    ending.abort()
    const { healthy, samples } = await watched
    await flood.stop()
    const middle = Math.ceil(samples.length / 2)
    return {
      ...options,
      ...{ quiet, flooded, ratio: Math.round((100 * flooded.slowest) / quiet.slowest) / 100, healthy },
      memory: {
        ...{ before, most: Math.max(...samples) },
        ...{ firstHalf: Math.min(...samples.slice(0, middle)), secondHalf: Math.min(...samples.slice(middle)) },
      },
      strangers: lastJson(flood.tail()),
    }
  } finally {
    await portage.stop(15_000)
    await connection.close()
  }
}

async function honest(devnet: Devnet, client: Client, portage: PortageProcess, { transfers, seconds }: FloodOptions): Promise<Times> {
  const sentAt = new Map<string, number>()
  const sent = await sendTransfers(devnet, { transfers: transfers * seconds, rate: transfers, bridge: 'both' }, (some) => {
    for (const one of some) sentAt.set(idWithoutDigest(one), Date.now())
  })
  const giveUp = () => portage.ended && `Portage ${portage.ended}: ${portage.tail()}`
  let times: number[] = []
  const areClosed = async () => {
    const closed = new Map((await closedOf(client, "WorkflowType = 'transfer'")).map((one) => [prefixOf(one.workflowId), one.closedAt]))
    times = [...sentAt].map(([id, at]) => (closed.get(id) ?? Number.NaN) - at)
    return times.every(Number.isFinite)
  }
  await until(areClosed, { timeoutMs: 180_000, everyMs: 500, what: `${sent.length} transfers to be delivered`, giveUp })
  times.sort((a, b) => a - b)
  return { transfers: times.length, median: times[Math.floor(times.length / 2)] ?? Number.NaN, slowest: times.at(-1) ?? Number.NaN }
}

const prefixOf = (id: string) => id.split(':').slice(0, 4).join(':')

/** Every path of the API's OpenAPI document, and some pages that the document does not contain. */
async function pathsOf({ apiUrl, admin }: PortageProcess): Promise<string[]> {
  const { paths } = (await (await fetch(`${apiUrl}/v1/openapi.json`, { headers: admin })).json()) as { paths: Record<string, unknown> }
  return ['/', '/health', '/ready', '/docs', '/none', ...Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, 'x'))]
}

async function watch({ pid, apiUrl }: PortageProcess, signal: AbortSignal): Promise<{ healthy: boolean; samples: number[] }> {
  let healthy = true
  const samples: number[] = []
  const look = async () => {
    samples.push(await residentMib(pid))
    const isOk = await fetch(`${apiUrl}/health`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    healthy &&= isOk
  }
  await poll(look, { everyMs: 1_000, signal })
  return { healthy, samples }
}

async function residentMib(pid: number): Promise<number> {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1_024)
}

function lastJson(text: string): unknown {
  return JSON.parse(text.trim().split('\n').at(-1) ?? 'null')
}
