import { redactText } from '../observability/redact.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { checkNamespace } from '../temporal/client/probe.ts'
import type { HealthProbe } from './deps.ts'

export interface HealthReport {
  readonly ready: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly vital: boolean; readonly problem?: string }[]
}

/** A probe that takes longer has failed, ms: load balancers do not wait longer either. */
const probeTimeoutMs = 3_000

/** Runs all probes at once. Never throws. */
export async function checkHealth(probes: readonly HealthProbe[]): Promise<HealthReport> {
  const checks = await Promise.all(
    probes.map(async ({ name, check, vital = true }) => {
      try {
        await withTimeout(check())
        return { name, ok: true, vital }
      } catch (error) {
        return { name, ok: false, vital, problem: redactText(error instanceof Error ? error.message : String(error)) }
      }
    }),
  )
  return { ready: checks.every(({ ok, vital }) => ok || !vital), checks }
}

/** Checks that the Temporal server answers for our namespace. */
export function temporalProbe(client: TemporalClient): HealthProbe {
  return { name: 'temporal', check: () => checkNamespace(client, probeTimeoutMs) }
}

async function withTimeout(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${probeTimeoutMs} ms`)), probeTimeoutMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
