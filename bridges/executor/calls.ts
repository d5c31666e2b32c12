import { AbiCoder, keccak256, ZeroAddress } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { decodeCall, encodeCall, selectorOf } from '../kit/calls.ts'
import { digestOf as digestOfVaa, shownBy } from '../kit/signed-messages.ts'
import type { Shown } from '../kit/plugin.ts'
import { addressOf, type TargetContracts } from './judge.ts'
import { digestOf, type ExecutorMessage } from './message.ts'
import { decodeInstructions, type ProductPrefix, type RelayInstructions, type RequestPrefix } from './requests.ts'

const receive = 'executeVAAv1(bytes)'
const deliver = 'deliver(bytes32,address,bytes,address,uint256)'

/** The functions that pay a drop-off: VAAv1-, Multi-, CCTPv1- and CCTPv2ReceiveWithGasDropOff (executor-helpers). */
const withDropOff = {
  ERV1: 'receiveMessage(address,bytes,address,uint256)',
  ERN1: 'receiveMessages(address[],bytes[],address)',
  ERC1: 'receiveMessage(bytes,bytes,address)',
  ERC2: 'receiveMessage(bytes,bytes,address)',
} as const satisfies Record<RequestPrefix, string>

/** Selectors of the calls that deliver requests, without the calls of products (NTT, CCTP). */
export function selectorsOf({ dropOffContracts = {}, recordContract }: TargetContracts): readonly string[] {
  const paying = (Object.keys(dropOffContracts) as RequestPrefix[]).map((prefix) => withDropOff[prefix])
  return [...new Set([receive, ...paying, ...(recordContract ? [deliver] : [])].map(selectorOf))]
}

/**
 * Makes the call that delivers an ERV1 request. Throws EXECUTOR_UNSUPPORTED if no view would show the delivery, because
 * the request could then be paid more than once, and for a drop-off that no contract pays.
 */
export function intentOf(contracts: TargetContracts, message: ExecutorMessage, wanted: RelayInstructions): Intent {
  const { receivers, recordContract } = contracts
  const [vaa = new Uint8Array()] = message.attested
  const receiver = addressOf(message.request.targetAddress) ?? ''
  const value = String(wanted.msgValue + wanted.dropOff)
  if (!Object.hasOwn(receivers, receiver)) {
    if (recordContract === undefined)
      throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'No view shows deliveries to its contract.' })
    const payee = wanted.dropOff > 0n ? demandPayee(wanted) : payeeOf(wanted)
    const args = [digestOf(message), receiver, vaa, payee, wanted.dropOff]
    return { to: recordContract, data: encodeCall({ function: deliver, args }), value }
  }
  if (wanted.dropOff === 0n) return { to: receiver, data: encodeCall({ function: receive, args: [vaa] }), value }
  const args = [receiver, vaa, demandPayee(wanted), wanted.dropOff]
  return { to: dropOffContractOf(contracts, 'ERV1'), data: encodeCall({ function: withDropOff.ERV1, args }), value }
}

/** Adds the drop-off, if there is one, to a call that delivers a product's message. Throws EXECUTOR_UNSUPPORTED. */
export function payDropOff(contracts: TargetContracts, prefix: ProductPrefix, call: Intent, wanted: RelayInstructions): Intent {
  const { dropOff } = wanted
  const taken = decodeCall(prefix === 'ERN1' ? 'receiveMessage(bytes)' : 'receiveMessage(bytes,bytes)', call.data)
  if (dropOff === 0n || !taken) return call
  const args = [...(prefix === 'ERN1' ? [[call.to], taken] : taken), demandPayee(wanted)]
  return { to: dropOffContractOf(contracts, prefix), data: encodeCall({ function: withDropOff[prefix], args }), value: String(dropOff) }
}

function dropOffContractOf({ dropOffContracts = {} }: TargetContracts, prefix: RequestPrefix): string {
  const contract = dropOffContracts[prefix]
  if (contract !== undefined) return contract
  throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'The config has no contract that pays a drop-off.' })
}

function demandPayee(wanted: RelayInstructions): string {
  const payee = payeeOf(wanted)
  if (payee !== ZeroAddress) return payee
  throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'The recipient of the drop-off is not an address of an EVM chain.' })
}

/**
 * Returns the view that shows whether the message is delivered. Undefined if no view shows deliveries to this contract.
 */
export function shownOf(contracts: TargetContracts, message: ExecutorMessage, bytes: Uint8Array): Shown | undefined {
  const receiver = addressOf(message.request.targetAddress) ?? ''
  const vaa = parseVaa(bytes)
  const digest = digestOfVaa(vaa)
  const view = Object.hasOwn(contracts.receivers, receiver) ? contracts.receivers[receiver] : undefined
  if (view) return shownBy({ ...vaa, digest }, receiver, view)
  const wanted = decodeInstructions(message.request.instructions)
  if (!wanted || !contracts.recordContract) return undefined
  const types = ['bytes32', 'address', 'bytes32', 'uint256', 'address', 'uint256']
  const paidFor = [digestOf(message), receiver, digest, wanted.msgValue + wanted.dropOff, payeeOf(wanted), wanted.dropOff]
  const args = [keccak256(AbiCoder.defaultAbiCoder().encode(types, paidFor))]
  return { contract: contracts.recordContract, view: 'isDelivered(bytes32)', args, returns: 'bool', is: [true] }
}

function payeeOf({ recipient = '' }: RelayInstructions): string {
  return addressOf(recipient) ?? ZeroAddress
}
