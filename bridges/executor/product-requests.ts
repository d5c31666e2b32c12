import { decodeBase64 } from 'ethers'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { unless } from '../kit/contract-reader.ts'
import type { PaidPlace, PaidProduct } from '../kit/paid.ts'
import type { Attestation, Endpoint, NextStage } from '../port.ts'
import { payDropOff } from './calls.ts'
import type { TargetContracts } from './judge.ts'
import type { RequestKind } from './kinds.ts'
import { digestOf, type ExecutorMessage, writeMessage } from './message.ts'
import type { ProductPrefix } from './requests.ts'
import { foundBytes, vaaPartiesOf } from './vaa-requests.ts'

export interface ProductRequestsOptions<Asked> extends TargetContracts {
  readonly prefix: ProductPrefix
  readonly product: PaidProduct<Asked>
  readonly endpoint: Endpoint
  readonly sourceOf: (message: ExecutorMessage) => ChainName
  readonly askedIn: (message: ExecutorMessage) => Asked
}

function createPaidTransfers<Asked>({ product, endpoint, sourceOf, askedIn }: ProductRequestsOptions<Asked>) {
  /** Digest of a request → its transfers, as the source logged them in a final block. */
  const found = boundedMap<string, readonly Transfer[]>(foundBytes, 0, sizeOf)
  /** Message of a request → its attested transfers, after a check that the request asks for each of them. */
  const asked = boundedMap<string, readonly Transfer[]>(foundBytes, 0, sizeOf)

  const placeOf = (message: ExecutorMessage): PaidPlace => {
    const { height, logIndex, txHash } = message
    return { source: sourceOf(message), target: endpoint.chain, height, logIndex, txHash: txHash.toLowerCase() }
  }

  /** Until the transfers are attested, returns them as the source logged them. */
  async function of(message: ExecutorMessage): Promise<readonly Transfer[]> {
    if (message.attested.length > 0) return message.attested.map(product.decode)
    const digest = digestOf(message)
    const known = found.get(digest)
    if (known) return known
    const transfers = await product.transfersOf(placeOf(message), askedIn(message))
    if (transfers.length > 0) found.set(digest, transfers)
    return transfers
  }

  async function demandAsked(message: ExecutorMessage): Promise<readonly Transfer[]> {
    const transfers = await of(message)
    const answers = await Promise.all(transfers.map((one) => product.isAskedFor(placeOf(message), askedIn(message), one)))
    if (transfers.length === 0 || !answers.every(Boolean))
      throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'Its transaction has no such transfer that needs a payment.' })
    if (message.attested.length > 0) asked.set(keyOf(message), transfers)
    return transfers
  }

  return {
    of,
    demandAsked,
    /** The transfers that show what happened to the request. None if it does not ask for the transfers it carries. */
    async shownBy(message: ExecutorMessage): Promise<readonly Transfer[]> {
      if (message.attested.length === 0) return of(message)
      const known = asked.get(keyOf(message))
      return known ?? (await unless(demandAsked(message), ({ code }) => code === 'EXECUTOR_UNSUPPORTED')) ?? []
    },
    /** Returns the stage's transfer, and the product's name for the stage. Throws EXECUTOR_UNSUPPORTED. */
    ofStage({ attested }: ExecutorMessage, stage: string | undefined): readonly [Transfer, string | undefined] {
      const [name, number = '1'] = stage?.split(' ') ?? []
      const bytes = attested[Number(number) - 1]
      if (bytes) return [product.decode(bytes), name]
      throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'Its message is not attested.' })
    },
  }
}

const sizeOf = (transfers: readonly Transfer[]) => transfers.reduce((sum, { message }) => sum + message.length, 1)
const keyOf = (message: ExecutorMessage) => fingerprint(writeMessage(message))

