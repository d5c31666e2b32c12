import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { causeReportSchema } from '../../operations/causes/schema.ts'
import type { StuckCase } from './scene.ts'

export type Report = z.output<typeof causeReportSchema>

/** One way to ask what is stuck. Throws what it throws. */
export type Question = () => Promise<Report>

/** Pause between two questions of the same kind, ms. */
const everyMs = 250

/** Whether the answer has the row of this case. @param where the place that it must name; undefined: any */
export function hasRow({ causes }: Report, { code }: Pick<StuckCase, 'code'>, where: string | undefined): boolean {
  return causes.some((cause) => cause.code === code && (where === undefined || cause.where.id === where))
}

/** Asks until the answer is so. Seconds until that answer was there; undefined: it was not within this time. */
export async function secondsUntil(ask: Question, isSo: (report: Report) => boolean, withinMs: number): Promise<number | undefined> {
  const begun = performance.now()
  while (performance.now() - begun < withinMs) {
    const report = await ask().catch(() => undefined)
    if (report && isSo(report)) return Math.round((performance.now() - begun) / 100) / 10
    await sleep(everyMs)
  }
  return undefined
}
