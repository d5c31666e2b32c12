import { toRelayerError } from '../../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../../domain/transfer/transfer.ts'
import type { SignedSource } from '../../../../bridges/source-port.ts'
import type { Logger } from '../../../../observability/logger.ts'
import type { TemporalClient } from '../../../../temporal/client/connection/client.ts'
import { fromTemporal } from '../../../../temporal/client/connection/errors.ts'
import { storedTransfer } from '../../../../temporal/client/transfers/start-transfer.ts'
import { byNumber, type ListedTransfer } from '../../../../temporal/client/streams/stream-transfers.ts'
import { transferId } from '../../../../temporal/contracts/names.ts'
import { mapLimited } from '../../../../runtime/map-limited.ts'
import { deliveredByTarget } from '../gaps/delivered-by-target.ts'
import type { SignedDeps } from '../deps.ts'

export interface ProvedDeps extends Pick<SignedDeps, 'bridge'> {
  readonly source: Pick<SignedSource, 'emitterChain' | 'emitter' | 'delivered'>
  readonly client: TemporalClient
  readonly logger: Logger
}

/**
 * own: the guardians signed the message of this id, under this emitter and number. foreign: they did not, or it is another's. unproved: nobody can say yet (its
 * guardian set is not known). unread: not looked at yet, or a server or node did not answer.
 */
type Proof = 'own' | 'foreign' | 'unproved' | 'unread'
type Message = Omit<Transfer, 'message'>

/** Runs that are remembered, and ids. */
const mostKept = 20_000
/**
 * Inputs that are read in one look, of one number, and at once; the next look goes on with others. Strangers may have any number of runs under one number, and
 * must not keep those of other numbers unread.
 */
const mostReads = 1_000
const mostOfNumber = 4
const readsAtOnce = 20
/** What nobody could say is asked again after so long, ms: it must not stand before the others in each look. */
const againMs = 60_000

export type ProvedTransfers = ReturnType<typeof createProvedTransfers>

/**
 * Which listed runs are transfers of the emitter's own messages. Whoever reaches Temporal starts runs under any id, with any search attributes: an id is
 * believed only for a message that the guardians signed. The message is in the run's own input, so that no server is asked for it; one that this process has
 * submitted is not read again.
 */
export function createProvedTransfers(deps: ProvedDeps) {
  const { source, logger } = deps
  const messages = new Map<string, Message>()
  const foreign = new Map<string, true>()
  const unproved = new Map<string, number>()

  async function proofs(listed: readonly ListedTransfer[]): Promise<ReadonlyMap<ListedTransfer, Proof>> {
    const known = ({ id, runId }: ListedTransfer): Proof | undefined => {
      if (messages.has(id)) return 'own'
      if (foreign.has(runId)) return 'foreign'
      return (unproved.get(runId) ?? 0) > Date.now() ? 'unproved' : undefined
    }
    const unknown = [...byNumber(listed.filter((one) => !known(one))).values()]
      .flatMap((some) => some.slice(0, mostOfNumber))
      .slice(0, mostReads)
    const read = new Map<ListedTransfer, Proof>()
    await mapLimited(unknown, readsAtOnce, async (one) => {
      const { proof, message } = await prove(deps, one)
      read.set(one, proof)
      if (message) keep(messages, one.id, message)
      if (proof === 'foreign') keep(foreign, one.runId, true)
      if (proof === 'unproved') keep(unproved, one.runId, Date.now() + againMs)
    })
    const strangers = [...read].filter(([, proof]) => proof === 'foreign').map(([{ id }]) => id)
    if (strangers.length > 0)
      logger.warn('runs claim numbers of an emitter whose guardians never signed them; they are left out', {
        code: 'RUNS_FOREIGN',
        count: strangers.length,
        first: strangers[0],
      })
    return new Map(listed.map((one) => [one, read.get(one) ?? known(one) ?? 'unread']))
  }

  async function withProof(listed: readonly ListedTransfer[], ...wanted: readonly Proof[]): Promise<readonly ListedTransfer[]> {
    const found = await proofs(listed)
    return listed.filter((one) => wanted.includes(found.get(one) ?? 'unread'))
  }

  return {
    /** This process has verified the message: it is not read. */
    know: (id: string, { message: _, ...transfer }: Transfer) => keep(messages, id, transfer),
    /** Those that are proved. Never throws for a run. */
    own: (listed: readonly ListedTransfer[]) => withProof(listed, 'own'),
    /** Those that are not known to be strangers': proved, or not read yet. */
    ownOrUnread: (listed: readonly ListedTransfer[]) => withProof(listed, 'own', 'unread'),
    /** The messages of those that are proved. */
    async messages(listed: readonly ListedTransfer[]): Promise<readonly Message[]> {
      return (await withProof(listed, 'own')).flatMap(({ id }) => messages.get(id) ?? [])
    },
    /**
     * Those whose outcome, or being parked, is to be recorded: what has ended must be proved, and `delivered` is said by the target alone. That one is
     * parked takes nothing from its number. Throws what asking the target throws, without an outage.
     */
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

/** The oldest give way. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= mostKept) break
    map.delete(oldest)
  }
}

/** Reads the message in the run's own input. Never throws. */
async function prove(
  { bridge, source, client, logger }: ProvedDeps,
  { id, runId, number }: ListedTransfer,
): Promise<{ readonly proof: Proof; readonly message?: Message }> {
  try {
    const stored = await storedTransfer(client, id, runId)
    const bytes = new Uint8Array(Buffer.from(stored.message, 'base64'))
    const { message: _, ...message } = bridge.decode(bytes)
    if (!isOwn(source, { id, number }, message)) return { proof: 'foreign' }
    const verdict = await bridge.endpoint(message.targetChain).verify(bytes)
    if (verdict.kind === 'wait') return { proof: 'unproved' }
    // Signed by guardians who were replaced since: they signed this message all the same.
    return verdict.kind === 'valid' || verdict.awaitNewSignatures ? { proof: 'own', message } : { proof: 'foreign' }
  } catch (thrown) {
    const error = toRelayerError(fromTemporal(thrown, {}))
    logger.debug('the message of a listed transfer cannot be proved', { id, error: error.message })
    // Whatever a stranger has put there: what fails in a way of its own is no run of ours. If it is, the message is fetched, which only costs a request.
    return { proof: error.retriable && error.code !== 'INTERNAL' ? 'unread' : 'foreign' }
  }
}

function isOwn(source: ProvedDeps['source'], { id, number }: Pick<ListedTransfer, 'id' | 'number'>, message: Message): boolean {
  const { sourceId, emitter, sequence } = message
  const isOfSource = sourceId === String(source.emitterChain) && emitter === source.emitter && sequence === number
  return isOfSource && id === transferId(message)
}
