import { type ErrorCode, type RelayerError, toRelayerError } from '../../../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../../domain/vaa.ts'
import type { SubmitResult } from '../../../submit/submitter.ts'
import type { Verdict } from '../../../../bridges/port.ts'
import type { SignedSource } from '../../../../bridges/source-port.ts'
import type { NumberStatus } from '../../number-status.ts'
import { type BlockedTransfer, blockedBy } from './blocked.ts'
import { deliveredByTarget } from './delivered-by-target.ts'
import type { SignedDeps } from '../deps.ts'

/**
 * The result for one missing number. started: its transfer runs, or was done, also long ago (`known`). delivered: the target shows it. ignored: a signed
 * message that Portage does not deliver. absent: no server that could be asked has a valid copy; `code` is that of the last refused copy. unknown: ask again;
 * `blocked`: its message is here, and this is why its transfer cannot be started. `publishedAt`: time of the message's block, ms since the epoch, by a copy whose
 * signatures are good.
 */
export type FetchOutcome =
  | { readonly kind: 'started'; readonly id: string; readonly status: SubmitResult['status']; readonly publishedAt?: number }
  | { readonly kind: 'delivered' | 'ignored'; readonly publishedAt?: number }
  | { readonly kind: 'absent'; readonly againInMs: number | undefined; readonly code: ErrorCode | undefined }
  | { readonly kind: 'unknown'; readonly againInMs: number; readonly why: string; readonly blocked?: BlockedTransfer }

/** The numbers that were found, with what is recorded of them. */
export function foundIn(outcomes: ReadonlyMap<string, FetchOutcome>): readonly (readonly [string, NumberStatus])[] {
  return [...outcomes].flatMap(([number, { kind }]) => (kind === 'absent' || kind === 'unknown' ? [] : [[number, kind] as const]))
}

/** By number, the last copy that was refused: which server had it, and why. */
type Refused = Map<string, { readonly api: number; readonly code: ErrorCode }>

/** Codes of messages that are not for Portage, by their bytes alone. */
const notOurs: readonly ErrorCode[] = ['PAYLOAD_KIND', 'PAYLOAD_LENGTH', 'TARGET_CHAIN_UNSUPPORTED', 'MESSAGE_TOO_LARGE']
const afterTroubleMs = 5_000

interface Copy {
  readonly number: string
  readonly vaa: Uint8Array
  /** The server that had it. */
  readonly api: number
  /** Absent: it is not for Portage, if its signatures are good. */
  readonly transfer?: Transfer
}

type Deps = Pick<SignedDeps, 'bridge' | 'submitter' | 'lookup'> & {
  readonly source: Pick<SignedSource, 'emitterChain' | 'emitter' | 'sourceChain' | 'withoutNode' | 'delivered'>
}

/**
 * Fetches the signed messages of these numbers and submits them, all at a time. A message that the target already shows starts nothing: the target
 * knows its digest, which needs no signature. After a refused copy the next server is asked, and each only once. A target whose nodes do not answer
 * keeps its own numbers `unknown`, and no others. Throws what is no outage.
 */
export async function fetchMissing(deps: Deps, numbers: readonly string[]): Promise<ReadonlyMap<string, FetchOutcome>> {
  const outcomes = new Map<string, FetchOutcome>()
  const refused: Refused = new Map()
  let left = numbers
  while (left.length > 0) {
    const copies = await findCopies(deps, left, refused, outcomes)
    const transfers = copies.flatMap(({ transfer }) => (transfer ? [transfer] : []))
    const { done, unread } = await deliveredByTarget(deps.source, transfers)
    for (const number of done) outcomes.set(number, { kind: 'delivered' })
    for (const { sequence, targetChain } of transfers) {
      const error = unread.get(sequence)
      if (error) outcomes.set(sequence, waiting(error, targetChain))
    }
    const entering = copies.filter(({ number }) => !done.has(number) && !unread.has(number))
    const results = await Promise.all(entering.map(async (copy) => [copy, await enter(deps, copy)] as const))
    for (const [{ number, api }, result] of results)
      if ('refusedAs' in result) refused.set(number, { api, code: result.refusedAs })
      else outcomes.set(number, result)
    left = entering.map(({ number }) => number).filter((number) => !outcomes.has(number))
  }
  return outcomes
}

