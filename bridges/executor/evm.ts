import { decodeBase64 } from 'ethers'
import { type Facts, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Payment } from '../../domain/transfer/content.ts'
import { mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { provedBy, unproved } from '../kit/calls.ts'
import { demandSame } from '../kit/demands.ts'
import type { PaidProduct } from '../kit/paid.ts'
import type { Decode } from '../kit/published.ts'
import { toVerdict, unlessRefused } from '../kit/verdict.ts'
import type { Endpoint, ProvedSource, RouteWithin, Verdict } from '../port.ts'
import { selectorsOf } from './calls.ts'
import { createHints, type PlannedCall } from './hints.ts'
import { addressOf, type ExecutorTerms, judge, type Judgement, type Times } from './judge.ts'
import { executorRefusals, keyRefusals, type RequestKind } from './kinds.ts'
import { digestOf, type ExecutorMessage, readMessage, writeMessage } from './message.ts'
import { createProductRequests } from './product-requests.ts'
import { decodeQuote, pricedDataBytes } from './quote.ts'
import {
  decodeInstructions,
  decodeRequest,
  executor,
  type MessageRequest,
  type ProductPrefix,
  type RelayInstructions,
  type RequestPrefix,
} from './requests.ts'
import { createVaaRequests, type VaaRequestsOptions } from './vaa-requests.ts'

type Asked<Prefix extends RequestPrefix> = Extract<MessageRequest, { prefix: Prefix }>

/** Requests for an absent product are declined. */
export interface PaidProducts {
  readonly ntt?: PaidProduct<Pick<Asked<'ERN1'>, 'manager' | 'messageId'>> | undefined
  readonly cctp?: PaidProduct<{ readonly v1?: { readonly domain: number; readonly nonce: string } }> | undefined
}

export interface ExecutorEndpointOptions extends VaaRequestsOptions {
  readonly clock?: () => number
  /** Wormhole's id of `chain`. */
  readonly wormholeId: number
  readonly terms: ExecutorTerms
  /** Maximum coins of one delivery to this chain, wei. */
  readonly maxMsgValue: bigint
  /** Checks that most nodes show the request in a final block of the source. Throws `placedRefusals`. */
  readonly verifyRequest: (message: ExecutorMessage) => Promise<void>
  readonly decode: Decode
  readonly within: (message: ExecutorMessage) => readonly RouteWithin[]
  readonly products?: PaidProducts
}

type Accepted = Extract<Judgement, { kind: 'accepted' }>

function askedAs<Prefix extends RequestPrefix>(prefix: Prefix, { request }: ExecutorMessage): Asked<Prefix> {
  const asked = decodeRequest(request.request)
  if (asked?.prefix === prefix) return asked as Asked<Prefix>
  throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: `It is not a request of ${prefix}.` })
}

function kindsOf(options: ExecutorEndpointOptions): Readonly<Record<RequestPrefix, RequestKind | undefined>> {
  const { chain, decode, products: { ntt, cctp } = {} } = options
  const sourceOf = (message: ExecutorMessage) => decode(writeMessage(message)).sourceChain
  const by = <A>(prefix: ProductPrefix, product: PaidProduct<A> | undefined, askedIn: (message: ExecutorMessage) => A) => {
    const endpoint = product?.endpoints.get(chain.name)
    return product && endpoint && createProductRequests({ ...options, prefix, product, endpoint, sourceOf, askedIn })
  }
  return {
    ERV1: createVaaRequests(options),
    ERN1: by('ERN1', ntt, (message) => askedAs('ERN1', message)),
    ERC1: by('ERC1', cctp, (message) => {
      const { sourceDomain: domain, nonce } = askedAs('ERC1', message)
      return { v1: { domain, nonce } }
    }),
    ERC2: by('ERC2', cctp, () => ({})),
  }
}

/** Judges requests by their target, the provider's terms and the time. */
function createAcceptance({ clock = Date.now, terms, wormholeId }: Pick<ExecutorEndpointOptions, 'clock' | 'terms' | 'wormholeId'>) {
  function acceptAt({ request, sourceChain }: ExecutorMessage, times: Omit<Times, 'requestedAt'>): Accepted {
    const { targetChain: target } = request
    // The coins of another chain may be worth less than those of this chain, and its VAA is valid here, too.
    if (target !== wormholeId) throw new RelayerError('MESSAGE_MISMATCH', { detail: `It is a request for chain ${target}.` })
    // `requestedAt` is 0, because the Executor's contract itself refuses a request whose quote has expired.
    const judged = judge(request, sourceChain, { requestedAt: 0, ...times }, terms)
    if (judged.kind === 'refused') throw new RelayerError(judged.code, { detail: judged.reason })
    return judged
  }

  function accept(message: ExecutorMessage): Accepted {
    // `now` is 0 if attested messages are present, because the times were judged before the attestation.
    const now = message.attested.length > 0 ? 0 : Math.floor(clock() / 1_000)
    return acceptAt(message, { now, hasStarted: true })
  }

  const isLate = ({ quote: { expiry } }: Accepted, graceSeconds = 0) => expiry + BigInt(graceSeconds) <= BigInt(Math.floor(clock() / 1_000))

  /**
   * Whether the quote no longer pays for the call: the call carries coins, which may cost more now, and the quote
   * expired at least `graceSeconds` ago. With `honourExpired`, always false.
   */
  function isUnpaid(accepted: Accepted, coins: string, graceSeconds?: number): boolean {
    return BigInt(coins) > 0n && !terms.honourExpired && isLate(accepted, graceSeconds)
  }

  /** Throws EXECUTOR_EXPIRED if `isUnpaid` returns true. */
  function demandInTime(accepted: Accepted, coins: string, graceSeconds?: number): void {
    if (!isUnpaid(accepted, coins, graceSeconds)) return
    throw new RelayerError('EXECUTOR_EXPIRED', {
      detail: `The request pays for its coins only until ${accepted.quote.expiry}, when its quote expires.`,
    })
  }

  return { acceptAt, accept, isLate, isUnpaid, demandInTime }
}

