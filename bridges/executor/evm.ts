import { decodeBase64 } from 'ethers'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Payment } from '../../domain/transfer/content.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { shows } from '../kit/calls.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import type { Decode } from '../kit/published.ts'
import { signedRefusals } from '../kit/signed-messages.ts'
import { provedBy, type Refusals, toVerdict, unproved } from '../kit/verdict.ts'
import { placedRefusals } from '../kit/placed-logs.ts'
import type { At } from '../../chains/port.ts'
import type { Attestation, Endpoint } from '../port.ts'
import { intentOf, selectorsOf, shownOf, type TargetContracts } from './calls.ts'
import { addressOf, type ExecutorTerms, judge, type Judgement } from './judge.ts'
import { decodeInstructions, decodeRequest, executor } from './requests.ts'
import { decodeQuote } from './quote.ts'
import { type ExecutorMessage, readMessage, writeMessage } from './message.ts'

/** Finds the signed message of a request. Checks no signatures. Never throws. */
export type FindVaa = (place: {
  chain: number
  emitter: string
  sequence: string
}) => Promise<
  | { readonly kind: 'found'; readonly vaa: Uint8Array }
  | { readonly kind: 'absent' | 'unknown'; readonly againInMs?: number | undefined; readonly why: string }
>

export interface ExecutorEndpointOptions extends TargetContracts {
  readonly chain: ContractReader
  /** Ms since the epoch. */
  readonly clock?: () => number
  readonly terms: ExecutorTerms
  /** Most coins of a delivery to this chain, wei. */
  readonly maxMsgValue: bigint
  /** Checks the guardians' signatures on this chain. */
  readonly verify: (vaa: Uint8Array) => Promise<void>
  /** Checks that the source logged the request, in a final block and by most nodes. Throws `placedRefusals`. */
  readonly verifyRequest: (message: ExecutorMessage) => Promise<void>
  readonly decode: Decode
  readonly findVaa: FindVaa
}

const firstWaitMs = 5_000

const refusals: Refusals = {
  ...signedRefusals,
  EXECUTOR_MESSAGE: { kind: 'rejected' },
  ...placedRefusals,
  EXECUTOR_QUOTE_UNKNOWN: { kind: 'declined' },
  EXECUTOR_UNSUPPORTED: { kind: 'declined' },
  EXECUTOR_UNDERPAID: { kind: 'declined' },
  EXECUTOR_EXPIRED: { kind: 'declined' },
}

/** A key signs for no request that is declined. */
const refused: Refusals = Object.fromEntries(
  Object.entries(refusals).map(([code, { kind }]) => [code, { kind: kind === 'declined' ? 'rejected' : kind }]),
)

type Accepted = Extract<Judgement, { kind: 'accepted' }>

const keyOf = ({ to, value, data }: Intent) => `${to}/${value}/${data}`.toLowerCase()

/** Reads a request: its call, the view of its effect, and everything that justifies the call. */
function createRequests(options: ExecutorEndpointOptions) {
  const { chain, clock = Date.now, terms, verify, verifyRequest, findVaa } = options
  /** Signed messages of requests that came without, by their place. */
  const found = boundedMap<string, Uint8Array>(1_000)

  /** Throws EXECUTOR_* for a request that is not delivered. */
  function accept(message: ExecutorMessage): Accepted {
    // The contract lets no request with an expired quote pass. A transfer with its VAA was in time when it got it.
    const now = message.vaa ? 0 : Math.floor(clock() / 1_000)
    const judged = judge(message.request, message.sourceChain, { requestedAt: 0, now }, terms)
    if (judged.kind === 'refused') throw new RelayerError(judged.code, { detail: judged.reason })
    return judged
  }

  const callOf = (message: ExecutorMessage) => intentOf(options, message, accept(message).wanted)

  /** A stream knows requests as they were logged. Undefined: not signed yet, or no API answers. */
  async function vaaOf(message: ExecutorMessage): Promise<Uint8Array | undefined> {
    const asked = decodeRequest(message.request.request)
    if (message.vaa || asked?.prefix !== 'ERV1') return message.vaa
    const place = `${asked.chain}/${asked.emitter}/${asked.sequence}`
    const known = found.get(place)
    if (known) return known
    const answer = await findVaa(asked)
    if (answer.kind !== 'found' || (await toVerdict(verify(answer.vaa), refusals)).kind !== 'valid') return undefined
    found.set(place, answer.vaa)
    return answer.vaa
  }

  /** False for a contract that the config no longer serves. */
  async function isShown(message: ExecutorMessage, at: At): Promise<boolean> {
    const bytes = await vaaOf(message)
    const shown = bytes && shownOf(options, message, bytes)
    return shown ? shows(chain, shown, at) : false
  }

  /** Everything that justifies the call of a message with its VAA. */
  async function prove(message: ExecutorMessage): Promise<void> {
    const { vaa } = message
    const { message: asked } = accept(message)
    if (asked.prefix !== 'ERV1' || !vaa) throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'It has no VAA.' })
    const { emitterChain, emitter, sequence } = parseVaa(vaa)
    if (emitterChain !== asked.chain || emitter !== asked.emitter || sequence !== asked.sequence)
      throw new RelayerError('MESSAGE_MISMATCH', { detail: 'The VAA is not the one that the request asks for.' })
    await Promise.all([verify(vaa), verifyRequest(message)])
  }

  return { accept, callOf, isShown, prove }
}

