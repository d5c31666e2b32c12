import { defined } from '../../domain/defined.ts'
import { anyText, type Check, fields, listOf, oneOf, optional, time } from '../../domain/field-checks.ts'
import { feeLimits } from '../../domain/fees/fees.ts'
import { type ChainName, transferStates } from '../../domain/transfer/transfer.ts'
import { groupBy } from '../../domain/group-by.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { limited, UnparsedAnswer } from '../../temporal/client/connection/answer-limits.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { type OpenKind, type OpenTransfer, openTransfers } from '../../temporal/client/transfers/open-transfers.ts'
import { statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import type { ServedFacts, TransferFacts } from './facts.ts'
import { failingOf, limits, pendingWork } from './read.ts'

const most = { listed: 1_000, asked: 40, atOnce: 20, askMs: 2_500 } as const
const freshMs = 2_000
const declinedMs = 24 * 3_600_000

export type TransfersRead = Awaited<ReturnType<typeof readTransfers>>

/**
 * Sends up to four queries for lists and four for counts, and two calls to each transfer that is asked. Throws the
 * errors of the client.
 */
export async function readTransfers(client: TemporalClient) {
  const now = Date.now()
  const list = (kind: OpenKind, when: { before?: number; since?: number } = {}) =>
    within(client, limits.temporalMs, () => openTransfers(client, kind, { most: most.listed, ...when }))
  const [parked, waiting, moving, declined] = await Promise.all([
    list('parked'),
    list('waiting'),
    list('moving', { before: now - freshMs }),
    list('declined', { since: now - declinedMs }),
  ])
  const open = [...parked.listed, ...waiting.listed, ...moving.listed]
  const reader = limited(client, 'others')
  const all = await mapLimited(worthAsking(open), most.atOnce, (transfer) => ask(reader, transfer))
  const asked = all.filter((one) => one !== undefined)
  const answers = new Map(asked.map((one) => [one.transfer.runId, one]))
  return {
    transfers: open.map((transfer) => answers.get(transfer.runId)?.transfer ?? transfer).filter(({ state }) => state !== 'delivered'),
    declined: declined.listed,
    failing: asked.flatMap(({ failing }) => failing ?? []),
    served: servedOf(asked),
    isCut: asked.length < all.length,
  }
}

/**
 * The transfers to ask: every transfer without an error code and, of transfers with the same target chain, state and
 * code, only the oldest.
 */
function worthAsking(open: readonly OpenTransfer[]): OpenTransfer[] {
  const oldestFirst = open.toSorted((a, b) => a.startedAt - b.startedAt)
  const groups = groupBy(oldestFirst, ({ targetChain, state, code }) => JSON.stringify([targetChain, state, code]))
  const wanted = [...groups.values()].flatMap((group) =>
    (group[0].code === undefined ? group : [group[0]]).map((transfer, place) => ({ transfer, place })),
  )
  const inTurn = wanted.toSorted((a, b) => a.place - b.place)
  return inTurn.slice(0, most.asked).map(({ transfer }) => transfer)
}

type Asked = NonNullable<Awaited<ReturnType<typeof ask>>>

/** Undefined: the answers of these transfers are too long together. */
async function ask(client: TemporalClient, transfer: OpenTransfer) {
  const { workflowId, runId } = transfer
  const [status, work] = await Promise.all([
    statusOf(client, { id: workflowId, runId, running: true }, most.askMs)
      .then(checkedStatus)
      .catch((error: unknown) => (error instanceof UnparsedAnswer ? error : undefined)),
    pendingWork(client, transfer, most.askMs),
  ])
  if (status instanceof UnparsedAnswer) return undefined
  const code = status?.code ?? work?.activity?.code ?? transfer.code
  const failure = status?.reason ?? (await work?.activity?.message())
  const facts: TransferFacts = {
    ...transfer,
    ...(status && statusFacts(status)),
    code,
    failure,
    ...(work?.activity && { tries: work.activity.tries }),
    ...(work && !status && { isSilent: true }),
    ...(work?.version !== undefined && { version: work.version }),
  }
  return { transfer: facts, isAnswered: status !== undefined, failing: failingOf(workflowId, work) }
}

function statusFacts({ state, lane, timeline, feeLimit, transfer: { terms } }: TransferStatus) {
  const inStateSince = timeline.findLast(({ state: then }, index, all) => all[index - 1]?.state !== then)?.at
  return { state, ...defined({ lane, inStateSince, feeLimit, chosenLane: terms?.lane }) }
}

/** Throws if the answer of a forged workflow lacks a field that is read here. */
function checkedStatus(status: TransferStatus): TransferStatus {
  isStatus(status, '')
  return status
}

const isStatus: Check = fields({
  state: oneOf(...transferStates),
  code: optional(anyText),
  reason: optional(anyText),
  feeLimit: optional(oneOf(...feeLimits)),
  lane: optional(anyText),
  timeline: listOf(fields({ state: anyText, at: time })),
  transfer: fields({ bridge: anyText, terms: optional(fields({ lane: optional(anyText) })) }),
} satisfies Partial<Record<keyof TransferStatus, Check>>)

/**
 * Counts the transfers that were asked and that answered, by chain. Leaves out transfers whose workflow task fails,
 * because they do not answer even if their chain has workers.
 */
function servedOf(asked: readonly Asked[]): Map<ChainName, Pick<ServedFacts, 'asked' | 'answered'>> {
  const counted = asked.filter(({ isAnswered, failing }) => isAnswered || !failing)
  const byChain = groupBy(counted, ({ transfer }) => transfer.targetChain)
  return new Map([...byChain].map(([chain, of]) => [chain, { asked: of.length, answered: of.filter((one) => one.isAnswered).length }]))
}
