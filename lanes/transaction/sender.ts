import type { SendErrorClass } from '../../chains/port.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import type { LaneDeps } from '../deps.ts'

const ordinary: ReadonlySet<SendErrorClass> = new Set(['nonce-too-low', 'own-nonce-used', 'underpriced', 'replacement-underpriced'])

/** A transaction that a pool took may have been evicted: it is sent again after this many blocks outside a block. */
const resendAfterBlocks = 5
/** A stuck transaction that no fee replaces is sent again after this time, ms (OpenZeppelin on Arbitrum: 20 s). */
const resendAfterMs = 20_000
/** Blocks at which every node must refuse a transaction for good before it is given up. */
const agreedBlocks = 2
/** The same once a node had taken it: a pool can drop a transaction when it learns its cost later (zkEVM counters). */
const agreedBlocksOnceTaken = 5

type Refusals = { readonly error: 'fatal' | 'terminally-stuck'; readonly blocks: number; readonly height: number }

export class TransactionSender {
  readonly #deps: LaneDeps
  readonly #nonce: number
  readonly #resendAfter: number
  #lastHeight = -1
  #settled = false
  #taken = false
  #refusals: Refusals | undefined
  #sent: { hash: string; taken: boolean; refusals: Refusals | undefined } | undefined
  outpriced = false
  note = 'not sent yet'

  constructor(deps: LaneDeps, nonce: number) {
    const { chain } = deps
    this.#deps = deps
    this.#nonce = nonce
    this.#resendAfter = chain.raises ? resendAfterBlocks : Math.max(1, Math.ceil(resendAfterMs / chain.blockTimeMs))
  }

  unsettle(): void {
    this.#settled = false
  }

  due(height: number): boolean {
    return height > this.#lastHeight && !(this.#settled && height - this.#lastHeight < this.#resendAfter)
  }

  /** Sends to every node. Returns the error if all of them refuse. */
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

  /** All nodes said often enough that the call can never be mined. Once taken, `fatal` no longer counts. */
  get hopeless(): boolean {
    if (!this.#refusals) return false
    const { error, blocks } = this.#refusals
    if (this.#taken) return error === 'terminally-stuck' && blocks >= agreedBlocksOnceTaken
    return blocks >= agreedBlocks
  }

  /** All nodes said at two blocks that the last transaction can never be mined, and none ever took it. */
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
