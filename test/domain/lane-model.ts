import { bumpFees } from '../../domain/fees/fees.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { ApplyResponse, LaneAnswer, LaneRequest } from '../../domain/lane/messages.ts'
import { type Head, ModelChain, txOf } from './lane-chain.ts'
import { CheckedLane } from './lane-checker.ts'
import { ownerOf, type PendingTransaction, type Process, takeAnswer } from './lane-process.ts'
import { pick } from './pick.ts'
import assert from 'node:assert/strict'

export interface NetworkOptions {
  readonly window: number
  readonly fillAfterBlocks: number
  readonly finalDepth: number
  readonly first: number
  /** In wei. */
  readonly minimumBalance: number
}

export const market = { maxFee: '100', tip: '10' }
const gasLimit = '1000'
const processes = 3

/**
 * A ledger, its processes and their chain. Each method is one possible event. A method's numbers choose among the
 * existing processes, intents and transactions.
 */
export class Network {
  chain: ModelChain
  readonly lane: CheckedLane
  /** By nonce, the intents whose calls were signed. Any earlier ledger may have granted the nonce. */
  readonly signers = new Map<number, Set<string>>()
  readonly #options: NetworkOptions
  readonly #processes: Process[]
  #ids = 0

  constructor(options: NetworkOptions) {
    this.#options = options
    this.chain = new ModelChain(options.first, options.finalDepth)
    this.chain.balance = 10_000_000n
    const { window, fillAfterBlocks, minimumBalance } = options
    this.lane = new CheckedLane({ lane: 'evm-1:0xa', window, fillAfterBlocks, minimumBalance: String(minimumBalance) })
    this.#processes = Array.from({ length: processes }, () => this.#newProcess())
  }

  get processes(): readonly Process[] {
    return this.#processes
  }

