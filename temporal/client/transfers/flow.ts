import type { WorkflowExecutionInfo } from '@temporalio/client'
import { type Flow, flowOf, type FlowTransfer, flowWindow } from '../../../domain/transfer/flow.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { toRow } from './transfer-list.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** The windows that can be asked for, minutes. */
export const flowMinutes = [5, 60, 360, 1_440] as const
export type FlowMinutes = (typeof flowMinutes)[number]

/** Open transfers that are looked at, the newest first, and as many that have ended at the first look. */
const mostListed = 2_000
/** Ended ones that are remembered, the newest. */
const mostKept = 50_000
/** The list of the server may show a run some seconds after it has ended, ms. */
const lateMs = 30_000
/** Between two looks, whoever asks, ms: a look is a list of open and one of ended transfers. */
const everyMs = 4_000
const timeoutMs = 10_000

/** What moves between the chains, as the server's lists show it. */
export interface FlowReport extends Flow {
  /** When the lists were read, ISO 8601. */
  readonly asOf: string
  readonly minutes: FlowMinutes
  /** ms. */
  readonly stepMs: number
  readonly open: number
  /** More are open than are listed: `open` and the counts of the routes are of the newest. */
  readonly isOpenCut: boolean
  /** Later than the window begins: what ended before this was not listed, ISO 8601. Absent: the window is complete. */
  readonly endedSince?: string
}

interface Look {
  readonly at: number
  readonly open: readonly FlowTransfer[]
  readonly isOpenCut: boolean
}

/**
 * Counts and times of the transfers of a namespace. Asks the server at most every few seconds for all who ask here; what has ended is asked for once. Throws
 * TEMPORAL_UNAVAILABLE.
 */
export function createFlowReader(client: TemporalClient): { read(minutes: FlowMinutes): Promise<FlowReport> } {
  const ended = new EndedTransfers()
  let last: Look | undefined
  let looking: Promise<Look> | undefined

  const look = async (): Promise<Look> => {
    const at = Date.now()
    const open = await listed(client, transfersWith({}, running))
    await ended.readMore(client, at)
    return { at, open: open.map(toSample), isOpenCut: open.length >= mostListed }
  }
  const lookOnce = (): Promise<Look> => {
    looking ??= look().finally(() => (looking = undefined))
    return looking
  }

  return {
    async read(minutes) {
      if (!last || Date.now() - last.at >= everyMs) last = await lookOnce().catch(rethrowAs({}))
      const { at, open, isOpenCut } = last
      const window = flowWindow(minutes, at)
      const since = ended.completeSince
      return {
        ...{ asOf: new Date(at).toISOString(), minutes, stepMs: window.stepMs, open: open.length, isOpenCut },
        ...(since > window.from && { endedSince: new Date(since).toISOString() }),
        ...flowOf([...open, ...ended.samples], window),
      }
    },
  }
}

/** The transfers that ended within the longest window, each read once. */
class EndedTransfers {
  readonly #samples = new Map<string, FlowTransfer & { readonly closedAt: number }>()
  #readUntil = 0
  /** All that ended later is here, ms since the epoch. */
  completeSince = 0

  get samples(): Iterable<FlowTransfer> {
    return this.#samples.values()
  }

  /** Reads what has ended since the last time. Throws what the Temporal client throws. */
  async readMore(client: TemporalClient, now: number): Promise<void> {
    const oldest = now - Math.max(...flowMinutes) * 60_000
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

function toSample(info: WorkflowExecutionInfo): FlowTransfer {
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

/** Names of chains and bridges are shorter; a longer one is somebody's own. */
function nameOf(text: string | undefined): string {
  return (text ?? '').slice(0, 64)
}
