import { type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { listPage } from '../visibility/memos.ts'
import { transfersWith } from './transfer-queries.ts'

/** Transfers that are looked through, the newest. */
const mostScanned = 10_000
const pageSize = 1_000
const timeoutMs = 10_000
/** All who look within so long read the same pages, ms: whoever asks for ids that do not exist causes no more than one reading of the list in this time. */
const keptMs = 2_000
/** Lists by different conditions that are kept at a time. */
const mostLists = 4

interface Page {
  readonly ids: readonly string[]
  readonly next: Uint8Array | undefined
}

interface RecentList {
  readonly until: number
  readonly pages: Promise<Page>[]
}

const listsOf = new WeakMap<TemporalClient, Map<string, RecentList>>()

/**
 * The ids of the newest transfers with these conditions, page by page as they are wanted; an id that was started again comes once for each run. Throws
 * TEMPORAL_UNAVAILABLE.
 */
export async function* recentIds(client: TemporalClient, conditions: readonly string[] = []): AsyncGenerator<readonly string[]> {
  const query = transfersWith({}, `ExecutionStatus != 'ContinuedAsNew'`, ...conditions)
  const { pages } = listOf(client, query)
  let token: Uint8Array | undefined
  for (let index = 0; index < mostScanned / pageSize; index++) {
    const page = await (pages[index] ??= readPage(client, query, token))
    yield page.ids
    token = page.next
    if (!token) return
  }
}

function listOf(client: TemporalClient, query: string): RecentList {
  const lists = listsOf.get(client) ?? new Map<string, RecentList>()
  listsOf.set(client, lists)
  const now = performance.now()
  for (const [key, { until }] of lists) if (until <= now) lists.delete(key)
  const known = lists.get(query)
  if (known) return known
  const [oldest] = lists.keys()
  if (lists.size >= mostLists && oldest !== undefined) lists.delete(oldest)
  const list = { until: now + keptMs, pages: [] }
  lists.set(query, list)
  return list
}

async function readPage(client: TemporalClient, query: string, token: Uint8Array | undefined): Promise<Page> {
  try {
    const { runs, next } = await within(client, timeoutMs, () => listPage(client, { query, pageSize, token }))
    return { ids: runs.map(({ workflowId }) => workflowId), next }
  } catch (error) {
    // Nobody else is to get this failure.
    listsOf.get(client)?.delete(query)
    return rethrowAs({})(error)
  }
}
