import { type ErrorCode, type RelayerError, toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { type ChainName, ofChain, type Transfer } from '../../../../domain/transfer/transfer.ts'
import { groupBy } from '../../../../domain/group-by.ts'
import { parseVaa } from '../../../../domain/vaa.ts'
import type { SubmitResult } from '../../../submit/submitter.ts'
import type { Published, SignedSource, Verdict } from '../../../../bridges/port.ts'
import type { SeenNumbers } from '../../number-status.ts'
import type { BlockedTransfer, SignedDeps } from '../deps.ts'

/** `absent`: no server has a valid copy. `publishedAt`: from a verified copy, ms since the epoch. */
export type FetchOutcome =
  | { readonly kind: 'started'; readonly id: string; readonly status: SubmitResult['status']; readonly publishedAt?: number }
  | { readonly kind: 'delivered' | 'ignored'; readonly publishedAt?: number }
  | { readonly kind: 'absent'; readonly againInMs: number | undefined; readonly code: ErrorCode | undefined }
  | { readonly kind: 'unknown'; readonly againInMs: number; readonly why: string; readonly blocked?: BlockedTransfer }

export function foundIn(outcomes: ReadonlyMap<string, FetchOutcome>): SeenNumbers {
  return [...outcomes].flatMap(([number, { kind }]) => (kind === 'absent' || kind === 'unknown' ? [] : [[number, kind] as const]))
}

type Outcomes = Map<string, FetchOutcome>
type Refused = Map<string, { readonly api: number; readonly code: ErrorCode }>

const undeliverable: readonly ErrorCode[] = ['PAYLOAD_KIND', 'PAYLOAD_LENGTH', 'TARGET_CHAIN_UNSUPPORTED', 'MESSAGE_TOO_LARGE']
const afterFailureMs = 5_000

interface Copy {
  readonly number: string
  readonly vaa: Uint8Array
  readonly api: number
  readonly transfer?: Transfer
}

type Deps = Pick<SignedDeps, 'bridge' | 'submitter' | 'lookup'> & {
  readonly source: Pick<SignedSource, 'emitterChain' | 'emitter' | 'sourceChain' | 'withoutNode' | 'delivered'>
  readonly mayStart?: (transfer: Transfer) => Promise<boolean>
}

/**
 * Fetches messages from servers, and starts their transfers. Does not throw for an outage. Signatures of delivered
 * messages are checked too: some targets show a delivery under an id from the payload, so a server could put the
 * payload of an older transfer under any number.
 */
export async function fetchMessages(deps: Deps, numbers: readonly string[]): Promise<ReadonlyMap<string, FetchOutcome>> {
  const outcomes: Outcomes = new Map()
  const refused: Refused = new Map()
  const undecided: Outcomes = new Map()
  let left = numbers
  while (left.length > 0) {
    const copies = await findCopies(deps, left, refused, outcomes)
    const transfers = copies.flatMap(({ transfer }) => (transfer ? [transfer] : []))
    const { done, unread } = await deliveredByTarget(deps.source, transfers)
    for (const { sequence, targetChain } of transfers) {
      const error = unread.get(sequence)
      if (error) outcomes.set(sequence, waiting(error, targetChain))
    }
    const open = copies.filter(({ number }) => !unread.has(number))
    const settle = (copy: Copy) => (done.has(copy.number) ? proveDelivered(deps, copy) : submit(deps, copy))
    const results = await Promise.all(open.map(async (copy) => [copy, await settle(copy)] as const))
    for (const [{ number, api }, result] of results)
      if ('refusedAs' in result) refused.set(number, { api, code: result.refusedAs })
      else if (isUndecided(result)) {
        refused.set(number, { api, code: 'GUARDIAN_SET_UNKNOWN' })
        undecided.set(number, result)
      } else outcomes.set(number, result)
    left = open.map(({ number }) => number).filter((number) => !outcomes.has(number))
  }
  for (const [number, result] of undecided) if (outcomes.get(number)?.kind === 'absent') outcomes.set(number, result)
  return outcomes
}

/** A server may name a guardian set that does not exist yet, so the other servers are asked too. */
function isUndecided(result: FetchOutcome): boolean {
  return result.kind === 'unknown' && result.blocked?.code === 'GUARDIAN_SET_UNKNOWN'
}

async function findCopies({ source, bridge, lookup }: Deps, numbers: readonly string[], refused: Refused, outcomes: Outcomes) {
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
    if (undeliverable.includes(toRelayerError(error).code)) return { number, vaa }
    throw error
  }
}

type Settled = FetchOutcome | { readonly refusedAs: ErrorCode }

/** Verifies the signatures at the target, whose nodes have just answered. */
async function proveDelivered({ bridge, source }: Deps, { vaa, transfer }: Copy): Promise<Settled> {
  const targetChain = transfer?.targetChain ?? source.sourceChain
  try {
    const verdict = await ofChain(bridge.endpoints, { chain: targetChain }).verify(vaa)
    // The signatures of guardians who were replaced later are still proof.
    if (verdict.kind === 'valid' || verdict.awaitNewSignatures) return { kind: 'delivered' }
    const { kind, code, reason: why } = verdict
    if (kind !== 'wait' || code === 'GUARDIAN_SET_IMPOSSIBLE') return { refusedAs: code }
    return { kind: 'unknown', againInMs: afterFailureMs, why, blocked: { code, chain: targetChain } }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    return error.retriable ? waiting(error, targetChain) : { refusedAs: error.code }
  }
}

