import type { Chain } from '../../chains/port.ts'
import { type ErrorCode, toRelayerError } from '../../domain/catalogue/errors.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import { compare } from '../../domain/stream/gaps.ts'
import { forms, isOf } from '../../domain/text/forms.ts'
import type { BridgeName, Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Endpoint, Gate } from '../port.ts'
import { problemOf } from '../../observability/severity.ts'

const wokenPerBlock = 200
const wokenAtATime = 20
const mostWaiting = 20_000

export type ClosedGate = Extract<Gate, { kind: 'lane' | 'route' }>

export type ClosedGates = Pick<GateWatcher, 'wait' | 'unauthorized'>

type WatchedEndpoint = Pick<Endpoint, 'reserve' | 'release'>

export interface GateWatcherOptions {
  readonly chain: Pick<Chain, 'name' | 'heads'>
  readonly endpoints: ReadonlyMap<BridgeName, WatchedEndpoint>
  readonly lanes: readonly LaneId[]
  /**
   * `wake` returns false if the transfer has ended. `waiting` also lists transfers that began to wait in an earlier
   * process.
   */
  readonly waitingTransfers: { wake(id: string): Promise<boolean>; waiting(bridge: BridgeName): AsyncIterable<Transfer> }
  readonly unauthorized: { add(lane: LaneId): void; check(): Promise<void> }
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'portage_gate_waiting' | 'onCollect'>
}

interface Waiter {
  readonly id: string
  readonly transfer: Transfer
  code?: ErrorCode
}

/** Checks the gates once per block, and reserves the amount of a transfer before the transfer is woken. */
export class GateWatcher {
  readonly #options: GateWatcherOptions
  readonly #waiting = new Map<string, Waiter>()
  /** The waiting transfers, sorted by sequence. Undefined after a change of `#waiting`. */
  #order: readonly Waiter[] | undefined
  #busy: Promise<void> | undefined
  #stopped = false
  readonly #ends: (() => void)[]
  readonly #shown = new Map<string, { route: string; code: ErrorCode }>()

  constructor(options: GateWatcherOptions) {
    this.#options = options
    const { chain, metrics } = options
    this.#ends = [chain.heads.subscribe(() => this.#atBlock()), metrics.onCollect(() => this.#collect())]
    void this.#findEarlier()
  }

  wait(transfer: Transfer, { code }: ClosedGate): void {
    const id = transferId(transfer)
    const known = this.#waiting.get(id)
    if (known) known.code = code
    else this.#add({ id, transfer, code })
  }

  unauthorized(lane: LaneId): void {
    this.#options.unauthorized.add(lane)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const end of this.#ends) end()
    await this.#busy
  }

  #add(waiter: Waiter): void {
    // A stranger with access to Temporal may have started a transfer whose sequence is not a number.
    if (!isOf(forms.u64, waiter.transfer.sequence) || this.#waiting.has(waiter.id) || this.#waiting.size >= mostWaiting) return
    this.#waiting.set(waiter.id, waiter)
    this.#order = undefined
  }

  #atBlock(): void {
    if (this.#stopped) return
    this.#busy ??= this.#check().finally(() => (this.#busy = undefined))
  }

  async #check(): Promise<void> {
    const { chain, logger, unauthorized } = this.#options
    await unauthorized.check()
    const through: Waiter[] = []
    this.#order ??= [...this.#waiting.values()].sort((a, b) => byNumber(a.transfer, b.transfer))
    for (const waiter of this.#order) {
      if (through.length >= wokenPerBlock || this.#stopped) break
      try {
        if (await this.#mayPass(waiter)) through.push(waiter)
      } catch (error) {
        const { retriable, code, message: reason } = toRelayerError(error)
        logger.debug('a gate could not be checked', { chain: chain.name, transfer: waiter.id, reason })
        // An unreadable message does not stop the check of other transfers.
        if (retriable && code !== 'INTERNAL') break
      }
    }
    for (let from = 0; from < through.length; from += wokenAtATime) {
      await Promise.all(through.slice(from, from + wokenAtATime).map((waiter) => this.#wake(waiter)))
    }
    if (through.length > 0) {
      logger.info('a gate has opened', { chain: chain.name, woken: through.length, waiting: this.#waiting.size })
    }
  }

  /**
   * Whether to wake the transfer. Also true if the amount can never fit, because the transfer must be admitted again to
   * be parked.
   */
  async #mayPass(waiter: Waiter): Promise<boolean> {
    const { transfer } = waiter
    const endpoint = this.#endpointOf(transfer)
    const gate = await this.#gateOf(endpoint, transfer)
    if (gate.kind !== 'open') endpoint.release?.(transfer)
    const isClosed = gate.kind === 'route' || gate.kind === 'lane'
    if (isClosed) waiter.code = gate.code
    return !isClosed
  }

  async #gateOf(endpoint: WatchedEndpoint, transfer: Transfer): Promise<Gate> {
    let answer: Gate = { kind: 'open' }
    for (const lane of this.#options.lanes) {
      answer = (await endpoint.reserve?.(transfer, laneAddress(lane))) ?? answer
      if (answer.kind !== 'lane') return answer
    }
    return answer
  }

  #endpointOf({ bridge }: Transfer): WatchedEndpoint {
    return this.#options.endpoints.get(bridge) ?? {}
  }

  async #wake(waiter: Waiter): Promise<void> {
    const { waitingTransfers, logger } = this.#options
    const { id, transfer } = waiter
    // The waiter is removed before the wake, because the transfer may wait again before `wake` returns.
    if (this.#waiting.delete(id)) this.#order = undefined
    try {
      if (!(await waitingTransfers.wake(id))) this.#endpointOf(transfer).release?.(transfer)
    } catch (error) {
      this.#add(waiter)
      logger.debug('a transfer could not be woken', { transfer: id, reason: toRelayerError(error).message })
    }
  }

  async #findEarlier(): Promise<void> {
    const { endpoints, waitingTransfers, logger, chain } = this.#options
    for (const [name, { reserve }] of endpoints) {
      if (!reserve) continue
      try {
        for await (const transfer of waitingTransfers.waiting(name)) {
          if (this.#stopped) return
          this.#add({ id: transferId(transfer), transfer })
        }
      } catch (error) {
        logger.warn('could not list the transfers that already waited for a gate; they poll the gate themselves', {
          chain: chain.name,
          ...problemOf(error),
        })
      }
    }
  }

  #collect(): void {
    const { portage_gate_waiting: waiting } = this.#options.metrics
    for (const labels of this.#shown.values()) waiting.set(labels, 0)
    for (const { transfer, code } of this.#waiting.values()) {
      if (!code) continue
      const labels = { route: `${transfer.bridge}:${transfer.sourceChain}:${transfer.targetChain}`, code }
      this.#shown.set(`${labels.route}:${code}`, labels)
      waiting.inc(labels)
    }
  }
}

function byNumber(a: Transfer, b: Transfer): number {
  return compare(a.sequence, b.sequence) || (a.emitter < b.emitter ? -1 : 1)
}
