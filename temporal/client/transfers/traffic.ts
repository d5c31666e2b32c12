import type { WorkflowExecutionInfo } from '@temporalio/client'
import { trafficOf, type TransferTraffic, trafficWindow } from '../../../domain/transfer/traffic.ts'
import type { TemporalClient } from '../connection/client.ts'
import { keptRead } from '../../../runtime/shared-read.ts'
import { lateMs, listOpenAndEnded, mostListed } from './transfer-changes.ts'
import { toRow } from './transfer-list.ts'

export const trafficMinutes = [5, 60, 360, 1_440] as const
type TrafficMinutes = (typeof trafficMinutes)[number]
const longestMs = Math.max(...trafficMinutes) * 60_000

const mostKept = 50_000
const everyMs = 4_000

/** Reads Temporal's lists at most once every 4 s, and keeps ended transfers. `read` throws TEMPORAL_UNAVAILABLE. */
export function createTrafficReader(client: TemporalClient) {
  const ended = new EndedTransfers()
  const readLists = async () => {
    const [at, begun] = [Date.now(), performance.now()]
    const lists = await listOpenAndEnded(client, ended.neededSince(at))
    ended.add(lists.ended, at)
    return { at, begun, open: lists.open.map(toSample), isOpenCut: lists.open.length >= mostListed }
  }
  const reading = keptRead(readLists, { fromAnswer: (answer) => (answer ? answer.begun + everyMs - performance.now() : 0) })

  return {
    /** `asOf` and `endedSince` are ISO 8601. If `isOpenCut` is true, only the newest open transfers are counted. */
    async read(minutes: TrafficMinutes) {
      const { at, open, isOpenCut } = await reading()
      const window = trafficWindow(minutes, at)
      const since = ended.completeSince
      return {
        ...{ asOf: new Date(at).toISOString(), minutes, stepMs: window.stepMs, open: open.length, isOpenCut },
        // Transfers that ended before `endedSince` are not counted.
        ...(since > window.from && { endedSince: new Date(since).toISOString() }),
        ...trafficOf([...open, ...ended.samples], window),
      }
    },
  }
}

class EndedTransfers {
  readonly #samples = new Map<string, TransferTraffic & { readonly closedAt: number }>()
  #readUntil = 0
  /** ms since the epoch. `samples` has all transfers that ended since then. */
  completeSince = 0

  get samples(): Iterable<TransferTraffic> {
    return this.#samples.values()
  }

  neededSince(now: number): number {
    return Math.max(now - longestMs, this.#readUntil - lateMs)
  }

  add(runs: readonly WorkflowExecutionInfo[], now: number): void {
    const from = this.neededSince(now)
    for (const run of runs) {
      const sample = toSample(run)
      if (sample.closedAt !== undefined) this.#samples.set(run.runId, { ...sample, closedAt: sample.closedAt })
    }
    if (runs.length >= mostListed) this.completeSince = Math.min(...runs.map(({ closeTime }) => closeTime?.getTime() ?? now))
    else if (this.completeSince < from && this.#readUntil === 0) this.completeSince = from
    this.#readUntil = now
    this.#forget(now - longestMs)
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

function nameOf(text: string | undefined): string {
  return (text ?? '').slice(0, 64)
}
