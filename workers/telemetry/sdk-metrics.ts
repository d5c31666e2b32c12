import { randomInt } from 'node:crypto'
import { ledgerWorkflows } from '../../temporal/contracts/names.ts'
import { fetchBounded } from '../../runtime/http/fetch-bounded.ts'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { MetricsExporterConfig } from '@temporalio/worker'

/** Maximum wait for the core's metrics, ms. A scraper waits 10 s by default. */
const timeoutMs = 2_000
/** Maximum size of an answer, bytes. A process with many lanes answers with a few hundred kilobytes. */
const mostBytes = 16 * 1024 * 1024

/** Maximum number of ports to try. Another process may take the chosen port before the SDK opens it. */
const mostTries = 4

let address: string | undefined

/** The address is random, because the core does not check the Host header: a web page could read a known address. */
async function exporter(): Promise<MetricsExporterConfig> {
  const host = process.platform === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}` : '127.0.0.1'
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  address = `${host}:${port}`
  return { prometheus: { bindAddress: address, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true } }
}

/** Calls `install` with a free port or, if no port works, without metrics, because the process must start anyway. */
export async function withSdkMetrics<T>(install: (metrics: MetricsExporterConfig | undefined) => T, choose = exporter): Promise<T> {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      return install(await choose())
    } catch {
      address = undefined
    }
  }
  return install(undefined)
}

/** Types of Portage's workflows and steps. The core also counts other types, because anyone can start any workflow. */
export const ownTypes: Readonly<Record<string, ReadonlySet<string>>> = {
  workflow_type: new Set([...ledgerWorkflows, 'audit', 'idempotencyKey', 'reversal', 'transfer']),
  activity_type: new Set([
    ...['admit', 'validate', 'checkDelivered', 'prepare', 'confirm', 'confirmEnd', 'getLaneStatus', 'withdraw', 'broadcastLocally'],
    ...['broadcast', 'expedite', 'sendOperatorTransaction', 'broadcastBatch', 'auditDelivered', 'notify'],
  ]),
}

/** Removes series of unknown types, of which a stranger could create any number. */
export function ownSeries(text: string): string {
  const isOwn = (line: string) =>
    [...line.matchAll(/\b(workflow_type|activity_type)="((?:[^"\\]|\\.)*)"/g)].every(([, label = '', value = '']) =>
      ownTypes[label]?.has(value),
    )
  const lines = text.split('\n')
  return lines.filter((line) => line.startsWith('#') || isOwn(line)).join('\n')
}

/** The core's metrics (`temporal_…`) as Prometheus text, empty if the core does not answer. */
export async function readSdkMetrics(): Promise<string> {
  if (address === undefined) return ''
  const answer = await fetchBounded(new URL(`http://${address}/metrics`), {}, { timeoutMs, mostBytes }).catch(() => undefined)
  return answer?.ok ? ownSeries(answer.text) : ''
}
