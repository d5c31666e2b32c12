import { createHash } from 'node:crypto'
import { type Chance, chanceOf } from '../../faults/random.ts'
import { world } from '../clock.ts'

export interface SimulatedTransaction {
  readonly hash: string
  readonly signingHash: string
  readonly from: string
  readonly nonce: number
  readonly to: string
  readonly data: string
  readonly value: string
  readonly gasLimit: number
  /** Wei per gas, like `tip`. */
  readonly maxFee: number
  readonly tip: number
}

export interface Mined {
  readonly transaction: SimulatedTransaction
  readonly height: number
  readonly blockHash: string
  readonly index: number
  readonly status: 'success' | 'reverted'
  readonly price: number
}

export interface SimulatedBlock {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: number
  readonly baseFee: number
  readonly mined: readonly Mined[]
}

export interface NetworkOptions {
  readonly name: string
  readonly networkId: string
  readonly blockTimeMs: number
  /** A block is final once this number of blocks is above it. */
  readonly depth: number
  readonly capacity: number
  /** Whether the contract reverts a second delivery, as real contracts do. */
  readonly guards: boolean
  /** Probabilities of a fork and of a price spike, per block, in [0, 1]. */
  readonly reorgs: number
  readonly spikes: number
  /** Probability that the pool drops a transaction, per transaction and block. */
  readonly drops: number
  readonly seed: string
}

export type PoolAnswer = 'accepted' | 'known' | 'nonce-too-low' | 'replacement-underpriced' | 'underpriced' | 'pool-limit'

export const gwei = 1_000_000_000
/**
 * Maximum base fee, wei. About the highest base fee that Ethereum has had. Without a maximum, spikes would exceed every
 * lane's balance.
 */
const mostBaseFee = 7_500 * gwei
const quietMs = 5 * 60_000
const rareMs = 10_000
const gasPerCall = 100_000
/** Minimum raise of the fees for a replacement, percent: go-ethereum's PriceBump. */
const priceBump = 10
/** Maximum number of pooled transactions per account: go-ethereum's AccountSlots plus AccountQueue. */
const mostPerAccount = 80

/** A chain with forks, a gas market and one pool: the true state. Processes see the chain late, through `ChainView`. */
export class Network {
  readonly options: NetworkOptions
  readonly blocks: SimulatedBlock[] = []
  /** Deliveries in the current chain, by transfer. A second delivery is a duplicate effect. */
  readonly effects = new Map<string, Mined[]>()
  readonly byHash = new Map<string, Mined>()
  /** Number of deliveries that the contract reverted because the transfer was already delivered. */
  wasted = 0
  readonly #chance: Chance
  readonly #pool = new Map<string, Map<number, SimulatedTransaction>>()
  readonly #byNonce = new Map<string, Mined[]>()
  #baseFee = 5 * gwei
  /** Minimum base fee, wei. Grows with each spike, so that transactions with low fees must be replaced. */
  #least = gwei
  #spike = 0
  #forks = 0
  #finalized = 0
  #isCalm = false
  #calmSince = Infinity
  readonly #log: ((line: string) => void) | undefined

  constructor(options: NetworkOptions, log?: (line: string) => void) {
    this.options = options
    this.#log = log
    this.#chance = chanceOf(`${options.seed}/${options.name}`)
    this.#add([])
  }

  get head(): SimulatedBlock {
    return this.blocks.at(-1) as SimulatedBlock
  }

  get finalized(): number {
    return this.#finalized
  }

  get baseFee(): number {
    return this.#baseFee
  }

  /** Average time between two blocks, ms. Blocks become rare long after the last fault, when transfers only wait. */
  get intervalMs(): number {
    const { blockTimeMs } = this.options
    return world.clock.now - this.#calmSince > quietMs ? Math.max(blockTimeMs, rareMs) : blockTimeMs
  }