async function findCopies(
  { source, bridge, lookup }: Deps,
  numbers: readonly string[],
  refused: Refused,
  outcomes: Map<string, FetchOutcome>,
): Promise<Copy[]> {
  const { emitterChain: chain, emitter } = source
  const copies = await Promise.all(
    numbers.map(async (number): Promise<Copy[]> => {
      const before = refused.get(number)
      const found = await lookup.find({ chain, emitter, sequence: number }, before && before.api + 1)
      if (found.kind === 'found') return [{ ...read(bridge, number, found.vaa), api: found.api }]
      const { kind, againInMs } = found
      outcomes.set(number, kind === 'absent' ? { kind, againInMs, code: before?.code } : found)
      return []
    }),
  )
  return copies.flat()
}

function read(bridge: Deps['bridge'], number: string, vaa: Uint8Array): Omit<Copy, 'api'> {
  try {
    return { number, vaa, transfer: bridge.decode(vaa) }
  } catch (error) {
    if (notOurs.includes(toRelayerError(error).code)) return { number, vaa }
    throw error
  }
}

async function enter({ source, bridge, submitter }: Deps, copy: Copy): Promise<FetchOutcome | { readonly refusedAs: ErrorCode }> {
  try {
    if (!copy.transfer) {
      // The only proof that lets a number be ignored.
      const verdict = await judge({ source, bridge }, copy.vaa)
      if (verdict.kind === 'valid') return { kind: 'ignored', publishedAt: publishedAt(copy.vaa) }
      if (verdict.kind === 'wait') {
        const blocked = { code: verdict.code, chain: source.sourceChain }
        return { kind: 'unknown', againInMs: afterTroubleMs, why: verdict.reason, blocked }
      }
      return { refusedAs: verdict.code }
    }
    const { id, status } = await submitter.submit(bridge.name, copy.vaa)
    return { kind: 'started', id, status, publishedAt: publishedAt(copy.vaa) }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    if (error.retriable) return waiting(error, copy.transfer?.targetChain ?? source.sourceChain)
    if (isUntaken(source, error)) return { kind: 'ignored' }
    return { refusedAs: error.code }
  }
}

/** Of a message that can be read: its signatures are good. */
function publishedAt(vaa: Uint8Array): number {
  return parseVaa(vaa).timestamp * 1_000
}

/** Its message is here, and this passes. */
function waiting(error: RelayerError, target: ChainName): FetchOutcome {
  return { kind: 'unknown', againInMs: afterTroubleMs, why: error.message, blocked: blockedBy(error, target) }
}

/** Whether a refused message can be ignored for good: by its bytes it is not for Portage, and its signatures are good. */
export async function isIgnorable({ source, bridge }: Pick<Deps, 'source' | 'bridge'>, vaa: Uint8Array): Promise<boolean> {
  return !read(bridge, '', vaa).transfer && (await judge({ source, bridge }, vaa)).kind === 'valid'
}

/**
 * Whether a message with good signatures was refused since its target has not registered the source, by the word of most of its nodes: nobody can deliver it. Of
 * a source with a node that is a gap, since both are chains of the config; of all others there are many such routes, and anybody may send to them.
 */
export function isUntaken({ withoutNode }: Pick<SignedSource, 'withoutNode'>, { code }: Pick<RelayerError, 'code'>): boolean {
  return withoutNode !== undefined && code === 'EMITTER_UNKNOWN'
}

/**
 * Whether the guardians signed it: by the source's own core contract, and where we have no node of it, by that of the first of our chains that can say. One
 * whose nodes do not answer, or that does not know the guardian set yet, leaves it to the next. Throws what the last one throws.
 */
async function judge({ source, bridge }: Pick<Deps, 'source' | 'bridge'>, vaa: Uint8Array): Promise<Verdict> {
  const { sourceChain, withoutNode } = source
  const [first = sourceChain, ...others] = withoutNode?.judges ?? []
  let verdict = () => bridge.endpoint(first).verify(vaa)
  for (const next of others) {
    try {
      const said = await verdict()
      if (said.kind !== 'wait') return said
    } catch (error) {
      if (!toRelayerError(error).retriable) throw error
    }
    verdict = () => bridge.endpoint(next).verify(vaa)
  }
  return verdict()
}
