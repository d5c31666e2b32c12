import { randomInt } from 'node:crypto'
import type * as workflows from '../../workflows/index.ts'
import type { AuditSteps } from '../../temporal/contracts/audit.ts'
import type { BatchSteps } from '../../temporal/contracts/batch.ts'
import type { NotifierSteps } from '../../temporal/contracts/notifier.ts'
import type { OperatorTransactionSteps } from '../../temporal/contracts/operator-transaction.ts'
import type { KeylessSteps, LaneSteps, LocalBroadcastSteps } from '../../temporal/contracts/transfer-steps.ts'
import { fetchBounded } from '../../runtime/http/fetch-bounded.ts'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { MetricsExporterConfig } from '@temporalio/worker'

/** A scraper waits 10 s by default, and our own figures must not be late for these, ms. */
const timeoutMs = 2_000
/** Some hundred kilobytes in a process with many lanes. */
const mostBytes = 16 * 1024 * 1024

/** Another process may take the port between its choice and its use. */
const mostTries = 5

let address: string | undefined

/**
 * Has the core of Temporal's SDK keep its metrics, and serve them to this process: it has no other way to give them out as they are. Its server knows nothing of hosts
 * and limits, so that it gets an address that nobody is told, of the 16 million of loopback where the system has them: a web page cannot guess it.
 */
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

/**
 * What `install` gives with these metrics, on another port where one is taken; without them where no port can be had, or none serves: they are not worth a
 * process that does not start. Throws what `install` throws without them.
 */
export async function withSdkMetrics<T>(install: (metrics: MetricsExporterConfig | undefined) => T, choose = exporter): Promise<T> {
  for (let tries = 1; tries < mostTries; tries++) {
    try {
      return install(await choose())
    } catch {
      address = undefined
    }
  }
  return install(undefined)
}

type Steps = KeylessSteps & LaneSteps & LocalBroadcastSteps & BatchSteps & OperatorTransactionSteps & AuditSteps & NotifierSteps

/** What Portage runs. Types by which somebody else starts what nobody serves are in the labels of the core, too. */
const ours: {
  readonly workflow_type: Readonly<Record<keyof typeof workflows, true>>
  readonly activity_type: Readonly<Record<keyof Steps, true>>
} = {
  workflow_type: {
    audit: true,
    batch: true,
    idempotencyKey: true,
    lane: true,
    notifier: true,
    operatorTransaction: true,
    reversal: true,
    settings: true,
    stream: true,
    transfer: true,
  },
  activity_type: {
    ...{
      admit: true,
      validate: true,
      checkDelivered: true,
      prepare: true,
      confirm: true,
      confirmEnd: true,
      getLaneStatus: true,
      withdraw: true,
    },
    ...{
      broadcast: true,
      broadcastLocally: true,
      broadcastBatch: true,
      expedite: true,
      sendOperatorTransaction: true,
      auditDelivered: true,
    },
    notify: true,
  },
}

/** Leaves out the series of types that are not ours: whoever reaches Temporal could make as many as he likes. */
export function ownSeries(text: string): string {
  const isOwn = (line: string) =>
    [...line.matchAll(/\b(workflow_type|activity_type)="((?:[^"\\]|\\.)*)"/g)].every(
      ([, label, value]) => value === undefined || Object.hasOwn(ours[label as keyof typeof ours], value),
    )
  const lines = text.split('\n')
  return lines.filter((line) => line.startsWith('#') || isOwn(line)).join('\n')
}

/** Prometheus text of the core of Temporal's SDK: `temporal_…`. Empty before it runs, and where it does not answer. Throws never. */
export async function readSdkMetrics(): Promise<string> {
  if (address === undefined) return ''
  const answer = await fetchBounded(new URL(`http://${address}/metrics`), {}, { timeoutMs, mostBytes }).catch(() => undefined)
  return answer?.ok ? ownSeries(answer.text) : ''
}