  start(): void {
    const next = () => {
      this.#grow()
      world.clock.after(this.intervalMs * (0.5 + this.#chance.next()), next)
    }
    next()
  }

  calm(): void {
    this.#isCalm = true
    this.#calmSince = world.clock.now
    this.#spike = 0
  }

  block(height: number): SimulatedBlock | undefined {
    return this.blocks[height]
  }

  nonceAt(address: string, height: number): number {
    const all = this.#byNonce.get(address) ?? []
    let count = all.length
    while (count > 0 && (all[count - 1] as Mined).height > height) count -= 1
    return count
  }

  minedAt(address: string, nonce: number): Mined | undefined {
    return this.#byNonce.get(address)?.[nonce]
  }

  delivered(key: string, height: number): Mined | undefined {
    const [first] = this.effects.get(key) ?? []
    return first && first.height <= height ? first : undefined
  }

  pendingNonce(address: string): number {
    let nonce = this.nonceAt(address, this.head.height)
    const pool = this.#pool.get(address)
    while (pool?.has(nonce)) nonce += 1
    return nonce
  }

  #highestPending(address: string): number {
    return Math.max(-1, ...(this.#pool.get(address)?.keys() ?? []))
  }

  /** Whether the pool has a call of the transfer that a block may still include. */
  mayDeliver(key: string): boolean {
    for (const [address, pool] of this.#pool) {
      const used = this.nonceAt(address, this.#finalized)
      for (const transaction of pool.values()) if (transaction.nonce >= used && deliveredBy(transaction) === key) return true
    }
    return false
  }

  send(transaction: SimulatedTransaction): PoolAnswer {
    const { from, nonce, hash, maxFee, tip } = transaction
    if (this.byHash.has(hash)) return 'nonce-too-low'
    if (nonce < this.nonceAt(from, this.head.height)) return 'nonce-too-low'
    const pool = this.#pool.get(from) ?? new Map<number, SimulatedTransaction>()
    this.#pool.set(from, pool)
    const present = pool.get(nonce)
    if (present?.hash === hash) return 'known'
    if (!this.#isCalm && this.#chance.next() < 0.005) return 'pool-limit'
    const isRaised = (now: number, was: number) => now * 100 >= was * (100 + priceBump)
    if (present && !(isRaised(maxFee, present.maxFee) && isRaised(tip, present.tip))) return 'replacement-underpriced'
    if (!present && pool.size >= mostPerAccount) {
      const highest = this.#highestPending(from)
      if (nonce > highest) return 'pool-limit'
      pool.delete(highest)
    }
    pool.set(nonce, transaction)
    return 'accepted'
  }

  #grow(): void {
    const { reorgs, spikes } = this.options
    if (!this.#isCalm && this.#chance.next() < reorgs) this.#fork()
    if (!this.#isCalm && this.#chance.next() < spikes) this.#spike = this.#chance.whole(5, 40)
    this.#price()
    this.#forget()
    this.#add(this.#chosen())
  }

  /**
   * Sets the base fee of the next block. In a spike, each block raises the base fee by an eighth (the maximum of
   * EIP-1559).
   */
  #price(): void {
    if (this.#spike > 0) {
      this.#spike -= 1
      this.#baseFee = Math.min(mostBaseFee, Math.round(this.#baseFee * 1.125))
      this.#least = Math.max(this.#least, this.#baseFee / 2)
    } else if (this.#baseFee > this.#least) this.#baseFee = Math.round(Math.max(this.#least, this.#baseFee * 0.9))
  }

  #forget(): void {
    if (this.#isCalm || this.options.drops === 0) return
    for (const pool of this.#pool.values())
      for (const nonce of pool.keys()) if (this.#chance.next() < this.options.drops) pool.delete(nonce)
  }

  #chosen(): SimulatedTransaction[] {
    const chosen: SimulatedTransaction[] = []
    for (const [address, pool] of this.#pool) {
      let nonce = this.nonceAt(address, this.head.height)
      for (const old of pool.keys()) if (old < nonce) pool.delete(old)
      for (
        let next = pool.get(nonce);
        next && next.maxFee >= this.#baseFee && chosen.length < this.options.capacity;
        next = pool.get(++nonce)
      ) {
        chosen.push(next)
        pool.delete(nonce)
      }
    }
    return chosen
  }

  #add(transactions: readonly SimulatedTransaction[]): void {
    const height = this.blocks.length
    const hash = `0x${fold(`${this.options.networkId}/${height}/${this.#forks}`)}`
    const parentHash = this.blocks.at(-1)?.hash ?? '0x0'
    const mined = transactions.map((transaction, index) => this.#execute(transaction, { height, blockHash: hash, index }))
    this.#finalized = Math.max(this.#finalized, height - this.options.depth)
    this.blocks.push({ height, hash, parentHash, timestamp: Math.floor(world.clock.wall / 1_000), baseFee: this.#baseFee, mined })
  }

  #execute(transaction: SimulatedTransaction, place: Pick<Mined, 'height' | 'blockHash' | 'index'>): Mined {
    const { from, hash, maxFee, tip } = transaction
    const key = deliveredBy(transaction)
    const before = key === undefined ? [] : (this.effects.get(key) ?? [])
    const isSecond = before.length > 0 && this.options.guards
    if (isSecond) this.wasted += 1
    const price = Math.min(maxFee, this.#baseFee + tip)
    this.#log?.(
      `block ${place.height} of ${this.options.name}: nonce ${transaction.nonce} of ${from}, ${key ?? 'no-op'}${isSecond ? ', reverts' : ''}`,
    )
    const mined: Mined = { transaction, ...place, status: isSecond ? 'reverted' : 'success', price }
    this.byHash.set(hash, mined)
    const all = this.#byNonce.get(from) ?? []
    this.#byNonce.set(from, all)
    all.push(mined)
    if (key !== undefined && !isSecond) this.effects.set(key, [...before, mined])
    return mined
  }

  /** Replaces some blocks that are not final. Most of their transactions return to the pool. */
  #fork(): void {
    const most = this.head.height - this.finalized
    if (most < 1) return
    this.#forks += 1
    const depth = this.#chance.whole(1, most)
    this.#log?.(`fork of ${this.options.name}: the blocks from ${this.head.height - depth + 1} to ${this.head.height} are replaced`)
    for (let left = depth; left > 0; left--) {
      const block = this.blocks.pop()
      for (const one of block?.mined.toReversed() ?? []) this.#undo(one)
    }
    // The new branch is made as long as the old branch, because nodes do not follow a shorter branch.
    for (let left = depth; left > 0; left--) this.#add(this.#chance.next() < 0.5 ? this.#chosen() : [])
  }

  #undo(one: Mined): void {
    const { transaction } = one
    this.byHash.delete(transaction.hash)
    this.#byNonce.get(transaction.from)?.pop()
    const key = deliveredBy(transaction)
    const left = key === undefined ? [] : (this.effects.get(key) ?? []).filter((other) => other !== one)
    if (key !== undefined && left.length === 0) this.effects.delete(key)
    else if (key !== undefined) this.effects.set(key, left)
    if (this.#chance.next() < 0.8) this.#pool.get(transaction.from)?.set(transaction.nonce, transaction)
  }
}

const contract = `0x${'c0'.repeat(20)}`
export const deliverySelector = '0xde110e4a'

export function deliveryCall(key: string): { to: string; data: string; value: string } {
  return { to: contract, data: `${deliverySelector}${Buffer.from(key).toString('hex')}`, value: '0' }
}

export const deliveryGas = gasPerCall

export function deliveredBy({ to, data }: Pick<SimulatedTransaction, 'to' | 'data'>): string | undefined {
  return to === contract && data.startsWith(deliverySelector) ? Buffer.from(data.slice(10), 'hex').toString() : undefined
}

export function fold(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
