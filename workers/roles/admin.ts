import { type Check, checkChains, createTemporalCheck } from '../../operations/admin/checks.ts'
import { openAdminServer } from '../../operations/admin/server.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Network } from './network.ts'
import type { UnpolledQueue } from '../process/poll-watch.ts'
import type { Role } from './roles.ts'
import { readSdkMetrics } from '../telemetry/sdk-metrics.ts'

interface Started {
  readonly client: TemporalClient
  readonly network: Pick<Network, 'chains' | 'oracles'>
  readonly agents: readonly LaneAgent[]
  readonly spies?: (() => readonly SpyHealth[]) | undefined
  readonly unpolled: () => readonly Pick<UnpolledQueue, 'taskQueue'>[]
}

export type Admin = Awaited<ReturnType<typeof openAdmin>>

export async function openAdmin(
  { admin, chains: configured }: Pick<Config, 'admin' | 'chains'>,
  options: { readonly role: Role; readonly chains?: readonly string[] | undefined; readonly metrics: Metrics; readonly logger: Logger },
) {
  const { role, chains = Object.keys(configured), metrics, logger } = options
  const missing = (name: string, problem: string): Check => ({ name, ok: false, vital: true, problem })
  const starts = async (): Promise<readonly Check[]> => [missing('start', 'the process starts')]
  let checks = starts
  let unpolled: Started['unpolled'] = () => []
  metrics.onCollect((all) => {
    const { user, system } = process.cpuUsage()
    all.portage_process_cpu_seconds_total.reset()
    all.portage_process_cpu_seconds_total.inc({ role }, (user + system) / 1e6)
    all.portage_process_resident_bytes.set({ role }, process.memoryUsage.rss())
  })
  metrics.onRefresh(async (all) => {
    const found = await checks()
    all.portage_process_ready.set({ role }, found.some(({ ok, vital }) => vital && !ok) ? 0 : 1)
  })
  const render = async () => (await Promise.all([metrics.render(), readSdkMetrics()])).join('')
  const problem = () => {
    const queues = unpolled().map(({ taskQueue }) => taskQueue)
    return queues.length === 0 ? undefined : `not polled: ${queues.join(', ')}`
  }
  const server = await openAdminServer({ ...admin, problem, checks: () => checks(), metrics: render, logger })
  logger.info('the admin port listens', { role, host: admin.host, port: server.port })
  return {
    waitsFor(dependency: string, { code }: RelayerError): void {
      // Requests need no token, so the answer has only the error's code and title. The log has the details.
      const { message } = new RelayerError(code)
      const names = dependency === 'nodes' ? chains.map((chain) => `chain ${chain}`) : [dependency.toLowerCase()]
      checks = async () => names.map((name) => missing(name, message))
    },
    starts(): void {
      checks = starts
    },
    started({ client, network, agents, spies, ...parts }: Started): void {
      const temporal = createTemporalCheck(client)
      unpolled = parts.unpolled
      checks = async () => [
        await temporal(),
        ...(problem() === undefined ? [] : [missing('queues', problem() ?? '')]),
        ...checkChains(network.chains.values(), network.oracles),
        ...agents.map(laneCheck),
        ...(spies?.() ?? []).map(spyCheck),
      ]
    },
    stopping(): void {
      checks = async () => [missing('stop', 'the process stops')]
    },
    close: () => server.close(),
  }
}

function laneCheck({ lane, view }: LaneAgent): Check {
  const ok = view !== undefined
  return { name: `lane ${lane}`, ok, vital: false, problem: ok ? undefined : 'its ledger has not answered yet' }
}

/** Without a spy, the process is ready, because streams fetch missing messages from guardian APIs. */
function spyCheck({ connected, paused, problem }: SpyHealth, index: number): Check {
  const why = paused ? 'not read: too many of its messages wait' : connected ? undefined : (problem ?? 'not connected yet')
  return { name: `spy ${index + 1}`, ok: why === undefined, vital: false, problem: why && redactText(why) }
}
