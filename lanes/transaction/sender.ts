import type { SendOutcome } from '../../chains/port.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import type { SendErrorClass } from '../../domain/lane/send-errors.ts'
import type { LaneDeps } from '../deps.ts'

const ordinary: ReadonlySet<SendErrorClass> = new Set(['nonce-too-low', 'own-nonce-used', 'underpriced', 'replacement-underpriced'])

/** Number of blocks without inclusion after which a transaction is sent again, because pools may evict it. */
const resendAfterBlocks = 5
/**
 * Interval of repeated sends, ms, on chains where a higher fee replaces no transaction (OpenZeppelin on Arbitrum: 20
 * s).
 */
const resendAfterMs = 20_000
/** Number of blocks at which each node that answers must refuse a call for good before the call counts as hopeless. */
const agreedBlocks = 2
/**
 * Like `agreedBlocks`, for a call that a node has accepted. A pool may drop such a call later, if it uses too many
 * zkEVM counters.
 */
const agreedBlocksOnceTaken = 5

interface Refusals {
  readonly error: 'fatal' | 'terminally-stuck'
  readonly blocks: number
  /** Number of these blocks at which most nodes answered, each with a refusal for good. */
  readonly agreed: number
  readonly height: number
}

export type TransactionSender = ReturnType<typeof createTransactionSender>

export function createTransactionSender({ chain, logger }: LaneDeps, nonce: number) {
  const resendAfter = chain.raises ? resendAfterBlocks : Math.max(1, Math.ceil(resendAfterMs / chain.blockTimeMs))
  let lastHeight = -1
  let settled = false
  let taken = false
  let refusals: Refusals | undefined
  let sent: { hash: string; taken: boolean; refusals: Refusals | undefined } | undefined
  const sender = {
    outpriced: false,
    note: 'not sent yet',
    unsettle: () => void (settled = false),
    due: (height: number) => height > lastHeight && !(settled && height - lastHeight < resendAfter),
    async send({ raw, hash }: SignedTransaction, height: number): Promise<SendErrorClass | undefined> {
      lastHeight = height
      const outcome = await chain.send(raw, hash)
      const error = outcome.kind === 'refused' ? outcome.error : undefined
      const before = sent?.hash === hash ? sent : undefined
      refusals = counted(refusals, outcome, height)
      sent = { hash, taken: before?.taken || error === undefined, refusals: counted(before?.refusals, outcome, height) }
      sender.outpriced = error === 'replacement-underpriced'
      settled = error === undefined || error === 'underpriced' || error === 'replacement-underpriced'
      taken ||= error === undefined
      sender.note = outcome.kind === 'refused' ? `${outcome.error}: ${outcome.message}` : `sent, hash ${hash}`
      logger.debug('a transaction was sent', { nonce, hash, outcome: outcome.kind })
      if (outcome.kind === 'refused') {
        const code = outcome.error === 'insufficient-funds' ? 'LANE_FUNDS' : 'TRANSACTION_REFUSED'
        const about = { nonce, class: outcome.error, code, reason: outcome.message } as const
        logger[ordinary.has(outcome.error) ? 'debug' : 'warn']('a node refused a transaction', about)
      }
      return error
    },
    /**
     * Whether each node that answered refused the call for good, at two blocks. Once a node has accepted the call, only
     * `terminally-stuck` counts.
     */
    isHopeless(): boolean {
      if (!refusals) return false
      const { error, blocks } = refusals
      return taken ? error === 'terminally-stuck' && blocks >= agreedBlocksOnceTaken : blocks >= agreedBlocks
    },
    /** Whether most nodes refused the call at two blocks. Otherwise, the refusal does not count as a loss. */
    isAgreed: () => (refusals?.agreed ?? 0) >= agreedBlocks,
    /**
     * Whether, at two blocks, each node that answered called the last transaction unminable, and no node has ever
     * accepted it.
     */
    isUnfit: () => sent !== undefined && !sent.taken && sent.refusals?.error === 'fatal' && sent.refusals.blocks >= agreedBlocks,
  }
  return sender
}

function counted(before: Refusals | undefined, outcome: SendOutcome, height: number): Refusals | undefined {
  if (outcome.kind !== 'refused') return undefined
  const { error } = outcome
  if (error !== 'fatal' && error !== 'terminally-stuck') return undefined
  // No class is worse than these two, so each node that answered has refused the call for good.
  const agreed = outcome.mostAnswered ? 1 : 0
  if (before?.error !== error) return { error, blocks: 1, agreed, height }
  return before.height < height ? { error, blocks: before.blocks + 1, agreed: before.agreed + agreed, height } : before
}
