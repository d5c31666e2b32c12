import { type Attempt, type LaneState, type Owner, newLane } from '../../domain/lane/lane.ts'
import type { ApplyRequest, LaneAnswer, LaneRequest, Observation, RolledBack } from '../../domain/lane/messages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'

export const first: Attempt = { kind: 'call', gasLimit: '100', maxFee: '10', tip: '1' }
export const bump: Attempt = { kind: 'call', gasLimit: '100', maxFee: '12', tip: '2' }
export const noop: Attempt = { kind: 'noop', gasLimit: '21', maxFee: '15', tip: '3' }

/** Drives a ledger whose account is at nonce 5 and block 100. The window is 3, and a nonce is filled after 4 blocks. */
export class Bench {
  state: LaneState = newLane({ lane: 'evm-1:0xa', window: 3, fillAfterBlocks: 4 })
  rolledBack: readonly RolledBack[] = []
  now = 0
  #seen: Observation = { latest: 5, finalized: 5, height: 100, hash: '0x1', balance: '1000000', claims: [], since: 0 }

  constructor(how: 'synced' | 'unsynced' = 'synced') {
    if (how === 'synced') this.observe({ pending: 5 })
  }

  apply(request: ApplyRequest) {
    const result = apply(this.state, request, this.now)
    this.state = result.state
    this.rolledBack = result.rolledBack
    return result.response
  }

  do(request: LaneRequest): LaneAnswer | undefined {
    return this.apply({ requests: [request] }).answers[0]
  }

  observe({ pending, ...change }: Partial<Observation>) {
    this.#seen = { ...this.#seen, ...change }
    return this.apply({ observe: { ...this.#seen, ...(pending !== undefined && { pending }) }, requests: [] })
  }

  grant(name: string, id = `${name}-1`, more: Partial<Owner> = {}): LaneAnswer | undefined {
    return this.do({ kind: 'grant', id, owner: { ...owner(name), ...more }, attempt: first })
  }

  attempt(nonce: number, index: number, attempt: Attempt) {
    return this.do({ kind: 'attempt', id: 'a', nonce, index, attempt })
  }

  release(name: string, grantedTo = `${name}-1`) {
    return this.do({ kind: 'release', id: 'r', intentId: owner(name).intentId, grantedTo })
  }

  withdraw(name: string, how: 'leave' | 'cancel' | 'abandon') {
    return this.do({ kind: 'withdraw', id: 'w', intentId: owner(name).intentId, how })
  }

  get orders() {
    return this.apply({ requests: [] }).orders.map(({ nonce, reason }) => [nonce, reason])
  }
}

export function owner(name: string): Owner {
  return { intentId: `transfer-${name}/1`, callHash: `0x${name}` }
}

export function nonceOf(answer: LaneAnswer | undefined): number | string | undefined {
  return answer?.kind === 'granted' ? answer.entry.nonce : answer?.kind === 'refused' ? answer.why : answer?.kind
}
