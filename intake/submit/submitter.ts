import type { Bridge, Bridges, Endpoint } from '../../bridges/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import { haltOf, type Settings } from '../../domain/settings/settings.ts'
import type { KnownContent } from '../../domain/transfer/content.ts'
import { type BridgeName, mostMessageBytes, ofChain, type Terms, type Transfer } from '../../domain/transfer/transfer.ts'
import type { StepTimes } from '../../observability/step-times.ts'
import { inTrace } from '../../observability/tracing.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { checkedOrder } from '../../temporal/client/calls/workflow-calls.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { rethrowAs } from '../../temporal/client/connection/errors.ts'
import { startInPlaceOfRejected, startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { offerCopy } from '../../temporal/client/transfers/transfers.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { TransferInput } from '../../temporal/contracts/transfer.ts'

export interface SubmitResult {
  readonly id: string
  /** `known`: the transfer runs or has ended, so nothing was started. */
  readonly status: 'started' | 'known'
  /** The transfer now continues with this copy, because the guardian set of its earlier copy may have expired. */
  readonly adopted?: true
  /** The halt that holds the transfer. Set only if the submission has an `order`. */
  readonly halted?: string
}

export interface TransferDefaults extends Pick<SubmitOptions, 'priority' | 'withinMs'> {
  /** `routesDigest` of this process's config. */
  readonly routes?: string
}

export interface SubmitOptions {
  /** From 1 (first) to 5. Ignored for a known transfer. */
  readonly priority?: number | undefined
  /** ms since the epoch. A transfer that is undelivered at this time is parked. Ignored for a known transfer. */
  readonly deadline?: number | undefined
  /** The deadline as a time after the start, ms. */
  readonly withinMs?: number | undefined
  readonly terms?: Terms | undefined
  readonly seenAt?: number | undefined
  readonly sourceTxHash?: string | undefined
  /** `ask` (default) asks Temporal, and restarts undone transfers. `skip` trusts this process's recent submissions. */
  readonly repeats?: 'ask' | 'skip'
  /** Absent if the message came from a spy or a chain. */
  readonly order?: Order | undefined
}

/**
 * The only part that starts a transfer for the first time (`restartTransfer` starts closed transfers again). First
 * checks that guardians have signed the message, or that the source shows it, and that the target knows its emitter.
 */
export type Submitter = ReturnType<typeof createSubmitter>

export interface SubmitterDeps {
  readonly bridges: Bridges
  readonly client: TemporalClient
  readonly settings?: () => Settings
  readonly defaults?: TransferDefaults
  readonly stepTimes?: StepTimes
  readonly startTimeoutMs?: number
}

const recentSize = 10_000
const recentMs = 10 * 60_000
/** Time for which a refusal is remembered, ms. Short, because the target may register the emitter later. */
const refusedMs = 60_000

export function createSubmitter({ bridges, client, settings, defaults = {}, stepTimes, startTimeoutMs = 10_000 }: SubmitterDeps) {
  const submitted = boundedMap<string, true>(recentSize, recentMs)
  /**
   * Ids of transfers that have replaced a rejected run. Without this map, two rejected copies of one message would
   * replace each other for ever.
   */
  const restarted = boundedMap<string, true>(recentSize, recentMs)
  /**
   * Refusals of messages whose emitter is not registered, or that no plug-in accepts, so that repeated messages are not
   * verified each time.
   */
  const refusals = boundedMap<string, RelayerError>(recentSize, refusedMs)
  /**
   * Copies that their transfers have adopted. Each offer of a copy wakes the transfer, so these are not offered again.
   */
  const adoptedCopies = boundedMap<string, true>(recentSize, recentMs)
  const shared = createSharedStarts()

  async function start(id: string, input: TransferInput, content: KnownContent): Promise<SubmitResult['status']> {
    const status = await startTransfer(client, id, input, content)
    if (status === 'started' || restarted.has(id)) return status
    const isRestarted = await startInPlaceOfRejected(client, id, input, content).catch(rethrowAs({}, { transfer: id }))
    if (isRestarted) restarted.set(id, true)
    return isRestarted ? 'started' : 'known'
  }

  async function startOrOffer(bridge: Bridge, id: string, input: TransferInput, { order, sourceTxHash }: SubmitOptions, copy: Copy) {
    const status = await start(id, input, { ...copy.content, ...(sourceTxHash !== undefined && { sourceTxHash }) })
    if (status === 'started' || copy.signers === undefined || adoptedCopies.has(copy.key)) return { status }
    const isNewer = (than: string) => (copy.signers ?? 0) > signersOf(bridge, than)
    const isAdopted = await offerCopy(client, id, { message: input.transfer.message, isNewer }, order)
    if (isAdopted) adoptedCopies.set(copy.key, true)
    return { status, ...(isAdopted && { adopted: true as const }) }
  }

  async function submitMessage(name: BridgeName, message: Uint8Array, options: SubmitOptions): Promise<SubmitResult> {
    const named = bridges.get(name)
    if (!named)
      throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${name}; configured: ${[...bridges.keys()].join(', ')}.` })
    if (message.length > mostMessageBytes)
      throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: message.length, most: mostMessageBytes } })
    const transfer = named.decode(message)
    const bridge = bridges.get(transfer.bridge) ?? named
    const signers = bridge.signedBy?.(message)
    const id = transferId(transfer)
    // Copies that the same guardian set signed are interchangeable.
    const key = `${id}/${signers ?? ''}`
    const isRepeated = options.repeats === 'skip'
    if (isRepeated && submitted.has(key)) return { id, status: 'known' }
    const refusal = isRepeated ? refusals.get(id) : undefined
    if (refusal) throw refusal
    const endpoint = ofChain(bridge.endpoints, { chain: transfer.targetChain })
    const decimals = await accepted(endpoint, message).catch((error: unknown) => {
      // Other errors are not remembered, because a later copy with this id may have good signatures.
      if (error instanceof RelayerError && ['EMITTER_UNKNOWN', 'PAYLOAD_KIND'].includes(error.code)) refusals.set(id, error)
      throw error
    })
    // The content is read only now, because a plug-in must not be asked about a message that nobody signed.
    const content = { ...bridge.content(message), ...(decimals !== undefined && { decimals: String(decimals) }) }
    const begin = () => startAccepted(bridge, transfer, options, { id, content, signers, key })
    return isRepeated ? shared(key, begin) : begin()
  }

  async function startAccepted(bridge: Bridge, transfer: Transfer, options: SubmitOptions, copy: Copy): Promise<SubmitResult> {
    const { id } = copy
    const input = inputOf(transfer, options, defaults)
    const started = await within(client, startTimeoutMs, () => startOrOffer(bridge, id, input, options, copy))
    if (started.status === 'started') stepTimes?.reached('started', transfer, input.seenAt)
    submitted.set(copy.key, true)
    const halt = options.order && settings && haltOf(settings(), transfer)
    return { id, ...started, ...(halt && { halted: `by ${halt.by}: ${halt.reason}` }) }
  }

  return {
    /**
     * Throws the retriable GUARDIAN_SET_UNKNOWN, NODE_UNAVAILABLE and TEMPORAL_UNAVAILABLE. Also throws MESSAGE_*,
     * VAA_*, PAYLOAD_*, EMITTER_UNKNOWN, GUARDIAN_SET_IMPOSSIBLE, TARGET_CHAIN_UNSUPPORTED, and INPUT_INVALID for an
     * unknown bridge.
     */
    submit: (name: BridgeName, message: Uint8Array, options: SubmitOptions = {}): Promise<SubmitResult> =>
      inTrace('submit', { 'portage.bridge': name }, () => submitMessage(name, message, options)),
  }
}

async function accepted(endpoint: Endpoint, message: Uint8Array): Promise<number | undefined> {
  if (endpoint.accept) return endpoint.accept(message)
  const verdict = await endpoint.verify(message)
  if (verdict.kind !== 'valid') throw new RelayerError(verdict.code, { detail: verdict.reason })
  return undefined
}

/** Returns a function in which calls with the same copy share one start, because several spies send each copy. */
function createSharedStarts() {
  const underWay = new Map<string, Promise<SubmitResult>>()
  return async (key: string, start: () => Promise<SubmitResult>): Promise<SubmitResult> => {
    const other = underWay.get(key)
    if (other) return { ...(await other), status: 'known' }
    const own = start().finally(() => underWay.delete(key))
    underWay.set(key, own)
    return own
  }
}

interface Copy {
  readonly id: string
  readonly content: KnownContent
  readonly signers: number | undefined
  readonly key: string
}

function inputOf(transfer: Transfer, options: SubmitOptions, { priority: usual, withinMs: usualMs, routes }: TransferDefaults) {
  const now = Date.now()
  const { seenAt = now, order, priority = usual, terms, withinMs = options.deadline === undefined ? usualMs : undefined } = options
  const deadline = withinMs === undefined ? options.deadline : now + withinMs
  return {
    transfer: { ...transfer, ...(terms && { terms }), ...(routes !== undefined && { startedUnder: { routes, at: now } }) },
    seenAt,
    ...(order && { orders: [{ kind: 'submit' as const, ...checkedOrder(order), at: now }] }),
    ...(priority !== undefined && { priority }),
    ...(deadline !== undefined && { deadline }),
    ...(withinMs !== undefined && { withinMs }),
  }
}

/**
 * The guardian set that signed the message. -1 for unreadable bytes: a stranger may have started the transfer with such
 * bytes, so any copy is newer.
 */
function signersOf(bridge: Bridge, message: string): number {
  try {
    return bridge.signedBy?.(Buffer.from(message, 'base64')) ?? -1
  } catch {
    return -1
  }
}
