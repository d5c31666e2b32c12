import type { WorkflowExecutionInfo } from '@temporalio/client'
import { type Traffic, trafficOf, type TransferTraffic, trafficWindow } from '../../../domain/transfer/traffic.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { keptRead } from '../../../runtime/shared-read.ts'
import { rethrowAs } from '../connection/errors.ts'
import { toRow } from './transfer-list.ts'
import { running, transfersWith } from './transfer-queries.ts'

export const trafficMinutes = [5, 60, 360, 1_440] as const
export type TrafficMinutes = (typeof trafficMinutes)[number]

/** Of open transfers, and of ended ones in the first reading: the newest. */
const mostListed = 2_000
const mostKept = 50_000
/** The server may list an end this much later, ms. */
const lateMs = 30_000
/** All callers share a reading for this time, ms. */
const everyMs = 4_000
const timeoutMs = 10_000

export interface TrafficReport extends Traffic {
  /** ISO 8601. */
  readonly asOf: string
  readonly minutes: TrafficMinutes
  readonly stepMs: number
  readonly open: number
  /** `open` and the routes cover only the newest. */
  readonly isOpenCut: boolean
  /** ISO 8601: earlier ends are not counted. Absent: the window is complete. */
  readonly endedSince?: string
}

interface Reading {
  readonly at: number
  readonly open: readonly TransferTraffic[]
  readonly isOpenCut: boolean
}

/** All callers share a reading; each ended transfer is read once. Throws TEMPORAL_UNAVAILABLE. */
export function createTrafficReader(client: TemporalClient): { read(minutes: TrafficMinutes): Promise<TrafficReport> } {
  const ended = new EndedTransfers()
  const readLists = async (): Promise<Reading> => {
    const at = Date.now()
    const open = await listed(client, transfersWith({}, running))
    await ended.readMore(client, at)
    return { at, open: open.map(toSample), isOpenCut: open.length >= mostListed }
  }
  const reading = keptRead(readLists, { fromAnswer: (answer) => (answer ? answer.at + everyMs - Date.now() : 0) })

  return {
    async read(minutes) {
      const { at, open, isOpenCut } = await reading().catch(rethrowAs({}))
      const window = trafficWindow(minutes, at)
      const since = ended.completeSince
      return {
        ...{ asOf: new Date(at).toISOString(), minutes, stepMs: window.stepMs, open: open.length, isOpenCut },
        ...(since > window.from && { endedSince: new Date(since).toISOString() }),
        ...trafficOf([...open, ...ended.samples], window),
      }
    },
  }
}

class EndedTransfers {
  readonly #samples = new Map<string, TransferTraffic & { readonly closedAt: number }>()
  #readUntil = 0
  /** ms since the epoch. */
  completeSince = 0

  get samples(): Iterable<TransferTraffic> {
    return this.#samples.values()
  }

  async readMore(client: TemporalClient, now: number): Promise<void> {
    const oldest = now - Math.max(...trafficMinutes) * 60_000
    const from = Math.max(oldest, this.#readUntil - lateMs)
    const condition = `ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew' AND CloseTime >= '${new Date(from).toISOString()}'`
    const runs = await listed(client, transfersWith({}, condition))
    for (const run of runs) {
      const sample = toSample(run)
      if (sample.closedAt !== undefined) this.#samples.set(run.runId, { ...sample, closedAt: sample.closedAt })
    }
    if (runs.length >= mostListed) this.completeSince = Math.min(...runs.map(({ closeTime }) => closeTime?.getTime() ?? now))
    else if (this.completeSince < from && this.#readUntil === 0) this.completeSince = from
    this.#readUntil = now
    this.#forget(oldest)
  }

  #forget(oldest: number): void {
    for (const [run, { closedAt }] of this.#samples) if (closedAt < oldest) this.#samples.delete(run)
    if (this.#samples.size <= mostKept) return
    const beyond = [...this.#samples].toSorted(([, a], [, b]) => b.closedAt - a.closedAt).slice(mostKept)
    for (const [run, { closedAt }] of beyond) {
      this.#samples.delete(run)
      this.completeSince = Math.max(this.completeSince, closedAt)
    }
  }
}

function listed(client: TemporalClient, query: string): Promise<WorkflowExecutionInfo[]> {
  return within(client, timeoutMs, () => listWorkflows(client, query, { most: mostListed }))
}

function toSample(info: WorkflowExecutionInfo): TransferTraffic {
  const { bridge, sourceChain, targetChain, state, startedAt } = toRow(info)
  const { status, closeTime } = info
  const isUndone = closeTime !== undefined && status.name !== 'COMPLETED'
  return {
    bridge: nameOf(bridge),
    source: nameOf(sourceChain),
    target: nameOf(targetChain),
    state: isUndone ? 'undone' : (state ?? 'admitting'),
    startedAt: Date.parse(startedAt),
    ...(closeTime && { closedAt: closeTime.getTime() }),
  }
}

/** A longer name was written by a stranger. */
function nameOf(text: string | undefined): string {
  return (text ?? '').slice(0, 64)
}
