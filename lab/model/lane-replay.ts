import { isWithdrawn } from '../../domain/lane/entries.ts'
import {
  type Entry,
  type FillReason,
  intentIdOf,
  type LaneConfig,
  type LaneState,
  newLane,
  roundOf,
  workflowOf,
} from '../../domain/lane/lane.ts'
import type { ApplyResponse, Ask, LaneAnswer, Observation } from '../../domain/lane/messages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'
import { type ModelStep, numberOf, numbersOf, textOf } from './trace.ts'
import type { TlaValue } from './value.ts'

/**
 * Fill reasons for which the ledger orders a fill only after some blocks, although the model may fill the nonce
 * immediately. The replay therefore does not demand that the ledger has already ordered the fill.
 */
const timed: readonly FillReason[] = ['released', 'inherited']
/** Time for which no process reports, ms. Longer than `withoutWorkerMs`, so that an intent may abandon its nonce. */
const silenceMs = 40_000
const attempt = { gasLimit: '21000', maxFee: '100', tip: '1' } as const
const balance = '1000000000000000000'

export interface LaneScope {
  readonly nonces: number
  readonly window: number
  readonly rounds: number
  readonly transfers: readonly string[]
}

/**
 * Repeats the steps of Lane.tla with the reducer of `domain/lane`. The replay chooses ids, heights and times, which the
 * model does not have. `fillAfterBlocks` is 1, so a nonce without a claim becomes an orphan at the next block.
 */
export class LaneReplay {
  readonly #scope: LaneScope
  readonly #config: LaneConfig
  #requests: Map<number, string> = new Map()
  #state: LaneState
  #backup: { readonly state: LaneState; readonly requests: ReadonlyMap<number, string>; readonly height: number } | undefined
  #count = 0
  #height = 1
  #now = silenceMs * 2

  constructor(scope: LaneScope) {
    this.#scope = scope
    this.#config = { lane: 'evm-1:0xa', window: scope.window, fillAfterBlocks: 1 }
    this.#state = newLane(this.#config)
  }

