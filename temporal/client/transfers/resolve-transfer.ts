import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { listPageOfIds } from '../visibility/memos.ts'
import type { RunId } from '../visibility/runs.ts'
import { quoted, transfersWith } from './transfer-queries.ts'

export type MessagePlace = Pick<Transfer, 'bridge' | 'sourceId' | 'emitter' | 'sequence'>

export interface KnownPlaces {
  /** All ids of a chain: its name, and its number in each protocol. Absent: only the given id. */
  readonly sourceIds?: ((chain: string) => readonly string[]) | undefined
  readonly placesOf?: ((txHash: string) => Promise<readonly MessagePlace[]>) | undefined
  readonly gate?: (<Answer>(read: () => Promise<Answer>) => Promise<Answer>) | undefined
}

const longestText = 1_000
const timeoutMs = 10_000
/** Maximum number of runs that a search reads, newest first. */
const mostScanned = 10_000
const pageSize = 1_000
/** Searches share pages, so that many unknown ids cause only one search. */
const sharedMs = 2_000
const mostLists = 4
const mostNamed = 10
/** Minimum number of digits. Fewer digits would match too many transfers. */
const leastDigits = 4

const hash = /^(0x)?[0-9a-f]{64}$/i
const numbered = /^(.+)[:/]([^:/]+)[:/]([0-9]{1,20})$/

/**
 * Accepts an id, its beginning or its last part, a transaction hash, a digest, `sequence:digest`,
 * `chain/emitter/sequence`, `source:target:nonce` or `chain/sequence`. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS
 * with candidates, TEMPORAL_UNAVAILABLE, and the errors of `known.gate`.
 */
export async function resolveTransfer(client: TemporalClient, text: string, known: KnownPlaces = {}): Promise<string> {
  const given = text.trim()
  // Ids consist of these characters only. Errors must not contain other characters.
  if (given === '' || given.length > longestText || !/^[\w.:/-]+$/.test(given)) throw notFound(given)
  if (await isTransfer(client, given)) return given
  const { gate = (read) => read() } = known
  return gate(() => search(client, given, known))
}

async function search(client: TemporalClient, given: string, known: KnownPlaces): Promise<string> {
  for (const find of finders(client, given, known)) {
    const found = [...new Set(await find())]
    const [id, ...more] = found
    if (id !== undefined && more.length === 0) return id
    const candidates = found.slice(0, mostNamed).join(', ')
    if (id !== undefined) throw new RelayerError('TRANSFER_AMBIGUOUS', { facts: { transfer: given, count: found.length, candidates } })
  }
  throw notFound(given)
}

function finders(client: TemporalClient, given: string, known: KnownPlaces): (() => Promise<readonly string[]>)[] {
  if (hash.test(given)) {
    const digits = given.replace(/^0x/i, '').toLowerCase()
    return [
      () => withConditions(client, `TxHash = ${quoted(`0x${digits}`)}`),
      async () => {
        const places = (await known.placesOf?.(`0x${digits}`)) ?? []
        const starts = places.map(({ bridge, sourceId, emitter, sequence }) => [bridge, sourceId, emitter, sequence, ''].join(':'))
        return (await Promise.all(starts.map((start) => beginningWith(client, start)))).flat()
      },
      () => scan(client, ({ last }) => last === digits.slice(0, 16)),
    ]
  }
  return [
    () => ofPlace(client, given, known),
    () => beginningWith(client, given),
    () => scan(client, (parts) => endsWith(parts, given.toLowerCase())),
  ]
}

function endsWith({ sequence, last }: IdParts, given: string): boolean {
  const [first = '', second] = given.split(/[:/]/)
  if (second !== undefined) return first === sequence && second.length >= leastDigits && last.startsWith(second)
  return first === sequence || (first.length >= leastDigits && last.startsWith(first))
}

async function ofPlace(client: TemporalClient, given: string, { sourceIds }: KnownPlaces): Promise<readonly string[]> {
  const [, source, number] = /^([^:/]+)\/([0-9]{1,20})$/.exec(given) ?? []
  if (source !== undefined) {
    const ids = new Set([source, ...(sourceIds?.(source) ?? [])])
    return scan(client, (parts) => ids.has(parts.sourceId) && parts.sequence === number)
  }
  const [, chain, middle, sequence] = numbered.exec(given) ?? []
  if (chain === undefined || middle === undefined || sequence === undefined) return []
  if (/^(0x)?([0-9a-f]{40}|[0-9a-f]{64})$/i.test(middle)) {
    const emitter = middle.replace(/^0x/i, '').toLowerCase().padStart(64, '0')
    const ids = new Set([chain, ...(sourceIds?.(chain) ?? [])])
    return scan(client, (parts) => ids.has(parts.sourceId) && parts.emitter === emitter && parts.sequence === sequence)
  }
  const names = [`SourceChain = ${quoted(chain)}`, `TargetChain = ${quoted(middle)}`]
  return scan(client, (parts) => parts.sequence === sequence, names)
}

function beginningWith(client: TemporalClient, start: string): Promise<readonly string[]> {
  return withConditions(client, `WorkflowId STARTS_WITH ${quoted(start)}`)
}

async function withConditions(client: TemporalClient, ...conditions: readonly string[]): Promise<readonly string[]> {
  const query = transfersWith({}, ...conditions)
  const { runs } = await within(client, timeoutMs, () => listPageOfIds(client, { query, pageSize: 100 })).catch(rethrowAs({}))
  return runs.map(({ workflowId }) => workflowId)
}

type IdParts = Omit<MessagePlace, 'bridge'> & { readonly last: string }

async function scan(
  client: TemporalClient,
  isWanted: (parts: IdParts) => boolean,
  conditions: readonly string[] = [],
): Promise<readonly string[]> {
  const found: string[] = []
  for await (const runs of recentRuns(client, conditions)) {
    for (const { workflowId: id } of runs) {
      const [, sourceId = '', emitter = '', sequence = '', last = ''] = id.split(':')
      if (isWanted({ sourceId, emitter, sequence, last })) found.push(id)
    }
    if (found.length > mostNamed) break
  }
  return found
}

const listsOf = new WeakMap<TemporalClient, LRUCache<string, ReturnType<typeof listPageOfIds>[]>>()

async function* recentRuns(client: TemporalClient, conditions: readonly string[]): AsyncGenerator<readonly RunId[]> {
  const query = transfersWith({}, `ExecutionStatus != 'ContinuedAsNew'`, ...conditions)
  const lists = listsOf.get(client) ?? new LRUCache({ max: mostLists, ttl: sharedMs })
  listsOf.set(client, lists)
  const pages = lists.get(query) ?? []
  if (!lists.has(query)) lists.set(query, pages)
  let token: Uint8Array | undefined
  for (let index = 0; index < mostScanned / pageSize; index++) {
    const read = () => listPageOfIds(client, { query, pageSize, token })
    const page = await (pages[index] ??= within(client, timeoutMs, read)).catch((error: unknown) => {
      lists.delete(query)
      return rethrowAs({})(error)
    })
    yield page.runs
    token = page.next
    if (!token) return
  }
}

async function isTransfer(client: TemporalClient, id: string): Promise<boolean> {
  const describe = () => client.workflow.getHandle(id).describe()
  const run = await within(client, timeoutMs, describe).catch(ifGone(undefined)).catch(rethrowAs({}))
  return run?.type === 'transfer'
}

function notFound(transfer: string): RelayerError {
  return new RelayerError('TRANSFER_NOT_FOUND', { facts: { transfer: transfer.slice(0, 200).replaceAll(/[^\w.:/-]/g, '?') } })
}
