import type { z } from 'zod'
import type { causeReportSchema } from '../../operations/causes/schema.ts'
import { poll } from '../../runtime/wait.ts'
import type { StuckCase } from './scene.ts'

export type Report = z.output<typeof causeReportSchema>

export type Question = () => Promise<Report>

const everyMs = 250

export function hasRow({ causes }: Report, { code }: Pick<StuckCase, 'code'>, where: string | undefined): boolean {
  return causes.some((cause) => cause.code === code && (where === undefined || cause.where.id === where))
}

export async function secondsUntil(ask: Question, isSo: (report: Report) => boolean, withinMs: number): Promise<number | undefined> {
  const begun = performance.now()
  let seconds: number | undefined
  const check = async () => {
    const report = await ask().catch(() => undefined)
    if (report && isSo(report)) seconds = Math.round((performance.now() - begun) / 100) / 10
    return seconds !== undefined
  }
  await poll(check, { everyMs, signal: AbortSignal.timeout(withinMs) })
  return seconds
}