  step({ name, args }: ModelStep): void {
    switch (name) {
      case 'Ask':
        this.#requests.set(numberOf(args[0]), `request-${++this.#count}`)
        return this.#grant(args)
      case 'Repeat':
        return args[1] === 'release' ? this.#release(args) : this.#grant([args[0] ?? null, ...args.slice(2)])
      case 'AskLate':
        return void this.#requests.set(numberOf(args[0]), `request-${++this.#count}`)
      case 'Release':
        return this.#release(args)
      case 'Hear':
        return this.#hear(numberOf(args[0]))
      case 'Record':
        return this.#record(args)
      case 'Observe':
        return this.#observe(args)
      case 'Withdraw':
        return this.#withdraw(args)
      case 'Backup':
        return void (this.#backup = { state: this.#state, requests: new Map(this.#requests), height: this.#height })
      case 'Lose':
        return this.#lose(args[0] === true)
      default:
    }
  }

  /** The ledger's state in the form of the model's variable `ledger`. */
  get abstraction(): TlaValue {
    const { synced, observed, next, entries } = this.#state
    const { nonces, rounds, transfers } = this.#scope
    const intents = transfers.flatMap((transfer) => Array.from({ length: rounds }, (_, round) => intentIdOf(transfer, round + 1)))
    const { latest = 0, finalized = 0 } = observed ?? {}
    return {
      ...{ synced, seen: observed !== undefined, latest, finalized, next },
      entries: new Map(Array.from({ length: nonces }, (_, nonce) => [nonce, this.#entry(entries[nonce])])),
      tombstones: new Set(intents.filter((intent) => isWithdrawn(this.#state, intent)).map(intentValue)),
    }
  }

  #entry(entry: Entry | undefined): TlaValue {
    if (!entry) return null
    const { owner, grantedTo, maybeSent, fill = 'none', attempts, abandonedBy } = entry
    const known = [...this.#requests].find(([, request]) => request === grantedTo)
    return {
      owner: owner ? intentValue(owner.intentId) : null,
      // The model keeps no request id once a call may have been sent or the nonce was released.
      id: maybeSent || fill === 'released' ? 0 : (known?.[0] ?? -1),
      ...{
        sent: maybeSent,
        fill,
        attempts: attempts.map(({ kind }) => kind),
        by: abandonedBy === undefined ? null : intentValue(abandonedBy),
      },
    }
  }

  #grant([id, intent, nonce]: readonly (TlaValue | undefined)[]): void {
    const intentId = intentOf(intent)
    const answer = this.#ask(
      { kind: 'grant', owner: { intentId, callHash: workflowOf(intentId) }, attempt: { kind: 'call', ...attempt } },
      id,
    )
    expect(answer, nonce === null ? 'refused' : 'granted')
    if (answer.kind === 'granted' && answer.entry.nonce !== nonce) throw new Error(`the reducer granted nonce ${answer.entry.nonce}`)
  }

  #release([id, ...rest]: readonly (TlaValue | undefined)[]): void {
    const intent = rest.find(Array.isArray) as TlaValue
    this.#ask({ kind: 'release', intentId: intentOf(intent), grantedTo: this.#request(id) })
  }

  #hear(nonce: number): void {
    const { orders } = this.#apply([])
    const reason = this.#state.entries[nonce]?.fill
    if (reason === undefined) throw new Error(`the ledger has no reason to fill nonce ${nonce}`)
    if (!timed.includes(reason) && !orders.some((order) => order.nonce === nonce))
      throw new Error(`the answer does not order to fill nonce ${nonce}`)
  }

  #record([nonce, place, kind]: readonly TlaValue[]): void {
    const made = { kind: kind === 'noop' ? 'noop' : 'call', ...attempt } as const
    this.#ask({ kind: 'attempt', nonce: numberOf(nonce), index: numberOf(place) - 1, attempt: made })
  }

  #observe([shown, finalized, pool, claims, waited]: readonly TlaValue[]): void {
    if (waited === true) this.#height += 1
    const observe: Observation = {
      ...{ latest: numberOf(shown), finalized: numberOf(finalized), height: this.#height, hash: `block-${this.#height}`, balance },
      claims: numbersOf(claims),
      // Without a wait, the observing process has begun in this block, so no nonce counts as idle.
      since: waited === true ? 0 : this.#height,
      ...(pool !== null && { pending: numberOf(pool) }),
    }
    this.#apply([], observe)
  }

  #withdraw([intent, how, free]: readonly TlaValue[]): void {
    if (how === 'abandon') this.#now += silenceMs
    const answer = this.#ask({ kind: 'withdraw', intentId: intentOf(intent), how: how as 'leave' | 'cancel' | 'abandon' })
    expect(answer, free === true ? 'free' : 'held')
  }

  #lose(restored: boolean): void {
    const from = restored ? this.#backup : undefined
    this.#state = from?.state ?? newLane(this.#config)
    // The model has no heights. After a restore, the next block follows the last block that the ledger knows.
    this.#height = from?.height ?? 1
    this.#requests = new Map(from?.requests)
    this.#backup = undefined
  }

  #request(id: TlaValue | undefined): string {
    return this.#requests.get(numberOf(id)) ?? ''
  }

  #ask(ask: Ask, id?: TlaValue): LaneAnswer {
    const [answer] = this.#apply([{ ...ask, id: id === undefined ? `request-${++this.#count}` : this.#request(id) }]).answers
    if (!answer) throw new Error('the reducer gave no answer')
    return answer
  }

  #apply(requests: Parameters<typeof apply>[1]['requests'], observe?: Observation): ApplyResponse {
    this.#now += 1
    const { state, response } = apply(this.#state, { requests, ...(observe && { observe }) }, this.#now)
    this.#state = state
    return response
  }
}

function expect(answer: LaneAnswer, kind: LaneAnswer['kind']): void {
  if (answer.kind !== kind) throw new Error(`the model expects ${kind}, the reducer answers ${JSON.stringify(answer)}`)
}

function intentOf(value: TlaValue | undefined): string {
  const [transfer, round] = Array.isArray(value) ? (value as readonly TlaValue[]) : []
  return intentIdOf(textOf(transfer), numberOf(round))
}

const intentValue = (intentId: string): TlaValue => [workflowOf(intentId), roundOf(intentId)]
