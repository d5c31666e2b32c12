import type { ChainName } from '../../domain/transfer/transfer.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { type OpenKind, type OpenTransfer, openTransfers } from '../../temporal/client/transfers/open-transfers.ts'
import { describePendingWork } from '../../temporal/client/visibility/pending-work.ts'
import { statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import type { FailingWorkflow, TransferFacts } from './facts.ts'
import { limits } from './read.ts'

const most = { listed: 1_000, asked: 40, atOnce: 20, askMs: 2_500 } as const
/** ms: transfers that began later are left out. */
const freshMs = 2_000
/** Tries of a workflow's task that fails or gets no answer. */
export const triesUntilFailing = 3
/** ms. */
const declinedMs = 24 * 3_600_000

/** `served`: by target chain. */
export interface TransfersRead {
  readonly transfers: readonly TransferFacts[]
  readonly declined: readonly TransferFacts[]
  readonly failing: readonly FailingWorkflow[]
  readonly served: ReadonlyMap<ChainName, { readonly asked: number; readonly answered: number }>
}

/** Up to four lists and three counts, two calls for each of the most informative. Throws as the client. */
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
  const answers = new Map(asked.map((one) => [one.transfer.runId, one]))
  return {
    transfers: open.map((transfer) => answers.get(transfer.runId)?.transfer ?? transfer).filter(({ state }) => state !== 'delivered'),
    declined: declined?.listed ?? [],
    failing: asked.flatMap(({ failing }) => failing ?? []),
    served: servedOf(asked),
  }
}

/** The oldest by target chain, state and code. One with a code only shows that its chain is served. */
function worthAsking(open: readonly OpenTransfer[]): OpenTransfer[] {
  const groups = new Map<string, OpenTransfer[]>()
  for (const transfer of open.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const { targetChain, state, code } = transfer
    const key = JSON.stringify([targetChain, state, code])
    groups.set(key, [...(groups.get(key) ?? []), transfer])
  }
  // Round robin: no group hides another.
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

/** A failing task proves nothing about the workers of its chain. */
function servedOf(asked: readonly Asked[]): Map<ChainName, { asked: number; answered: number }> {
  const served = new Map<ChainName, { asked: number; answered: number }>()
  for (const { transfer, isAnswered, failing } of asked) {
    if (failing && !isAnswered) continue
    const { asked: before, answered } = served.get(transfer.targetChain) ?? { asked: 0, answered: 0 }
    served.set(transfer.targetChain, { asked: before + 1, answered: answered + Number(isAnswered) })
  }
  return served
}
