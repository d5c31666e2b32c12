import type { SendErrorClass } from '../../chains/port.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import type { LaneDeps } from '../deps.ts'

/** What the next block, or a raise of the fee, answers by itself. */
const ordinary: ReadonlySet<SendErrorClass> = new Set(['nonce-too-low', 'own-nonce-used', 'underpriced', 'replacement-underpriced'])

/** A transaction that a pool took may have been evicted: it is sent again after so many blocks outside a block. */
const resendAfterBlocks = 5
/** Where a higher fee replaces nothing, resending is all that can be done for a stuck one, ms (OpenZeppelin's relayer on Arbitrum: 20 s). */
const resendAfterMs = 20_000
/** A transaction may be given up after every node said at so many blocks that it can never be mined. */
const agreedBlocks = 2
/** The same for one that a node had taken before: a pool can drop it when it finds out later what it costs (zkEVM counters). */
const agreedBlocksOnceTaken = 5

/** At so many blocks without a break all nodes said that a transaction can never be mined. */
type Refusals = { readonly error: 'fatal' | 'terminally-stuck'; readonly blocks: number; readonly height: number }

/** Sends the transactions of one nonce, and remembers what the nodes said. */
export class Broadcaster {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #resendAfter: number
  #lastHeight = -1
  #settled = false
  #taken = false
  /** Of all transactions of the nonce. */
  #refusals: Refusals | undefined
  #sent: { hash: string; taken: boolean; refusals: Refusals | undefined } | undefined
  /** Our dearest transaction, sent last, is too cheap to replace the one that a pool holds. */
  outpriced = false
  note = 'not sent yet'

  constructor(deps: LaneDeps, nonce: number) {
    const { chain } = deps
    this.#deps = deps
    this.#nonce = nonce
    this.#resendAfter = chain.raises ? resendAfterBlocks : Math.max(1, Math.ceil(resendAfterMs / chain.blockTimeMs))
  }

  /** A pool need not have it any more. */
  unsettle(): void {
    this.#settled = false
  }

  /** Is it time for the same bytes again? */
  due(height: number): boolean {
    return height > this.#lastHeight && !(this.#settled && height - this.#lastHeight < this.#resendAfter)
  }

  /** Sends to every node; returns the error for which they agree to refuse it. */
  async send({ raw, hash }: SignedTransaction, height: number): Promise<SendErrorClass | undefined> {
    this.#lastHeight = height
    const { chain, logger } = this.#deps
    const outcome = await chain.send(raw, hash)
    const error = outcome.kind === 'refused' ? outcome.error : undefined
    const before = this.#sent?.hash === hash ? this.#sent : undefined
    this.#refusals = counted(this.#refusals, error, height)
    this.#sent = { hash, taken: before?.taken || error === undefined, refusals: counted(before?.refusals, error, height) }
    this.outpriced = error === 'replacement-underpriced'
    // A transaction that is too cheap is raised, not sent again.
    this.#settled = error === undefined || error === 'underpriced' || error === 'replacement-underpriced'
    this.#taken ||= error === undefined
    this.note = outcome.kind === 'refused' ? `${outcome.error}: ${outcome.message}` : `sent, hash ${hash}`
    logger.debug('a transaction was sent', { nonce: this.#nonce, hash, outcome: outcome.kind })
    if (outcome.kind === 'refused') {
      const code = outcome.error === 'insufficient-funds' ? 'LANE_FUNDS' : 'TRANSACTION_REFUSED'
      const about = { nonce: this.#nonce, class: outcome.error, code, reason: outcome.message } as const
      logger[ordinary.has(outcome.error) ? 'debug' : 'warn']('a node refused a transaction', about)
    }
    return error
  }

  /** Whether all nodes said often enough that the call can never be mined. Once a node has taken it, `fatal` is not believed any more. */
  get hopeless(): boolean {
    if (!this.#refusals) return false
    const { error, blocks } = this.#refusals
    if (this.#taken) return error === 'terminally-stuck' && blocks >= agreedBlocksOnceTaken
    return blocks >= agreedBlocks
  }

  /** True if all nodes said at two blocks that the transaction sent last can never be mined, and none ever took it; others of its nonce may be. */
  get unfit(): boolean {
    const { taken = true, refusals } = this.#sent ?? {}
    return !taken && refusals?.error === 'fatal' && refusals.blocks >= agreedBlocks
  }
}

function counted(before: Refusals | undefined, error: SendErrorClass | undefined, height: number): Refusals | undefined {
  if (error !== 'fatal' && error !== 'terminally-stuck') return undefined
  if (before?.error !== error) return { error, blocks: 1, height }
  return before.height < height ? { error, blocks: before.blocks + 1, height } : before
}
