import { AbiCoder, keccak256, ZeroAddress } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { selectorOf } from '../kit/bytes-call.ts'
import { encodeCall } from '../kit/calls.ts'
import { type DeliveredView, shownBy } from '../kit/delivered-view.ts'
import { digestOf as digestOfVaa } from '../kit/guardian-sets.ts'
import type { Shown } from '../kit/plugin.ts'
import { addressOf } from './judge.ts'
import { digestOf, type ExecutorMessage } from './message.ts'
import { decodeInstructions, type RelayInstructions } from './requests.ts'

/** Of one target chain. 0x, lower case. */
export interface TargetContracts {
  /** Receiving contract → view that shows a delivery. */
  readonly receivers: Readonly<Record<string, DeliveredView>>
  /** VAAv1ReceiveWithGasDropOff, which pays the drop-off with the delivery. Absent: none is paid. */
  readonly dropOffContract?: string | undefined
  /** DeliveryRecord, which delivers to all other contracts. Absent: their requests are declined. */
  readonly recordContract?: string | undefined
}

const receive = 'executeVAAv1(bytes)'
const receiveWithDropOff = 'receiveMessage(address,bytes,address,uint256)'
const deliver = 'deliver(bytes32,address,bytes,address,uint256)'

/** Selectors of the calls that a key signs. */
export function selectorsOf({ dropOffContract, recordContract }: TargetContracts): readonly string[] {
  const functions = [receive, ...(dropOffContract ? [receiveWithDropOff] : []), ...(recordContract ? [deliver] : [])]
  return functions.map(selectorOf)
}

/** Throws EXECUTOR_UNSUPPORTED for a drop-off that no contract pays. */
export function intentOf(contracts: TargetContracts, message: ExecutorMessage, wanted: RelayInstructions): Intent {
  const { receivers, dropOffContract, recordContract } = contracts
  const { vaa = new Uint8Array() } = message
  const receiver = addressOf(message.request.targetAddress) ?? ''
  const value = String(wanted.msgValue + wanted.dropOff)
  const payee = payeeOf(wanted)
  if (wanted.dropOff > 0n && payee === ZeroAddress)
    throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'The recipient of the drop-off is no address of an EVM chain.' })
  if (!Object.hasOwn(receivers, receiver) && recordContract !== undefined) {
    const args = [digestOf(message), receiver, vaa, payee, wanted.dropOff]
    return { to: recordContract, data: encodeCall({ function: deliver, args }), value }
  }
  if (wanted.dropOff === 0n) return { to: receiver, data: encodeCall({ function: receive, args: [vaa] }), value }
  if (dropOffContract === undefined)
    throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'The config has no contract that pays a drop-off.' })
  const args = [receiver, vaa, payee, wanted.dropOff]
  return { to: dropOffContract, data: encodeCall({ function: receiveWithDropOff, args }), value }
}

/** Undefined: nothing shows a delivery to this contract. @param bytes the signed message */
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
