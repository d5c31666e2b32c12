import type { SignedSource } from '../../../../bridges/port.ts'
import { toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { ofChain, type Transfer } from '../../../../domain/transfer/transfer.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'
import { mapLimited } from '../../../../runtime/map-limited.ts'
import type { TemporalClient } from '../../../../temporal/client/connection/client.ts'
import { fromTemporal } from '../../../../temporal/client/connection/errors.ts'
import { byNumber, type ListedTransfer } from '../../../../temporal/client/streams/stream-transfers.ts'
import { storedTransfer } from '../../../../temporal/client/transfers/start-transfer.ts'
import { transferId } from '../../../../temporal/contracts/names.ts'
import { singles } from '../../../../domain/stream/intervals.ts'
import { createAuditCursor } from '../../audit-cursor.ts'
import type { SignedDeps } from '../deps.ts'
import { deliveredByTarget } from '../gaps/fetch-messages.ts'

export interface ProvedDeps extends Pick<SignedDeps, 'bridge' | 'logger'> {
  readonly source: Pick<SignedSource, 'emitterChain' | 'emitter' | 'delivered'>
  readonly client: TemporalClient
}

/** `own`: guardians signed the message, and it fits the run. `unproved`: its guardian set is not known. */
type Proof = 'own' | 'foreign' | 'unproved' | 'unread'

const mostKept = 20_000
/** Maximum length of all kept messages together, in base64. */
const mostCharacters = 64 * 1024 * 1024
/** Maximum reads per call, in total and per number. A stranger may start many runs of one number. */
const mostReads = 1_000
const mostOfNumber = 4
const readsAtOnce = 20
/** Minimum time until an unproved run is checked again, ms. The check delays other runs in every call. */
const againMs = 60_000

export type ProvedTransfers = ReturnType<typeof createProvedTransfers>

/**
 * Finds the runs whose messages the guardians signed. Anyone with access to Temporal can start a run with any id, so an
 * id proves nothing.
 */
export function createProvedTransfers(deps: ProvedDeps) {
  const { source, logger } = deps
  const messages = boundedMap<string, Transfer>(mostCharacters, 0, ({ message }) => message.length)
  const foreign = boundedMap<string, true>(mostKept)
  const unproved = boundedMap<string, true>(mostKept, againMs)

  function knownProof({ id, runId }: ListedTransfer): Proof | undefined {
    if (messages.has(id)) return 'own'
    if (foreign.has(runId)) return 'foreign'
    return unproved.has(runId) ? 'unproved' : undefined
  }

  async function proofs(listed: readonly ListedTransfer[]): Promise<ReadonlyMap<ListedTransfer, Proof>> {
    const all = byNumber(listed.filter((one) => !knownProof(one)))
    // The list differs in each call, so a cursor that is kept might never reach some numbers.
    const unknown = createAuditCursor()
      .take(singles(all.keys()), mostReads)
      .flatMap((number) => (all.get(number) ?? []).slice(0, mostOfNumber))
      .slice(0, mostReads)
    const read = new Map<ListedTransfer, Proof>()
    await mapLimited(unknown, readsAtOnce, async (one) => {
      const { proof, message } = await prove(deps, one)
      read.set(one, proof)
      if (message) messages.set(one.id, message)
      if (proof === 'foreign') foreign.set(one.runId, true)
      if (proof === 'unproved') unproved.set(one.runId, true)
    })
    const strangers = [...read].filter(([, proof]) => proof === 'foreign').map(([{ id }]) => id)
    const found = { count: strangers.length, first: strangers[0] }
    if (found.count > 0) logger.warn('runs that claim numbers without a signed message are left out', { code: 'RUNS_FOREIGN', ...found })
    return new Map(listed.map((one) => [one, read.get(one) ?? knownProof(one) ?? 'unread']))
  }

  async function withProof(listed: readonly ListedTransfer[], ...wanted: readonly Proof[]): Promise<readonly ListedTransfer[]> {
    const found = await proofs(listed)
    return listed.filter((one) => wanted.includes(found.get(one) ?? 'unread'))
  }

  return {
    know: (id: string, transfer: Transfer) => void messages.set(id, transfer),
    own: (listed: readonly ListedTransfer[]) => withProof(listed, 'own'),
    ownOrUnread: (listed: readonly ListedTransfer[]) => withProof(listed, 'own', 'unread'),
    messages: async (listed: readonly ListedTransfer[]) => (await withProof(listed, 'own')).flatMap(({ id }) => messages.get(id) ?? []),
    /** Leaves out foreign runs, ended runs without proof, and `delivered` runs that the target does not show. */
    async outcomes(listed: readonly ListedTransfer[]): Promise<readonly ListedTransfer[]> {
      const found = await proofs(listed)
      const proved = listed.filter((one) => found.get(one) === 'own' || (one.running && found.get(one) !== 'foreign'))
      const isDelivered = ({ state }: ListedTransfer) => state === 'delivered'
      const claimed = proved.filter(isDelivered).flatMap(({ id }) => messages.get(id) ?? [])
      const { done } = await deliveredByTarget(source, claimed)
      return proved.filter((one) => !isDelivered(one) || done.has(one.number))
    },
  }
}

async function prove(deps: ProvedDeps, listed: ListedTransfer): Promise<{ readonly proof: Proof; readonly message?: Transfer }> {
  const { bridge, client, logger } = deps
  const { id, runId } = listed
  try {
    const stored = await storedTransfer(client, id, runId)
    const bytes = new Uint8Array(Buffer.from(stored.message, 'base64'))
    const message = bridge.decode(bytes)
    if (!isOwn(deps, listed, message)) return { proof: 'foreign' }
    const verdict = await ofChain(bridge.endpoints, { chain: message.targetChain }).verify(bytes)
    if (verdict.kind === 'wait') return { proof: 'unproved' }
    // The signatures of guardians who were replaced later are still proof.
    return verdict.kind === 'valid' || verdict.awaitNewSignatures ? { proof: 'own', message } : { proof: 'foreign' }
  } catch (thrown) {
    const error = toRelayerError(fromTemporal(thrown, {}))
    logger.debug('the message of a listed transfer cannot be proved', { id, error: error.message })
    // A wrong guess only costs another fetch of the message.
    return { proof: error.retriable && error.code !== 'INTERNAL' ? 'unread' : 'foreign' }
  }
}

function isOwn({ source }: ProvedDeps, { id, number }: ListedTransfer, message: Transfer): boolean {
  const isOfSource = message.sourceId === String(source.emitterChain) && message.emitter === source.emitter
  return isOfSource && message.sequence === number && id === transferId(message)
}
