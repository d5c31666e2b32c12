import type { ChainName } from '../../domain/transfer/transfer.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { type OpenKind, type OpenTransfer, openTransfers } from '../../temporal/client/transfers/open-transfers.ts'
import { describePendingWork } from '../../temporal/client/visibility/pending-work.ts'
import { statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import type { FailingWorkflow, TransferFacts } from './facts.ts'
import { limits } from './read.ts'

/** Most transfers of each kind that are listed; of those that are asked, and how many at once; how long one may take, ms. */
const most = { listed: 1_000, asked: 40, atOnce: 20, askMs: 2_500 } as const
/** A step of a transfer takes less than this where nothing is wrong, ms: what began later is not looked at. */
const freshMs = 2_000
/** A task of a workflow that was tried so often fails, or is taken and not answered. */
export const triesUntilFailing = 3
/** How far back declined transfers are told, ms. */
const declinedMs = 24 * 3_600_000

/** What the transfers tell. `served`: by target chain, how many were asked by a query, and how many were answered. */
export interface TransfersRead {
  readonly transfers: readonly TransferFacts[]
  readonly declined: readonly TransferFacts[]
  readonly failing: readonly FailingWorkflow[]
  readonly served: ReadonlyMap<ChainName, { readonly asked: number; readonly answered: number }>
}

/**
 * Three lists of the visibility store, and one more where there are deny rules; three counts at most; and two calls for each of the transfers that say most: those
 * without a code, those that are in a step for long, and some of each chain. Throws what the Temporal client throws.
 */
export async function readTransfers(client: TemporalClient, hasDenyRules: Promise<boolean>): Promise<TransfersRead> {
  const now = Date.now()
  const list = (kind: OpenKind, when: { before?: number; since?: number } = {}) =>
    within(client, limits.temporalMs, () => openTransfers(client, kind, { most: most.listed, ...when }))
  const [parked, waiting, moving, declined] = await Promise.all([
    list('parked'),
    list('waiting'),
    list('moving', { before: now - freshMs }),
    hasDenyRules.then((has) => (has ? list('declined', { since: now - declinedMs }) : undefined)),
  ])
  const open = [...parked.listed, ...waiting.listed, ...moving.listed]
  const asked = await mapLimited(worthAsking(open), most.atOnce, (transfer) => ask(client, transfer))
  const told = new Map(asked.map((one) => [one.transfer.runId, one]))
  return {
    transfers: open.map((transfer) => told.get(transfer.runId)?.transfer ?? transfer).filter(({ state }) => state !== 'delivered'),
    declined: declined?.listed ?? [],
    failing: asked.flatMap(({ failing }) => failing ?? []),
    served: servedOf(asked),
  }
}

/** The oldest of each group: by target chain, state and code. One that is parked or waits with a code is asked only for its chain's sake. */
function worthAsking(open: readonly OpenTransfer[]): OpenTransfer[] {
  const groups = new Map<string, OpenTransfer[]>()
  for (const transfer of open.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const { targetChain, state, code } = transfer
    const key = JSON.stringify([targetChain, state, code])
    groups.set(key, [...(groups.get(key) ?? []), transfer])
  }
  // One of each group, then the next of each, so that no group hides another.
  const places = [...groups.values()]
  const wanted: OpenTransfer[] = []
  for (let place = 0; wanted.length < most.asked && places.some((group) => group.length > place); place++) {
    for (const group of places) {
      const one = group[place]
      if (one && (place === 0 || one.code === undefined) && wanted.length < most.asked) wanted.push(one)
    }
    if (place >= most.asked) break
  }
  return wanted
}

interface Asked {
  readonly transfer: TransferFacts
  readonly isAnswered: boolean
  readonly failing?: FailingWorkflow
}

async function ask(client: TemporalClient, transfer: OpenTransfer): Promise<Asked> {
  const { workflowId, runId } = transfer
  const [status, work] = await Promise.all([
    statusOf(client, { id: workflowId, runId, running: true }, most.askMs).catch(() => undefined),
    within(client, most.askMs, () => describePendingWork(client, transfer)).catch(() => undefined),
  ])
  const code = status?.code ?? work?.activity?.code ?? transfer.code
  const failure = status?.reason ?? work?.activity?.message
  const inStateSince = status && status.timeline.findLast(({ state }, index, all) => all[index - 1]?.state !== state)?.at
  const isFailing = work !== undefined && work.taskTries >= triesUntilFailing
  return {
    transfer: {
      ...transfer,
      ...(status && { state: status.state }),
      ...(status?.lane !== undefined && { lane: status.lane }),
      ...(code !== undefined && { code }),
      ...(failure !== undefined && { failure }),
      ...(inStateSince !== undefined && { inStateSince }),
    },
    isAnswered: status !== undefined,
    ...(isFailing && {
      failing: { workflow: workflowId, tries: work.taskTries, ...(work.taskSince !== undefined && { since: work.taskSince }) },
    }),
  }
}

/** A transfer whose own task fails says nothing about its chain's workers. */
function servedOf(asked: readonly Asked[]): Map<ChainName, { asked: number; answered: number }> {
  const served = new Map<ChainName, { asked: number; answered: number }>()
  for (const { transfer, isAnswered, failing } of asked) {
    if (failing && !isAnswered) continue
    const { asked: before, answered } = served.get(transfer.targetChain) ?? { asked: 0, answered: 0 }
    served.set(transfer.targetChain, { asked: before + 1, answered: answered + Number(isAnswered) })
  }
  return served
}
