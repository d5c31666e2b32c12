import type { Attempt } from '../../domain/lane/lane.ts'
import type { Observation } from '../../domain/lane/messages.ts'

/** A transaction of the model. Transactions with the same `id` have the same bytes. */
export interface ModelTx {
  readonly id: string
  readonly nonce: number
  readonly maxFee: bigint
  readonly tip: bigint
}

export type Head = Pick<Observation, 'latest' | 'finalized' | 'height' | 'hash' | 'balance' | 'final'>

interface ModelBlock {
  readonly hash: string
  readonly txs: readonly ModelTx[]
}

/**
 * A chain whose pool has go-ethereum's rules: ascending nonces, and replacements that cost 10 % more in both fields.
 */
export class ModelChain {
  balance = 0n
  readonly first: number
  readonly #finalDepth: number
  readonly #pool = new Map<number, ModelTx>()
  #blocks: ModelBlock[] = [{ hash: 'b0', txs: [] }]
  #hashes = 0

  constructor(first: number, finalDepth: number) {
    this.first = first
    this.#finalDepth = finalDepth
  }

  get height(): number {
    return this.#blocks.length - 1
  }

  get latest(): number {
    return this.#countAt(this.height)
  }

  /** Counts the pool's transactions up to the first gap, as a node does. */
  get pending(): number {
    let nonce = this.latest
    while (this.#pool.has(nonce)) nonce++
    return nonce
  }

  get mined(): readonly ModelTx[] {
    return this.#blocks.flatMap((block) => block.txs)
  }

  head(): Head {
    const { height, latest } = this
    const depth = Math.max(0, height - this.#finalDepth)
    const final = { height: depth, hash: this.#blocks[depth]?.hash ?? '' }
    return { latest, finalized: this.#countAt(depth), height, hash: this.#blocks[height]?.hash ?? '', balance: String(this.balance), final }
  }

  send(tx: ModelTx): 'accepted' | 'known' | 'underpriced' | 'too low' {
    if (tx.nonce < this.latest) return 'too low'
    const there = this.#pool.get(tx.nonce)
    if (there?.id === tx.id) return 'known'
    const dearer = (now: bigint, before: bigint) => now * 100n >= before * 110n
    if (there && !(dearer(tx.maxFee, there.maxFee) && dearer(tx.tip, there.tip))) return 'underpriced'
    this.#pool.set(tx.nonce, tx)
    return 'accepted'
  }

  mine(room: number, baseFee: bigint): void {
    const txs: ModelTx[] = []
    for (let nonce = this.latest; txs.length < room; nonce++) {
      const tx = this.#pool.get(nonce)
      if (!tx || tx.maxFee < baseFee) break
      txs.push(tx)
    }
    for (const { nonce } of txs) this.#pool.delete(nonce)
    this.#blocks.push({ hash: `b${++this.#hashes}`, txs })
  }

  /** Replaces blocks that are not final. Their transactions return to the pool, or are lost if `forget`. */
  reorg(depth: number, forget: boolean): void {
    const gone = this.#blocks.splice(this.#blocks.length - Math.min(depth, this.#finalDepth, this.height))
    for (const tx of gone.flatMap((block) => block.txs)) {
      if (!forget && !this.#pool.has(tx.nonce)) this.#pool.set(tx.nonce, tx)
    }
    for (let i = 0; i < gone.length; i++) this.mine(0, 0n)
  }

  /** Also replaces final blocks. Their transactions are lost. */
  reorgDeep(depth: number): void {
    const gone = this.#blocks.splice(Math.max(1, this.#blocks.length - this.#finalDepth - depth))
    for (let i = 0; i < gone.length; i++) this.mine(0, 0n)
  }

  evict(nonce: number): void {
    this.#pool.delete(nonce)
  }

  external(nonce: number, fee: bigint): void {
    this.send({ id: `external ${nonce} ${++this.#hashes}`, nonce, maxFee: fee, tip: fee })
  }

  #countAt(height: number): number {
    return this.first + this.#blocks.slice(0, height + 1).reduce((sum, block) => sum + block.txs.length, 0)
  }
}

export function txOf(nonce: number, attempt: Attempt, intentId: string): ModelTx {
  const what = attempt.kind === 'noop' ? 'noop' : intentId
  const { maxFee, tip, gasLimit } = attempt
  return { id: `${nonce} ${what} ${gasLimit} ${maxFee} ${tip}`, nonce, maxFee: BigInt(maxFee), tip: BigInt(tip) }
}
