import { decodeBase64, id, toBeHex } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { unlessDisagreed } from '../kit/contract-reader.ts'
import { demandSame } from '../kit/demands.ts'
import { type DeliveryLog, findDelivery, hasLog } from '../kit/logs.ts'
import { toVerdict } from '../kit/verdict.ts'
import type { Endpoint, Gate } from '../port.ts'
import { type AttestationApis, createAttest, createSignedForms, createVerifyEqual, type SignedForm } from './attest.ts'
import { isUsed } from './attesters.ts'
import { createProveCall, receiveIntent, receiveSelector } from './calls.ts'
import { type CarriedMessage, loggedForm, readCarried } from './carried.ts'
import { type CctpMessage, malformed, readMessage } from './message.ts'
import { explainRevert } from './reverts.ts'
import { type CctpRoute, type CctpRoutes, contentOf, createDecode } from './routes.ts'
import { createVerify, mayDeliver, refusals, type VerifyOptions } from './verify.ts'

export interface EvmEndpointOptions extends Omit<VerifyOptions, 'chain' | 'routes'> {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  readonly routes: CctpRoutes
  readonly apis: AttestationApis
  /** Checks that most nodes show the message in a final source block. Throws `placedRefusals` and read errors. */
  readonly recorded: (carried: CarriedMessage, route: CctpRoute) => Promise<void>
  /** Decimals of the amount, to which `Endpoint.accept` resolves. */
  readonly decimals?: (message: Uint8Array) => Promise<number | undefined>
}

export function createEvmEndpoint(options: EvmEndpointOptions): Endpoint {
  const { chain, routes, apis, recorded } = options
  const decode = createDecode(routes)
  const { routeHere, routeOf, verifySigned, verify } = createVerify(options)
  const used = (bytes: Uint8Array, { to }: CctpRoute) => mostSay((at) => isUsed(chain, to.transmitter, readMessage(bytes), at))
  const verifyEqual = createVerifyEqual(verifySigned)
  const attestation = createAttest({ apis, verify, verifyEqual, routeOf, isUsed: used })

  /**
   * Checks that the message is for this chain, that the source logged it and, if it is attested, that the signatures
   * are valid. Does not check `destinationCaller`: anyone may send a message that only another account may deliver, and
   * `validate` declines the transfer of such a message.
   */
  async function prove(bytes: Uint8Array): Promise<void> {
    const carried = readCarried(bytes)
    const route = routeHere(readMessage(carried.bytes))
    await recorded(loggedForm(carried), route)
    if (carried.attestation.length > 0) await verifySigned(carried)
  }

  async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    demandSame(transfer, decode(bytes))
    try {
      await prove(bytes)
    } catch (error) {
      // A delivered message counts as valid even if Circle has replaced its attesters since the delivery.
      if (!(error instanceof RelayerError) || error.code !== 'CCTP_ATTESTATION') throw error
      if (!(await mostSay((at) => delivered(transfer, at)))) throw error
    }
    routeOf(readMessage(readCarried(bytes).bytes))
  }

  const { delivered, mayShow } = createEffect(options, createSignedForms({ apis, verifyEqual }))

  return {
    chain: chain.name,
    verify: (bytes) => toVerdict(prove(bytes), refusals),
    async accept(bytes) {
      // The id of a transfer does not depend on the attestation. With the attestation of an equal burn, a new transfer
      // would therefore block the id, and show the state of the other burn.
      if (readCarried(bytes).attestation.length > 0) throw malformed('It has an attestation already.')
      return prove(bytes).then(() => options.decimals?.(bytes))
    },
    validate: (transfer) => toVerdict(check(transfer), refusals),
    attest: attestation.attest,
    delivered,
    mayShow,
    async findDelivery(transfer) {
      const { message, route, isAttested } = read(routes, transfer)
      return isAttested ? findDelivery(chain, receivedLog(route.to.transmitter, message)) : undefined
    },
    delivery(transfer) {
      const { carried, route } = read(routes, transfer)
      const { recipient, token } = contentOf(carried.bytes, route)
      const parties = { bridge: transfer.bridge, targetChain: transfer.targetChain, recipient, token }
      return { call: async () => receiveIntent(route.to.transmitter, carried), parties, revertsOnceDelivered: true }
    },
    calls: Object.fromEntries(options.transmitters.map((transmitter) => [transmitter, [receiveSelector]])),
    proveCall: createProveCall(verify),
    explainRevert(revert, transfer) {
      const meaning = explainRevert(revert)
      if (transfer && meaning.kind === 'wait' && meaning.code === 'CCTP_EXPIRED') attestation.hasExpired(transfer)
      return meaning
    },
    reserve: async (transfer, relayer) => gateOf(read(routes, transfer).message, relayer),
    hasEffect(receipt, transfer) {
      const { message, route } = read(routes, transfer)
      return hasLog(receipt, receivedLog(route.to.transmitter, message))
    },
  }
}

/** If one node says yes, asks most nodes: a delivery that one node invents must not prevent a new attestation. */
async function mostSay(ask: (at: At) => Promise<boolean>): Promise<boolean> {
  return (await ask('latest')) && (await unlessDisagreed(ask('majority-latest'))) === true
}

/**
 * Makes `delivered` and `mayShow`. The target keeps a list of used nonces, which shows the delivery of a burn. Until a
 * v2 burn is attested, its nonce is known only from Circle's answer (`signedForm`).
 */
function createEffect({ chain, routes }: Pick<EvmEndpointOptions, 'chain' | 'routes'>, signedForm: SignedForm) {
  const signedIn = async (transfer: Transfer) => {
    const { carried, route, isAttested } = read(routes, transfer)
    return { route, signed: isAttested ? carried : await signedForm(carried) }
  }
  const delivered: Endpoint['delivered'] = async (transfer, at) => {
    const { route, signed } = await signedIn(transfer)
    return signed !== undefined && isUsed(chain, route.to.transmitter, readMessage(signed.bytes), at)
  }
  return { delivered, mayShow: async (transfer: Transfer) => (await signedIn(transfer)).signed !== undefined }
}

/**
 * Unless `isAttested` is true, the caller must not ask the target about the nonce. A v2 message then has the nonce
 * zero, which the target shows as used from the start.
 */
function read(routes: CctpRoutes, transfer: Transfer) {
  const carried = readCarried(decodeBase64(transfer.message))
  const message = readMessage(carried.bytes)
  return { carried, message, route: routes.of(message), isAttested: message.version === 1 || carried.attestation.length > 0 }
}

function gateOf(message: CctpMessage, relayer: string): Gate {
  if (mayDeliver(message, [relayer])) return { kind: 'open' }
  return { kind: 'lane', code: 'CCTP_CALLER', reason: `only ${message.destinationCaller} may deliver it` }
}

const receivedTopics = {
  1: id('MessageReceived(address,uint32,uint64,bytes32,bytes)'),
  2: id('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)'),
} as const

/**
 * `topics` has only the first topic, because the second one, the caller, is not known. `shows` compares the third
 * topic, the nonce, and the source domain.
 */
export function receivedLog(transmitter: string, { version, nonce, sourceDomain }: CctpMessage): Required<DeliveryLog> {
  return {
    address: transmitter,
    topics: [receivedTopics[version]],
    shows: ({ topics, data }) =>
      topics[2]?.toLowerCase() === toBeHex(nonce, 32) && data.slice(0, 66).toLowerCase() === toBeHex(sourceDomain, 32),
  }
}
