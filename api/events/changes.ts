import type { CauseReport } from '../../operations/causes/collect.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { createTransferWatch } from '../../temporal/client/transfers/transfer-changes.ts'
import type { News, Poll } from './feed.ts'

/** Interval between reads of the causes (ms), which is long because each read calls every node. */
const causesEveryMs = 5_000

export function createChanges(client: TemporalClient, readCauses: () => Promise<Pick<CauseReport, 'causes'>>): Poll {
  const transfers = createTransferWatch(client)
  let isReady = false
  const pollTransfers = quietly('transfers', async () => {
    const { changed, isCut } = await transfers.look()
    const begins = isReady ? [] : [{ type: 'ready', data: { what: 'transfers' } }]
    isReady = true
    const news = changed.map((row): News => ({ type: 'transfer', data: { ...row } }))
    return [...begins, ...news, ...(isCut ? [{ type: 'cut', data: { what: 'transfers' } }] : [])]
  })
  // Causes are read in the background, because nodes that do not answer would delay the events of transfers.
  const pollCauses = inBackground(quietly('causes', causeChanges(readCauses)), causesEveryMs)
  return async () => [...(await pollTransfers()), ...(await pollCauses())]
}

/** The poll's first answer is only `ready`. Later answers have the causes that began, changed or ended. */
export function causeChanges(readCauses: () => Promise<Pick<CauseReport, 'causes'>>): Poll {
  let known: ReadonlyMap<string, Cause> | undefined
  return async () => {
    const { causes } = await readCauses()
    const before = known
    const now = new Map(causes.map((cause) => [`${cause.code} ${cause.where.kind} ${cause.where.id}`, cause]))
    known = now
    if (!before) return [{ type: 'ready', data: { what: 'causes' } }]
    const changed = [...now].filter(([key, cause]) => markOf(before.get(key)) !== markOf(cause))
    const ended = [...before].filter(([key]) => !now.has(key))
    return [
      ...changed.map(([, cause]): News => ({ type: 'cause', data: { ...cause } })),
      ...ended.map(([, { code, where }]): News => ({ type: 'cause-ended', data: { code, where } })),
    ]
  }
}

/** Texts are not compared, because they contain heights and ages, which change at every read. */
function markOf(cause: Cause | undefined): string | undefined {
  return cause && `${cause.count} ${cause.examples.join(' ')}`
}

/**
 * The returned poll does not wait: it returns the news of polls that have ended. `poll` must never throw, because no
 * other poll would follow.
 */
function inBackground(poll: Poll, everyMs: number): Poll {
  const found: News[] = []
  let isReading = false
  let readAt = -Infinity
  return async () => {
    if (!isReading && performance.now() - readAt >= everyMs) {
      isReading = true
      readAt = performance.now()
      void poll().then((news) => {
        found.push(...news)
        isReading = false
      })
    }
    return found.splice(0)
  }
}

/** Turns errors into news: `away` at the first error of `poll`, and `back` when `poll` works again. */
function quietly(what: string, poll: Poll): Poll {
  let failed = false
  return async () => {
    try {
      const news = await poll()
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