  /** Asks the ledger for a nonce. Without `answered`, the answer is lost, and the process keeps waiting. */
  ask(
    p: number,
    intent: number,
    fee: string,
    answered: boolean,
    how: 'find' | 'look' | 'operatorTransaction' | 'new' = 'new',
    round = 1,
  ): void {
    const attempt: Attempt = { kind: 'call', gasLimit, maxFee: fee, tip: '10' }
    const [id, owner] = [this.#id(), ownerOf(intent, round)]
    const { intentId, callHash } = owner
    const request: LaneRequest =
      how === 'find' || how === 'look'
        ? { kind: 'find', id, intentId, ...(how === 'find' && { callHash }) }
        : { kind: 'grant', id, owner, attempt, ...(how === 'operatorTransaction' && { operatorTransaction: true }) }
    this.#ask(this.#process(p), [request], answered)
  }

  askMany(p: number, from: number, count: number): void {
    const process = this.#process(p)
    const attempt: Attempt = { kind: 'call', gasLimit, ...market }
    const requests = Array.from({ length: count }, (_, i) => ({
      kind: 'grant' as const,
      id: this.#id(),
      owner: ownerOf(from + i),
      attempt,
    }))
    this.look(p)
    this.#ask(process, requests, true, true)
  }

  repeat(p: number, which: number): void {
    const process = this.#process(p)
    const one = pick(process.asked, which)
    if (!one) return
    const { response } = this.lane.apply({ requests: [one.request], run: one.heard })
    if (!one.waiting) return
    one.waiting = false
    takeAnswer(process, this.lane.epoch, one.request, response.answers[0] as LaneAnswer)
    this.#learn(process, response)
  }

  sign(p: number, which: number): void {
    const process = this.#process(p)
    const pending = pick([...process.transactions.values()], which)
    if (pending) this.#signAndSend(pending)
  }

  bump(p: number, which: number, answered: boolean): void {
    const process = this.#process(p)
    const pending = pick([...process.transactions.values()], which)
    if (pending && pending.signed > 0) this.#raise(process, pending, answered)
  }

  release(p: number, which: number, answered: boolean): void {
    const process = this.#process(p)
    const pending = pick(
      [...process.transactions.values()].filter(({ signed, grantedTo }) => signed === 0 && grantedTo),
      which,
    )
    if (!pending?.intentId || !pending.grantedTo) return
    process.transactions.delete(pending.nonce)
    this.#ask(process, [{ kind: 'release', id: this.#id(), intentId: pending.intentId, grantedTo: pending.grantedTo }], answered)
  }

  withdraw(intent: number, how: 'leave' | 'cancel' | 'abandon'): void {
    this.lane.apply({ requests: [{ kind: 'withdraw', id: this.#id(), intentId: ownerOf(intent).intentId, how }] })
  }

  operator(request: LaneRequest, signal = false): void {
    this.lane.apply({ requests: [request] }, signal)
  }

  /**
   * Replaces the chain, as a reset of the devnet does, and crashes all processes. If the ledger knows no final block,
   * an operator resets the ledger.
   */
  replaceChain(): void {
    const { final } = this.lane.state.observed ?? {}
    this.chain = new ModelChain(this.#options.first, this.#options.finalDepth)
    this.chain.balance = 10_000_000n
    for (const p of this.#processes.keys()) this.crash(p)
    this.operator(final ? { kind: 'replaced', id: this.#id(), block: final } : { kind: 'reset', id: this.#id() })
  }

  crash(p: number): void {
    this.#processes[p % processes] = this.#newProcess()
  }

  look(p: number): void {
    this.#process(p).head = this.chain.head()
  }

  /**
   * Gives the process the newest block with nonces that are `blocksBehind` lower, as from a node that has not executed
   * the last blocks.
   */
  lookAtLaggingNode(p: number, blocksBehind: number): void {
    const { latest, finalized } = this.chain.head()
    const less = (nonce: number) => Math.max(this.chain.first, nonce - blocksBehind)
    this.#process(p).head = { ...this.chain.head(), latest: less(latest), finalized: less(finalized) }
  }

  observe(p: number): void {
    this.#ask(this.#process(p), [], true, true)
  }

  obey(p: number): void {
    const process = this.#process(p)
    for (const order of process.orders) this.#fill(process, order)
    for (const { nonce, after } of process.raises) {
      const pending = process.transactions.get(nonce)
      if (pending && !pending.forgotten && pending.attempts.length <= after) this.#raise(process, pending, true)
    }
  }

  /** Mines blocks without further failures. Throws if the ledger still has work after many blocks. */
  settle(): void {
    this.chain.balance = 10n ** 18n
    if (this.lane.state.replaced) this.operator({ kind: 'reset', id: this.#id() })
    this.operator({ kind: 'activate', id: this.#id() })
    this.operator({ kind: 'setWindow', id: this.#id(), window: 4 })
    const { config } = this.lane.state
    const rounds = 50 + 12 * (config.fillAfterBlocks + 3)
    for (let round = 0; round < rounds; round++) {
      for (const [p, process] of this.#processes.entries()) {
        this.look(p)
        this.observe(p)
        this.obey(p)
        for (const pending of process.transactions.values()) this.#drive(process, pending)
      }
      this.chain.mine(3, 50n)
      const { synced, next, observed, entries } = this.lane.state
      // After a reorg deeper than finality, the ledger learns one block late that its nonces are gone.
      const done = observed?.finalized === next && this.chain.head().finalized === next
      if (synced && done && Object.keys(entries).length === 0) return
    }
    assert.fail(`after ${rounds} blocks the ledger still owes ${JSON.stringify(this.lane.state)}, on chain ${this.chain.latest}`)
  }

  #drive(process: Process, pending: PendingTransaction): void {
    if (pending.nonce < this.chain.latest) return
    if (this.#signAndSend(pending) === 'underpriced' || pending.nonce === process.head.latest) this.#raise(process, pending, true)
  }

  #fill(process: Process, { nonce, attempts, epoch }: Process['orders'][number]): void {
    const known = process.transactions.get(nonce)
    const pending: PendingTransaction =
      known && !known.forgotten ? known : { nonce, epoch, attempts, outbid: known?.outbid ?? [], signed: 0, forgotten: false }
    process.transactions.set(nonce, pending)
    if (attempts.length > pending.attempts.length) pending.attempts = attempts
    if (pending.attempts.at(-1)?.kind !== 'noop') this.#append(process, pending, 'noop', true)
    // The fees of an inherited transaction are unknown, so they are outbid step by step.
    for (let steps = 0; steps < 30 && this.#signAndSend(pending) === 'underpriced'; steps++) this.#append(process, pending, 'noop', true)
  }

  #raise(process: Process, pending: PendingTransaction, answered: boolean): void {
    const kind = pending.attempts.at(-1)?.kind
    if (kind) this.#append(process, pending, kind, answered)
  }

  #append(process: Process, pending: PendingTransaction, kind: Attempt['kind'], answered: boolean): void {
    const attempt: Attempt = { kind, gasLimit, ...bumpFees([...pending.attempts, ...pending.outbid], market) }
    this.#ask(process, [{ kind: 'attempt', id: this.#id(), nonce: pending.nonce, index: pending.attempts.length, attempt }], answered)
  }

  #signAndSend(pending: PendingTransaction): ReturnType<ModelChain['send']> | undefined {
    let last: Attempt | undefined
    if (pending.intentId) this.signers.set(pending.nonce, (this.signers.get(pending.nonce) ?? new Set()).add(pending.intentId))
    for (const [index, attempt] of pending.attempts.entries()) {
      if (attempt.kind === 'call' && !pending.intentId) continue
      this.lane.signing(pending.epoch, pending.nonce, index, attempt, pending.intentId)
      pending.signed += 1
      last = attempt
    }
    if (!last) return undefined
    pending.outbid = [last]
    return this.chain.send(txOf(pending.nonce, last, pending.intentId ?? ''))
  }

  #ask(process: Process, requests: readonly LaneRequest[], answered: boolean, observe = false): void {
    const { heard } = process
    const response = this.#update(process, requests, observe)
    for (const [index, request] of requests.entries()) {
      process.asked.push({ request, heard, waiting: !answered })
      if (answered) takeAnswer(process, this.lane.epoch, request, response.answers[index] as LaneAnswer)
    }
    if (!answered) return
    process.hasReported ||= observe
    this.#learn(process, response)
  }

  /** Gives the process the view, orders and raises of a response, as lanes/ledger/ledger-client.ts does. */
  #learn(process: Process, response: ApplyResponse): void {
    process.heard = String(this.lane.run)
    const { era, granted, next, finalized } = response.view
    if (process.known?.era !== era || granted >= process.known.granted) process.known = { era, granted, next, finalized }
    process.orders = response.orders.map((order) => ({ ...order, epoch: this.lane.epoch }))
    process.raises = response.raises
  }

  #update(process: Process, requests: readonly LaneRequest[], observe: boolean): ApplyResponse {
    const { head, since, transactions } = process
    const claims = [...transactions.values()]
      .filter(({ nonce, signed, forgotten }) => signed > 0 && !forgotten && nonce >= head.latest)
      .map(({ nonce }) => nonce)
    const pending = this.lane.state.synced && process.hasReported ? {} : { pending: this.chain.pending }
    const undone = this.#isUndone(head) ? { undone: true } : {}
    const { known, heard } = process
    const seen = { ...head, claims, since, ...pending, ...undone }
    return this.lane.apply({ requests, run: heard, ...(observe && { observe: seen }), ...(known && { known }) }).response
  }

  /**
   * Whether final nonces were undone, by the rule of lanes/account/account-observer.ts. In the model, the chain itself
   * answers for most nodes.
   */
  #isUndone({ finalized, final }: Head): boolean {
    const { observed } = this.lane.state
    const { finalized: agreed } = this.chain.head()
    return (
      observed?.finalizedAt !== undefined &&
      finalized < observed.finalized &&
      agreed < observed.finalized &&
      (final?.height ?? 0) >= observed.finalizedAt
    )
  }

  #newProcess(): Process {
    const head = this.chain.head()
    const empty = { known: undefined, heard: '', hasReported: false, orders: [], raises: [], asked: [] }
    return { head, since: head.height, transactions: new Map(), ...empty }
  }

  #process(p: number): Process {
    return this.#processes[p % processes] as Process
  }

  #id(): string {
    return `r${++this.#ids}`
  }
}
