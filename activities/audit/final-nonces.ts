import type { Chain } from '../../chains/port.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { callHash } from '../../lanes/lane-call.ts'

/** Answers that are kept, of all lanes; a nonce has one or two. */
const mostKept = 50_000

/** The transaction that used a nonce. */
export interface NonceUser {
  readonly hash: string
  readonly callHash: string
  readonly height: number
}

interface Source {
  readonly chain: Chain
  /** Of the lane's ledger, which begins anew where the chain was replaced. */
  readonly era: number
}

/**
 * What used final nonces, and when: it never changes, so a look that was ended goes on where it was. In memory, bounded; beyond that the oldest answers are read
 * again. Two looks at one nonce share its read. What the nodes do not tell, or not alike, is not kept.
 */
export class FinalNonces {
  readonly #answers = new Map<string, Promise<unknown>>()
  readonly #mostKept: number

  constructor(most = mostKept) {
    this.#mostKept = most
  }

  /** Of a nonce that is final; undefined: the nodes no longer tell. Throws as `Chain.mined`. */
  user({ chain, era }: Source, lane: LaneId, nonce: number): Promise<NonceUser | undefined> {
    return this.#once(`${lane} ${era} nonce ${nonce}`, async () => {
      const mined = await chain.mined(laneAddress(lane), nonce)
      return mined && { hash: mined.hash, callHash: callHash(mined.call), height: mined.block.height }
    })
  }

  /** Time of the block of a final transaction, ms since the epoch; undefined: the nodes no longer tell. Throws as `Chain.block`. */
  minedAt({ chain, era }: Source, lane: LaneId, { height }: NonceUser): Promise<number | undefined> {
    return this.#once(`${lane} ${era} block ${height}`, async () => {
      const block = await chain.block(height, 'agreed')
      return block && block.timestamp * 1000
    })
  }

  #once<T>(key: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const known = this.#answers.get(key)
    if (known) return known as Promise<T | undefined>
    const answer = read()
    this.#answers.set(key, answer)
    const forget = () => void (this.#answers.get(key) === answer && this.#answers.delete(key))
    answer.then((value) => (value === undefined ? forget() : undefined), forget)
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#mostKept) break
      this.#answers.delete(oldest)
    }
    return answer
  }
}
