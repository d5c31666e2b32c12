import type { ErrorCode } from '../../domain/errors.ts'
import { mip61Of } from '../../domain/stream/mip61-state.ts'
import { transitions } from '../../domain/transfer/transfer.ts'
import type { BridgeName, Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { TimelineEntry, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'

/** Lines of the timeline that are kept; the oldest but the first give way. */
const timelineLimit = 40

/** Where the transfer stands, told to the three who ask: the query, the Web UI, the search attributes. */
export class StatusWriter {
  readonly progress: TransferProgress
  #delivery: Delivery | undefined
  readonly #id: string
  readonly #bridge: BridgeName

  constructor(id: string, bridge: BridgeName, progress: TransferProgress | undefined) {
    this.#id = id
    this.#bridge = bridge
    this.progress = progress ?? { state: 'admitting', round: 1, failures: 0, timeline: [] }
    if (progress) this.#show()
  }

  get state(): TransferState {
    return this.progress.state
  }

  /** Moves to a state; search attributes are written only when it changes, since each write costs. */
  enter(state: TransferState, note: string, facts: { code?: ErrorCode; reason?: string; txHash?: string } = {}): void {
    const before = this.progress.state
    if (before !== state && !transitions[before].includes(state)) throw new Error(`no transition from ${before} to ${state}`)
    this.progress.state = state
    this.progress.code = facts.code
    this.progress.reason = facts.reason
    this.#note({ at: Date.now(), state, note })
    if (before === state && !facts.txHash) return
    upsertSearchAttributes([
      { key: searchAttributes.TransferState, value: state },
      ...(state === 'broadcasting' && this.progress.lane ? [{ key: searchAttributes.Lane, value: this.progress.lane }] : []),
      ...(facts.txHash ? [{ key: searchAttributes.TxHash, value: facts.txHash }] : []),
    ])
  }

  delivered(delivery: Delivery): void {
    this.#delivery = delivery
    const who = delivery.ours ? `by our ${delivery.by}` : `by ${delivery.by ?? 'someone else'}`
    this.enter('delivered', `${who} in block ${delivery.blockHeight ?? '?'}`, delivery.txHash ? { txHash: delivery.txHash } : {})
  }

  holds(nonce: number | undefined): void {
    this.progress.nonce = nonce
  }

  status(transfer: Transfer): TransferStatus {
    const { message: _, ...identity } = transfer
    const { state, lane, landed, code, reason, round, timeline } = this.progress
    const nonce = this.progress.nonce ?? landed?.nonce
    return {
      id: this.#id,
      transfer: identity,
      state,
      ...(lane && { lane }),
      ...(nonce !== undefined && { nonce }),
      ...(landed && { txHash: landed.txHash, attempts: landed.attempts, ...(landed.tried && { tried: landed.tried }) }),
      ...(landed?.batch && { batch: landed.batch }),
      ...(this.#delivery && { delivery: this.#delivery, ...(this.#delivery.txHash && { txHash: this.#delivery.txHash }) }),
      ...(code && { code }),
      ...(reason && { reason }),
      rounds: round,
      timeline,
    }
  }

  #note(entry: TimelineEntry): void {
    const { timeline } = this.progress
    timeline.push(entry)
    if (timeline.length > timelineLimit) timeline.splice(1, 1)
    this.#show()
  }

  #show(): void {
    const { timeline, state: now, code } = this.progress
    const mip61 = mip61Of({ bridge: this.#bridge, state: now, code })
    const lines = timeline.map(({ at, state, note }) => `- ${new Date(at).toISOString()} **${state}** ${note}`)
    setCurrentDetails([...(mip61 ? [`MIP-61: **${mip61}**\n`] : []), ...lines].join('\n'))
  }
}