type Requests = ReturnType<typeof createRequests>

/** See `Endpoint.attest`. A request that is declined gets no attestation: `validate` declines it. */
async function attest(
  { accept }: Requests,
  { findVaa, verify }: Pick<ExecutorEndpointOptions, 'findVaa' | 'verify'>,
  message: ExecutorMessage,
): Promise<Attestation | undefined> {
  if (message.vaa) return undefined
  const judged = await toVerdict((async () => accept(message))(), refusals)
  if (judged.kind !== 'valid') return undefined
  const { message: asked } = accept(message)
  if (asked.prefix !== 'ERV1') return undefined
  const found = await findVaa(asked)
  if (found.kind !== 'found')
    return { kind: 'wait', code: 'VAA_NOT_FOUND', reason: found.why, retryInMs: Math.max(firstWaitMs, found.againInMs ?? 0) }
  try {
    await verify(found.vaa)
    return { kind: 'attested', message: writeMessage({ ...message, vaa: found.vaa }) }
  } catch (error) {
    const { code, message: reason } = toRelayerError(error)
    return { kind: 'wait', code, reason, retryInMs: firstWaitMs }
  }
}

/** Delivers a signed message to the contract that a paid request names, with the coins that it asks for. */
export function createExecutorEndpoint(options: ExecutorEndpointOptions): Endpoint {
  const { chain, verifyRequest, decode } = options
  const requests = createRequests(options)
  const { accept, callOf, isShown, prove } = requests
  /** `to/value/data` → the request whose call this is. Hints only: `proveCall` reads the source chain. */
  const hints = boundedMap<string, ExecutorMessage>(10_000)

  async function check(transfer: Transfer): Promise<void> {
    const message = readMessage(decodeBase64(transfer.message))
    const { digest, emitter, sourceId, sequence } = decode(decodeBase64(transfer.message))
    const isSame = emitter === transfer.emitter && sourceId === transfer.sourceId && sequence === transfer.sequence
    if (!isSame || digest !== transfer.digest) throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest, claimed: transfer.digest } })
    await prove(message)
  }

  return {
    chain: chain.name,
    verify: (bytes) => toVerdict(verifyRequest(readMessage(bytes)), refusals),
    validate: (transfer) => toVerdict(check(transfer), refusals),
    attest: ({ message }) => attest(requests, options, readMessage(decodeBase64(message))),
    delivered: ({ message }, at) => isShown(readMessage(decodeBase64(message)), at),
    // A view shows that a message was delivered, but not by whom.
    findDelivery: async () => undefined,
    delivery({ message: text }) {
      const message = readMessage(decodeBase64(text))
      return {
        async call() {
          const intent = callOf(message)
          hints.set(keyOf(intent), message)
          return intent
        },
        parties: { bridge: executor, targetChain: chain.name, ...partiesOf(message) },
        payment: paymentOf(message),
        gasAtMost: accept(message).wanted.gasLimit,
        revertsOnceDelivered: false,
      }
    },
    calls: {},
    openCalls: Object.fromEntries(selectorsOf(options).map((selector) => [selector, String(options.maxMsgValue)])),
    async proveCall(intent: Intent) {
      const message = hints.get(keyOf(intent))
      if (!message) throw unproved('No paid request for it is known here.', { to: intent.to, selector: intent.data.slice(0, 10) })
      return provedBy(async () => {
        await prove(message)
        // Paid once, so sent once.
        if (await isShown(message, 'majority-latest')) throw unproved('It is delivered.', { to: intent.to })
        return [decode(writeMessage(message)).sourceChain]
      }, refused)
    },
    explainRevert: ({ reason }) => ({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason }),
    hasEffect: ({ status }) => (status === 'success' ? undefined : false),
  }
}

export function partiesOf({ request }: ExecutorMessage): { readonly recipient: string; readonly token: string } {
  const asked = decodeRequest(request.request)
  const token = asked?.prefix === 'ERV1' ? `${asked.chain}/${asked.emitter}` : ''
  return { recipient: addressOf(request.targetAddress) ?? request.targetAddress, token }
}

/** Undefined for a request that no quote of this form paid for. */
export function paymentOf({ request }: ExecutorMessage): Payment | undefined {
  const [quote, wanted] = [decodeQuote(request.signedQuote), decodeInstructions(request.instructions)]
  if (!quote || !wanted || quote.targetPrice === 0n) return undefined
  const worth = (request.amountPaid * quote.sourcePrice) / quote.targetPrice
  return { paid: String(request.amountPaid), worth: String(worth), coins: String(wanted.msgValue + wanted.dropOff) }
}
