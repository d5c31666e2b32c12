import { toRelayerError } from '../../domain/errors.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { createTransferWatch } from '../../temporal/client/transfer-changes.ts'
import type { FeedEvent } from './feed.ts'

type News = Omit<FeedEvent, 'id'>

/** Looks at what changes, for the feed: never throws. What cannot be read is told once, and once more when it can. */
export function createLooks(client: TemporalClient): () => Promise<readonly News[]> {
  const transfers = createTransferWatch(client)
  return quietly('transfers', async () => {
    const { changed, isCut } = await transfers.look()
    const news = changed.map((row): News => ({ type: 'transfer', data: { ...row } }))
    return isCut ? [...news, { type: 'cut', data: { what: 'transfers' } }] : news
  })
}

function quietly(what: string, look: () => Promise<readonly News[]>): () => Promise<readonly News[]> {
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