async function submit(deps: Deps, copy: Copy): Promise<Settled> {
  const { source, bridge, submitter, mayStart } = deps
  try {
    if (!copy.transfer) {
      const verdict = await verify(deps, copy.vaa)
      if (verdict.kind === 'valid') return { kind: 'ignored', publishedAt: publishedAt(copy.vaa) }
      const { kind, code, reason: why } = verdict
      if (kind !== 'wait') return { refusedAs: code }
      return { kind: 'unknown', againInMs: afterFailureMs, why, blocked: { code, chain: source.sourceChain } }
    }
    if (mayStart && !(await mayStart(copy.transfer))) return { refusedAs: 'TRANSFER_NOT_FOUND' }
    const { id, status } = await submitter.submit(bridge.name, copy.vaa)
    return { kind: 'started', id, status, publishedAt: publishedAt(copy.vaa) }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    if (error.retriable) return waiting(error, copy.transfer?.targetChain ?? source.sourceChain)
    // The message fits the routes of a plug-in, which refused it once its signatures were verified.
    if (error.code === 'PAYLOAD_KIND') return { kind: 'ignored', publishedAt: publishedAt(copy.vaa) }
    if (isUnregistered(source, error)) return { kind: 'ignored' }
    return { refusedAs: error.code }
  }
}

function publishedAt(vaa: Uint8Array): number {
  return parseVaa(vaa).timestamp * 1_000
}

export function blockedTransfer({ code, facts }: RelayerError, target: ChainName): BlockedTransfer {
  return { code, chain: typeof facts['chain'] === 'string' ? facts['chain'] : target }
}

function waiting(error: RelayerError, target: ChainName): FetchOutcome {
  return { kind: 'unknown', againInMs: afterFailureMs, why: error.message, blocked: blockedTransfer(error, target) }
}

/**
 * Whether guardians signed a message that needs no transfer. If `refusedAs` is PAYLOAD_KIND, a plug-in may have refused
 * a message that fits its routes.
 */
export async function isIgnorable(deps: Pick<Deps, 'source' | 'bridge'>, vaa: Uint8Array, refusedAs?: ErrorCode): Promise<boolean> {
  const isOfNobody = refusedAs === 'PAYLOAD_KIND' || !read(deps.bridge, '', vaa).transfer
  return isOfNobody && (await verify(deps, vaa)).kind === 'valid'
}

/** Whether the source is not registered at the target, so that nobody can deliver its messages. */
export function isUnregistered({ withoutNode }: Pick<SignedSource, 'withoutNode'>, { code }: Pick<RelayerError, 'code'>): boolean {
  return withoutNode !== undefined && code === 'EMITTER_UNKNOWN'
}

/**
 * Asks one judge after the other, until a verdict is not `wait`. Throws fatal errors, and every error of the last
 * judge.
 */
async function verify(deps: Pick<Deps, 'source' | 'bridge'>, vaa: Uint8Array, judges = deps.source.withoutNode?.judges): Promise<Verdict> {
  const [chain = deps.source.sourceChain, ...others] = judges ?? []
  const verdict = ofChain(deps.bridge.endpoints, { chain }).verify(vaa)
  if (others.length === 0) return verdict
  try {
    const answer = await verdict
    if (answer.kind !== 'wait') return answer
  } catch (error) {
    if (!toRelayerError(error).retriable) throw error
  }
  return verify(deps, vaa, others)
}

/**
 * Which transfers are delivered (`done`), and which could not be read because their target has an outage (`unread`).
 * Throws all other errors.
 */
export async function deliveredByTarget(
  { delivered }: Pick<SignedSource, 'delivered'>,
  transfers: readonly Transfer[],
): Promise<{ readonly done: ReadonlySet<string>; readonly unread: ReadonlyMap<string, RelayerError> }> {
  const [done, unread] = [new Set<string>(), new Map<string, RelayerError>()]
  const ask = async (some: readonly Transfer[]): Promise<void> => {
    try {
      const answers = await delivered(some)
      some.forEach(({ sequence }, index) => answers[index] && done.add(sequence))
    } catch (thrown) {
      const error = toRelayerError(thrown)
      if (!error.retriable) throw error
      // The view of a called contract may refuse one message, which fails the read of the whole list.
      const middle = some.length >> 1
      if (error.code === 'NODE_REFUSED' && middle > 0)
        return void (await Promise.all([ask(some.slice(0, middle)), ask(some.slice(middle))]))
      for (const { sequence } of some) unread.set(sequence, error)
    }
  }
  const byTarget = groupBy(transfers, ({ targetChain }) => targetChain)
  await Promise.all([...byTarget.values()].map(ask))
  return { done, unread }
}

export async function needingNoTransfer(source: Pick<SignedSource, 'delivered'>, published: readonly Published[]) {
  const ignored = published.flatMap(({ number, content }) => (content?.kind === 'none' ? [number] : []))
  const transfers = published.flatMap(({ content }) => (content?.kind === 'transfer' ? [content.transfer] : []))
  const { done } = await deliveredByTarget(source, transfers)
  return { ignored, done }
}
