import type { Bridge, Bridges, Verdict } from '../../bridges/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import { haltOf, type Settings } from '../../domain/settings/settings.ts'
import type { StepTimes } from '../../observability/step-times.ts'
import type { BridgeName } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { TransferInput } from '../../temporal/contracts/transfer.ts'
import { checkedOrder } from '../../temporal/client/calls/checked-order.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { rethrowAs } from '../../temporal/client/connection/errors.ts'
import { offerCopy } from '../../temporal/client/transfers/transfers.ts'
import { startInPlaceOfRejected, startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { createRecent } from './recent.ts'

export interface SubmitResult {
  /** Workflow id of the transfer. */
  readonly id: string
  /** `known`: it runs or is done; nothing was sent. A run of another message that took its id and was rejected is neither. */
  readonly status: 'started' | 'known'
  /** An earlier guardian set had signed its copy, which has expired or may have: the transfer, parked or not delivered yet, goes on with this copy. */
  readonly adopted?: true
  /** Why it waits, if an operator has halted its route. It goes on when the halt ends. */
  readonly halted?: string
}

/** Defaults of a submission. */
export interface TransferDefaults extends Pick<SubmitOptions, 'priority'> {
  /** How long a transfer may take, ms; absent: for ever. */
  readonly withinMs?: number | undefined
}

export interface SubmitOptions {
  /** Class in the lane's nonce queue, 1 (first) … 5. Ignored for a known transfer. */
  readonly priority?: number | undefined
  /** ms since the epoch: a transfer that is not delivered by then is given up by its lane and parked. Ignored for a known transfer. */
  readonly deadline?: number | undefined
  /** When the message, or the finality of its block, was seen, ms since the epoch. Absent: now. */
  readonly seenAt?: number | undefined
  /** A message of the last minutes: `ask` Temporal again, which starts a transfer that closed undone (default), or `skip` it, for sources that repeat themselves. */
  readonly repeats?: 'ask' | 'skip'
  /** Of the person who hands it in; absent: it was heard, or read from a chain. Kept by a transfer that starts, or that takes the copy over. */
  readonly order?: Order | undefined
}

/** The one place where transfers are started: the message is decoded, then its signatures and its emitter are checked, then the id is taken. */
export type Submitter = ReturnType<typeof createSubmitter>

export interface SubmitterDeps {
  /** With an endpoint on every chain that transfers may go to. */
  readonly bridges: Bridges
  readonly client: TemporalClient
  /** The settings as they are now: the result names a halt. Absent: none. */
  readonly settings?: () => Settings
  readonly defaults?: TransferDefaults
  /** Absent: the times of steps are not shown. */
  readonly stepTimes?: StepTimes
  /** Longest wait for the Temporal server, ms; then it counts as unreachable. */
  readonly startTimeoutMs?: number
}

const recentSize = 10_000
const recentMs = 10 * 60_000
/** A target may register the emitter meanwhile, ms. */
const unacceptedMs = 60_000

export function createSubmitter({ bridges, client, settings, defaults = {}, stepTimes, startTimeoutMs = 10_000 }: SubmitterDeps) {
  const recent = createRecent(recentSize, recentMs)
  /** Ids: two copies of one message that are both rejected must not start each other for ever. */
  const replaced = createRecent(recentSize, recentMs)
  /** Messages with good signatures whose target does not know the emitter: whoever repeats one would have the nodes asked each time. */
  const unaccepted = createRecent<RelayerError>(recentSize, unacceptedMs)
  /** Copies that a transfer took over: each would wake it anew, as long as its run was started with an older one. */
  const given = createRecent(recentSize, recentMs)

  async function start(id: string, input: TransferInput): Promise<SubmitResult['status']> {
    const status = await startTransfer(client, id, input)
    if (status === 'started' || replaced.has(id)) return status
    const isReplaced = await startInPlaceOfRejected(client, id, input).catch(rethrowAs({}, { transfer: id }))
    if (isReplaced) replaced.add(id)
    return isReplaced ? 'started' : 'known'
  }

  return {
    /**
     * Throws RelayerError. Not retriable: the message is no transfer that Portage delivers (MESSAGE_*, VAA_*, PAYLOAD_*, EMITTER_UNKNOWN, GUARDIAN_SET_IMPOSSIBLE,
     * TARGET_CHAIN_UNSUPPORTED, INPUT_INVALID for an unknown bridge). Retriable: GUARDIAN_SET_UNKNOWN, NODE_UNAVAILABLE, TEMPORAL_UNAVAILABLE; nothing was started.
     */
    async submit(name: BridgeName, message: Uint8Array, options: SubmitOptions = {}): Promise<SubmitResult> {
      const { repeats = 'ask', priority = defaults.priority, deadline = deadlineOf(defaults), order, seenAt = Date.now() } = options
      const bridge = bridges.get(name)
      if (!bridge)
        throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${name}; configured: ${[...bridges.keys()].join(', ')}.` })
      const transfer = bridge.decode(message)
      const id = transferId(transfer)
      // A copy with other signatures of the same guardian set is worth no more; one of another guardian set may be.
      const signers = bridge.signedBy?.(message)
      const copy = `${id}/${signers ?? ''}`
      const isNewer = (than: string) => (signers ?? 0) > signersOf(bridge, than)
      if (repeats === 'skip' && recent.has(copy)) return { id, status: 'known' }
      const before = repeats === 'skip' ? unaccepted.get(id) : undefined
      if (before) throw before
      const endpoint = bridge.endpoint(transfer.targetChain)
      demandValid(await endpoint.verify(message))
      // Its emitter is asked for only once its signatures are good: junk costs no reads.
      const accepted = await endpoint.accepts?.(transfer)
      if (accepted && accepted.kind !== 'valid') {
        const refusal = refusalOf(accepted)
        if (!refusal.retriable) unaccepted.add(id, refusal)
        throw refusal
      }
      const orders = order && [{ kind: 'submit', ...checkedOrder(order), at: Date.now() }]
      const input = {
        ...{ transfer, seenAt },
        ...(orders && { orders }),
        ...(priority !== undefined && { priority }),
        ...(deadline !== undefined && { deadline }),
      }
      const { status, adopted } = await within(client, startTimeoutMs, async () => {
        const status = await start(id, input)
        const offered = { message: transfer.message, isNewer }
        const isOffered = status === 'known' && signers !== undefined && !given.has(copy)
        return { status, adopted: isOffered && (await offerCopy(client, id, offered, order)) }
      })
      if (adopted) given.add(copy)
      if (status === 'started') stepTimes?.reached('started', transfer, seenAt)
      recent.add(copy)
      const halt = settings && haltOf(settings(), transfer)
      return { id, status, ...(adopted && { adopted }), ...(halt && { halted: `by ${halt.by}: ${halt.reason}` }) }
    },
  }
}

function refusalOf({ code, reason }: Exclude<Verdict, { readonly kind: 'valid' }>): RelayerError {
  return new RelayerError(code, { detail: reason })
}

function demandValid(verdict: Verdict): void {
  if (verdict.kind !== 'valid') throw refusalOf(verdict)
}

/** Those that a stored message names. A stranger may have started the transfer with bytes that cannot be read: everything is newer. */
function signersOf(bridge: Bridge, message: string): number {
  try {
    return bridge.signedBy?.(Buffer.from(message, 'base64')) ?? -1
  } catch {
    return -1
  }
}

function deadlineOf({ withinMs }: TransferDefaults): number | undefined {
  return withinMs === undefined ? undefined : Date.now() + withinMs
}