function createRequests(options: ExecutorEndpointOptions) {
  const { chain, verifyRequest, decode, within } = options
  const acceptance = createAcceptance(options)
  const { acceptAt, accept, isLate, demandInTime } = acceptance
  const kinds = kindsOf(options)

  function kindOf({ request }: ExecutorMessage): RequestKind {
    const kind = kinds[decodeRequest(request.request)?.prefix ?? 'ERV1']
    if (kind) return kind
    throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: `No product of the config delivers it to ${chain.name}.` })
  }

  /**
   * Coins of the call that is due now, wei, decimal. `0` if no call is due now, or if another call of the delivery pays
   * the drop-off.
   */
  async function coinsDue(message: ExecutorMessage, { wanted }: Accepted): Promise<string> {
    if (wanted.msgValue + wanted.dropOff === 0n) return '0'
    const next = await kindOf(message).next?.(message)
    if (next && next.kind !== 'stage') return '0'
    return (await kindOf(message).intentOf(message, wanted, next?.stage)).value
  }

  return {
    kindOf,
    ...acceptance,
    /**
     * Checks whether a transfer may start for the request. Throws a code of `executorRefusals` if not, and read errors.
     * `validate` declines a sold request that the present terms refuse.
     */
    async verifyNew(message: ExecutorMessage): Promise<void> {
      // Attested messages are not part of the id, so wrong ones would take the id of the right ones.
      if (message.attested.length > 0) throw new RelayerError('EXECUTOR_MESSAGE', { detail: 'It has an attestation already.' })
      await verifyRequest(message)
      acceptAt(message, { now: 0, isUnderAnyConfig: true })
    },
    async validate(transfer: Transfer): Promise<Verdict> {
      const message = readOf(transfer)
      demandSame(transfer, decode(decodeBase64(transfer.message)))
      const accepted = accept(message)
      const [verdict] = await Promise.all([kindOf(message).validate(message), verifyRequest(message)])
      if (verdict.kind === 'valid' && isLate(accepted)) demandInTime(accepted, await coinsDue(message, accepted))
      // The product's `delivery` is left out, because a request has a price of its own.
      return verdict.kind === 'valid' ? { kind: 'valid' } : verdict
    },
    /** Proves that somebody paid for the call. Throws CALL_UNJUSTIFIED and read errors. */
    async prove({ message, stage, coins }: PlannedCall): Promise<RelayInstructions> {
      return provedBy(async () => {
        const accepted = accept(message)
        // Admission declines late requests. The grace is for quotes that expire while the call waits for its nonce.
        demandInTime(accepted, coins, longestNonceSeconds)
        await Promise.all([kindOf(message).prove(message, stage), verifyRequest(message)])
        return accepted.wanted
      }, keyRefusals)
    },
    /**
     * Returns the sources of a proved call. Throws CALL_UNJUSTIFIED if the call may not be signed now, and read errors.
     */
    async allow({ message }: PlannedCall, wanted: RelayInstructions, facts: Facts, gasLimit = '0'): Promise<readonly ProvedSource[]> {
      if (BigInt(gasLimit) > wanted.gasLimit) throw unproved(`Its request paid for ${wanted.gasLimit} gas.`, { ...facts, gasLimit })
      const kind = kindOf(message)
      // One payment pays for one delivery, so no call is signed after the delivery.
      if (await kind.delivered(message, 'majority-latest')) throw unproved('It is delivered.', facts)
      const { sourceChain, digest: payment } = decode(writeMessage(message))
      const { recipient, token } = kind.partiesOf(message)
      const parties = { recipient, token, payee: addressOf(wanted.recipient ?? '') }
      return [{ bridge: executor, sourceChain, payment, parties }, ...within(message)]
    },
  }
}

/** Maximum time between the admission of a call and its signature, seconds. */
const longestNonceSeconds = 600

type Effects = Pick<Endpoint, 'delivered' | 'mayShow' | 'findDelivery' | 'stages' | 'explainRevert' | 'reserve' | 'hasEffect'>

