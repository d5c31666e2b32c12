import type { CauseReport } from '../../operations/causes/collect.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { createTransferWatch } from '../../temporal/client/transfers/transfer-changes.ts'
import type { FeedEvent } from './feed.ts'

type News = Omit<FeedEvent, 'id'>
type Look = () => Promise<readonly News[]>

/** Between two looks at the causes, ms: each asks every node. */
const causesEveryMs = 5_000

/**
 * Looks at what changes, for the feed: never throws. What cannot be read is told once, and once more when it can.
 * @param readCauses what `GET /v1/stuck` answers with
 */
export function createLooks(client: TemporalClient, readCauses: () => Promise<Pick<CauseReport, 'causes'>>): Look {
  const transfers = createTransferWatch(client)
  let isReady = false
  const lookAtTransfers = quietly('transfers', async () => {
    const { changed, isCut } = await transfers.look()
    const begins = isReady ? [] : [{ type: 'ready', data: { what: 'transfers' } }]
    isReady = true
    const news = changed.map((row): News => ({ type: 'transfer', data: { ...row } }))
    return [...begins, ...news, ...(isCut ? [{ type: 'cut', data: { what: 'transfers' } }] : [])]
  })
  // Nodes that do not answer must not hold up what Temporal tells.
  const lookAtCauses = inBackground(quietly('causes', causeChanges(readCauses)), causesEveryMs)
  return async () => [...(await lookAtTransfers()), ...(await lookAtCauses())]
}

/** What began, changed or ended among the causes since the look before; the first one only remembers, and says so. */
export function causeChanges(readCauses: () => Promise<Pick<CauseReport, 'causes'>>): Look {
  let known: ReadonlyMap<string, { readonly cause: Cause; readonly mark: string }> | undefined
  return async () => {
    const { causes } = await readCauses()
    const before = known
    const now = new Map(causes.map((cause) => [keyOf(cause), { cause, mark: markOf(cause) }]))
    known = now
    if (!before) return [{ type: 'ready', data: { what: 'causes' } }]
    const changed = [...now].filter(([key, { mark }]) => before.get(key)?.mark !== mark)
    const ended = [...before].filter(([key]) => !now.has(key))
    return [
      ...changed.map(([, { cause }]): News => ({ type: 'cause', data: { ...cause } })),
      ...ended.map(([, { cause }]): News => ({ type: 'cause-ended', data: { code: cause.code, where: cause.where } })),
    ]
  }
}

function keyOf({ code, where }: Cause): string {
  return `${code} ${where.kind} ${where.id}`
}

/** Not when it was read, nor the sentence, in which heights and ages go on. */
function markOf({ count, examples }: Cause): string {
  return `${count} ${examples.join(' ')}`
}

/** Gives what the look before this has found, and begins the next one when it is due. @param look never throws */
function inBackground(look: Look, everyMs: number): Look {
  const found: News[] = []
  let isLooking = false
  let lookedAt = -Infinity
  return async () => {
    if (!isLooking && performance.now() - lookedAt >= everyMs) {
      isLooking = true
      lookedAt = performance.now()
      void look().then((news) => {
        found.push(...news)
        isLooking = false
      })
    }
    return found.splice(0)
  }
}

function quietly(what: string, look: Look): Look {
  let failed = false
  return async () => {
    try {
      const news = await look()
      const isBack = failed
      failed = false
      return isBack ? [{ type: 'back', data: { what } }, ...news] : news
    } catch (error) {
      const { code, message } = toRelayerError(error)
      const isFirst = !failed
      failed = true
      return isFirst ? [{ type: 'away', data: { what, code, detail: redactText(message) } }] : []
    }
  }
}
