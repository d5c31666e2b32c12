import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client'
import type { Bridges, Verdict } from '../bridges/port.ts'
import { errorCatalogue, RelayerError, toRelayerError } from '../domain/errors.ts'
import { haltOf } from '../domain/settings/settings.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { BridgeName } from '../domain/transfer/transfer.ts'
import type { TransferInput } from '../temporal/contracts/transfer.ts'
import { chainQueue, searchAttributes, transferId } from '../temporal/contracts/names.ts'
import { offerCopy } from './offer-copy.ts'
import { fromTemporal } from '../temporal/client/errors.ts'
import { createRecent } from './recent.ts'

export interface SubmitResult {
  /** Workflow id of the transfer. */
  readonly id: string
  /** `known`: it runs or is done; nothing was sent. */
  readonly status: 'started' | 'known'
  /** It was parked, since who had signed its copy may sign no longer; it goes on with this one. */
  readonly adopted?: true
  /** Why it waits, if an operator has halted its way. Nothing is lost: it goes on when the halt ends. */
  readonly halted?: string
}

/** What holds for a transfer whose sender says nothing about it. */
export interface TransferDefaults {
  /** Class in the lane's waiting room, 1 (first) … 5. */
  readonly priority?: number | undefined
  /** So long it may take, ms; absent: for ever. */
  readonly withinMs?: number | undefined
}

export interface SubmitOptions {
  /** Class in the lane's waiting room, 1 (first) … 5. Says nothing to a transfer that is known. */
  readonly priority?: number | undefined
  /** ms since the epoch: not delivered by then, it is given up by its lane and parked. Says nothing to a transfer that is known. */
  readonly deadline?: number | undefined
  /**
   * What a message that this door saw minutes ago is worth: `ask` Temporal, where it may have been closed undone and starts again (default:
   * a person asks for a reason), or `skip`, for streams, which repeat themselves.
   */
  readonly repeats?: 'ask' | 'skip'
}

/** The one place where transfers begin: form, then signatures, then the id. */
export interface Submitter {
  /**
   * Throws RelayerError. Not retriable: the message is no transfer of ours (MESSAGE_*, VAA_*, PAYLOAD_*, TARGET_CHAIN_UNSUPPORTED, INPUT_INVALID
   * for an unknown bridge). Retriable: GUARDIAN_SET_UNKNOWN, NODE_UNAVAILABLE, TEMPORAL_UNAVAILABLE; nothing was started.
   */
  submit(bridge: BridgeName, message: Uint8Array, options?: SubmitOptions): Promise<SubmitResult>
}

export interface SubmitterDeps {
  /** With an endpoint on every chain that transfers may go to. */
  readonly bridges: Bridges
  readonly client: Client
  /** What operators changed; halts are told to who submits. Absent: none. */
  readonly settings?: () => Settings
  readonly defaults?: TransferDefaults
  /** How long the server may take to answer a start, ms; then it counts as unreachable. Default 10 s. */
  readonly startTimeoutMs?: number
}

const recentSize = 10_000
const recentMs = 10 * 60_000

export function createSubmitter({ bridges, client, settings, defaults = {}, startTimeoutMs = 10_000 }: SubmitterDeps): Submitter {
  const recent = createRecent(recentSize, recentMs)
  return {
    async submit(name, message, { repeats = 'ask', priority = defaults.priority, deadline = within(defaults) } = {}) {
      const bridge = bridges.get(name)
      if (!bridge)
        throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${name}; configured: ${[...bridges.keys()].join(', ')}.` })
      const transfer = bridge.decode(message)
      const id = transferId(transfer)
      // A copy with other signatures of the same guardians has the same id and can do no more, so they need no look. One of other guardians can.
      const signers = bridge.signedBy?.(message)
      const copy = `${id}/${signers ?? ''}`
      if (repeats === 'skip' && recent.has(copy)) return { id, status: 'known' }
      refuse(await bridge.endpoint(transfer.targetChain).verify(message))
      const input = { transfer, ...(priority !== undefined && { priority }), ...(deadline !== undefined && { deadline }) }
      const within = Date.now() + startTimeoutMs
      const status = await client.withDeadline(within, () => start(client, id, input))
      const adopted =
        status === 'known' && signers !== undefined && (await client.withDeadline(within, () => offerCopy(client, id, transfer)))
      recent.add(copy)
      const halt = settings && haltOf(settings(), transfer)
      return { id, status, ...(adopted && { adopted }), ...(halt && { halted: `by ${halt.by}: ${halt.reason}` }) }
    },
  }
}

/** A verdict other than valid, thrown under its own code. Its reason may start with the title that the error says anyway. */
function refuse(verdict: Verdict): void {
  if (verdict.kind === 'valid') return
  const { title } = errorCatalogue[verdict.code]
  const { reason } = verdict
  throw new RelayerError(verdict.code, { detail: reason.startsWith(title) ? reason.slice(title.length).trim() : reason })
}

/**
 * Starts the workflow, or finds that its id is taken by one that runs or was done. One that closed undone (failed, terminated, timed out) is
 * started again.
 */
async function start(client: Client, id: string, input: TransferInput): Promise<SubmitResult['status']> {
  const { bridge, sourceChain, targetChain, sequence } = input.transfer
  try {
    await client.workflow.start('transfer', {
      workflowId: id,
      taskQueue: chainQueue(targetChain),
      args: [input],
      // Not USE_EXISTING: its answer is the same for both, and who submits wants to know.
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      staticSummary: `${bridge}: ${sourceChain} → ${targetChain}, sequence ${sequence}`,
      typedSearchAttributes: [
        { key: searchAttributes.TransferState, value: 'admitting' },
        { key: searchAttributes.Bridge, value: bridge },
        { key: searchAttributes.SourceChain, value: sourceChain },
        { key: searchAttributes.TargetChain, value: targetChain },
      ],
    })
    return 'started'
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'known'
    throw toRelayerError(fromTemporal(error, {}, { transfer: id }))
  }
}

function within({ withinMs }: TransferDefaults): number | undefined {
  return withinMs === undefined ? undefined : Date.now() + withinMs
}