function effectsOf(kindOf: (message: ExecutorMessage) => RequestKind): Effects {
  const by = <T>(transfer: Transfer, ask: (kind: RequestKind, message: ExecutorMessage) => T): T => {
    const message = readOf(transfer)
    return ask(kindOf(message), message)
  }
  return {
    delivered: async (transfer, at) => by(transfer, (kind, message) => kind.delivered(message, at)),
    mayShow: async (transfer) => by(transfer, (kind, message) => kind.mayShow(message)),
    findDelivery: async (transfer) => by(transfer, (kind, message) => kind.findDelivery?.(message)),
    stages: {
      first: (transfer) => by(transfer, (kind, message) => kind.first?.(message)),
      next: (transfer, isDoubted) => by(transfer, (kind, message) => kind.next?.(message, isDoubted)),
      passed: async (transfer, stage, at) => by(transfer, (kind, message) => kind.passed?.(message, stage, at) ?? false),
    },
    explainRevert(revert, transfer) {
      if (!transfer) return { kind: 'unknown', code: 'DELIVERY_REVERTED', reason: revert.reason }
      return by(transfer, (kind, message) => kind.explainRevert(revert, message))
    },
    reserve: async (transfer, relayer) => by(transfer, (kind, message) => kind.reserve?.(message, relayer) ?? { kind: 'open' }),
    hasEffect: (receipt, transfer) => by(transfer, (kind, message) => kind.hasEffect(receipt, message)),
  }
}

export function createExecutorEndpoint(options: ExecutorEndpointOptions): Endpoint {
  const { chain, products: { ntt, cctp } = {} } = options
  const { kindOf, accept, isLate, isUnpaid, verifyNew, validate, prove, allow } = createRequests(options)
  const hints = createHints()

  return {
    ...effectsOf(kindOf),
    chain: chain.name,
    verify: (bytes) => toVerdict(verifyNew(readMessage(bytes)), executorRefusals),
    validate: (transfer) => unlessRefused(validate(transfer), executorRefusals),
    /** Undefined for a request that `accept` refuses, or whose attested message would be too large. */
    async attest(transfer) {
      const message = readOf(transfer)
      const judged = await unlessRefused((async () => accept(message))(), executorRefusals)
      const answer = judged.kind === 'accepted' ? await kindOf(message).attest(message) : undefined
      return answer?.kind === 'attested' && answer.message.length > mostMessageBytes ? undefined : answer
    },
    delivery(transfer, stage) {
      const message = readOf(transfer)
      const kind = kindOf(message)
      const accepted = accept(message)
      const { wanted } = accepted
      const payment = paymentOf(message)
      const earned = payment && BigInt(payment.worth) - BigInt(payment.coins)
      return {
        async call() {
          const intent = await kind.intentOf(message, wanted, stage)
          const { length: size } = transfer.message
          const planned = { message, size, stage, coins: intent.value, request: digestOf(message), gasLimit: wanted.gasLimit }
          hints.add(intent, { ...planned, isLate: () => isUnpaid(accepted, planned.coins) })
          return intent
        },
        parties: {
          ...kind.partiesOf(message),
          ...{ bridge: executor, targetChain: chain.name, payee: addressOf(wanted.recipient ?? ''), lossesOf: digestOf(message) },
        },
        payment,
        // The payment must cover the gas only if the quote has expired, or if the payer's message makes the call longer
        // than the price allows for. Other requests are delivered at any gas price.
        ...(earned !== undefined && { earned: async (bytes = 0) => (isLate(accepted) || bytes > pricedDataBytes ? earned : undefined) }),
        gasAtMost: wanted.gasLimit,
        revertsOnceDelivered: kind.revertsOnceDelivered,
      }
    },
    calls: { ...ntt?.endpoints.get(chain.name)?.calls, ...cctp?.endpoints.get(chain.name)?.calls },
    openCalls: Object.fromEntries(selectorsOf(options).map((selector) => [selector, String(options.maxMsgValue)])),
    async proveCall(intent, gasLimit) {
      const facts = { to: intent.to, selector: intent.data.slice(0, 10) }
      const proved = await hints.prove(intent, prove, (hint, wanted) => allow(hint, wanted, facts, gasLimit))
      if (!proved) throw unproved('No paid request for it is known here.', facts)
      return proved
    },
  }
}

function readOf({ message }: Transfer): ExecutorMessage {
  return readMessage(decodeBase64(message))
}

/** Undefined if the quote or the instructions cannot be read, or if the quote has no target price. */
export function paymentOf({ request }: ExecutorMessage): Payment | undefined {
  const [quote, wanted] = [decodeQuote(request.signedQuote), decodeInstructions(request.instructions)]
  if (!quote || !wanted || quote.targetPrice === 0n) return undefined
  const worth = (request.amountPaid * quote.sourcePrice) / quote.targetPrice
  return { paid: String(request.amountPaid), worth: String(worth), coins: String(wanted.msgValue + wanted.dropOff) }
}