/** Delivers ERN1, ERC1 and ERC2 requests. */
export function createProductRequests<Asked>(options: ProductRequestsOptions<Asked>): RequestKind {
  const { prefix, product, endpoint } = options
  const { of, demandAsked, shownBy, ofStage } = createPaidTransfers(options)
  const firstOf = (message: ExecutorMessage) => ofStage(message, undefined)[0]
  const callOf = (transfer: Transfer, stage: string | undefined) => endpoint.delivery(transfer, stage).call()
  return {
    attest: (message) => attest(endpoint, message, () => of(message)),
    async validate(message) {
      const verdicts = await Promise.all((await demandAsked(message)).map((one) => endpoint.validate(one)))
      return verdicts.find(({ kind }) => kind !== 'valid') ?? { kind: 'valid' }
    },
    async prove(message, stage) {
      const [transfer, name] = ofStage(message, stage)
      await demandAsked(message)
      await endpoint.proveCall(await callOf(transfer, name))
    },
    async intentOf(message, wanted, stage) {
      const [transfer, name] = ofStage(message, stage)
      const call = await callOf(transfer, name)
      // The product decides which call pays the drop-off, because the order of the messages could be forged.
      return product.paysDropOff(transfer) ? payDropOff(options, prefix, call, wanted) : call
    },
    async delivered(message, at) {
      const [first] = await shownBy(message)
      return first ? endpoint.delivered(first, at) : false
    },
    async mayShow(message) {
      const [first] = await shownBy(message)
      return first !== undefined && ((await endpoint.mayShow?.(first)) ?? true)
    },
    partiesOf: (message) => (message.attested.length > 0 ? endpoint.delivery(firstOf(message)).parties : vaaPartiesOf(message)),
    revertsOnceDelivered: true,
    explainRevert: (revert, message) => endpoint.explainRevert(revert, firstOf(message)),
    hasEffect: (receipt, message) => endpoint.hasEffect(receipt, firstOf(message)),
    async findDelivery(message) {
      const [first] = message.attested.length > 0 ? await shownBy(message) : []
      return first && endpoint.findDelivery(first)
    },
    reserve: async (message, relayer) => endpoint.reserve?.(firstOf(message), relayer) ?? { kind: 'open' },
    ...stagesOf(endpoint, { shownBy, ofStage }),
  }
}

function stagesOf(
  { stages }: Endpoint,
  { shownBy, ofStage }: Pick<ReturnType<typeof createPaidTransfers>, 'shownBy' | 'ofStage'>,
): Pick<RequestKind, 'first' | 'next' | 'passed'> {
  if (!stages) return {}
  return {
    first: (message) => (message.attested.length === 1 ? stages.first?.(ofStage(message, undefined)[0]) : undefined),
    async next(message, isDoubted) {
      const answers = await Promise.all((await shownBy(message)).map(async (one) => stages.next(one, isDoubted)))
      return firstDue(answers.flatMap((one) => one ?? []))
    },
    async passed(message, stage, at) {
      const [transfer, name = ''] = ofStage(message, stage)
      return (await shownBy(message)).length > 0 && stages.passed(transfer, name, at)
    },
  }
}

/** Attests all transfers, or none. */
async function attest(
  endpoint: Endpoint,
  message: ExecutorMessage,
  read: () => Promise<readonly Transfer[]>,
): Promise<Attestation | undefined> {
  // `validate` refuses a request that most nodes do not show in a final block, so such a request has no transfers here.
  const transfers = (await unless(read(), ({ code }) => code === 'PLACE_NOT_FINAL' || code === 'PLACE_MISMATCH')) ?? []
  const answers = await Promise.all(transfers.map(async (one) => endpoint.attest?.(one)))
  const waiting = answers.find((one) => one?.kind === 'wait')
  if (waiting) return waiting
  const attested = transfers.map((one, index) => {
    const answer = answers[index]
    return answer?.kind === 'attested' ? answer.message : decodeBase64(one.message)
  })
  return answers.some((one) => one?.kind === 'attested') ? { kind: 'attested', message: writeMessage({ ...message, attested }) } : undefined
}

/**
 * Returns the first due stage or, if no stage is due, the first answer. Each answer is about one message of the
 * request. For all messages but the first, the stage's name ends with the message's position, such as ` 2`.
 */
function firstDue(answers: readonly NextStage[]): NextStage {
  const due = answers.findIndex(({ kind }) => kind === 'stage')
  const [answer] = due < 0 ? answers : answers.slice(due)
  if (!answer) return { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'Its message is not attested.' }
  return answer.kind === 'stage' && due > 0 ? { ...answer, stage: `${answer.stage} ${due + 1}` } : answer
}
