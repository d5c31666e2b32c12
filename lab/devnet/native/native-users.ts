import { getAddress, keccak256, solidityPacked, zeroPadValue } from 'ethers'
import { freshAddress } from '../chain/accounts.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import type { Mined } from '../chain/contracts.ts'
import { createSender } from '../chain/sender.ts'
import { initiatedIn, nativeBridgeAbi, type InitiatedTransfer, type NativeBridgeEnd } from './native-bridge.ts'
import { toUniversal } from '../wormhole/vaa.ts'

export interface NativeUserTransfer {
  /** Amount in the token's smallest unit (8 decimals). */
  readonly amount: bigint
  readonly recipient?: string
}

export interface SentNativeTransfer {
  readonly source: string
  readonly sourceNetworkId: number
  readonly target: string
  /** The source's contract as workflow ids name it: 64 lower-case hex digits. */
  readonly emitter: string
  readonly nonce: bigint
  /** The contract's bridgeTransferId: 32 bytes, lower-case 0x. */
  readonly id: string
  /** Lower-case 0x address on the source chain. */
  readonly initiator: string
  /** Lower-case 0x address on the target chain. */
  readonly recipient: string
  readonly amount: bigint
  /** Token on the target chain, lower-case 0x. */
  readonly asset: string
  readonly txHash: string
  readonly height: number
  readonly sentAt: number
}

/** The part of an end that another process needs to send transfers. */
export type NativeSide = Pick<NativeBridgeEnd, 'name' | 'user' | 'bridge' | 'token' | 'deployer' | 'insuranceFund'> & {
  readonly anvil: AnvilNode
}

export interface NativeUsers {
  /**
   * Sends the transfers in as few blocks as possible. Resolves when all are mined. Throws Error if a transfer reverted
   * or has a wrong id.
   */
  send(transfers: readonly NativeUserTransfer[]): Promise<SentNativeTransfer[]>
}

/** Gas limit. An initiation uses about 150,000. */
const gasLimit = 250_000n

export function startNativeUsers(source: NativeSide, target: NativeSide): NativeUsers {
  const send = createSender(source.anvil, source.user, gasLimit)
  return {
    async send(transfers) {
      const abi = await nativeBridgeAbi()
      const wanted = transfers.map(({ amount, recipient = freshAddress() }) => ({ amount, recipient: recipient.toLowerCase() }))
      const calls = wanted.map(({ amount, recipient }) => ({
        to: source.bridge,
        data: abi.encodeFunctionData('initiateBridgeTransfer', [zeroPadValue(recipient, 32), amount]),
      }))
      const mined = await send(calls)
      return mined.map((transaction, index) =>
        outcome(source, target, wanted[index] as Wanted, initiatedIn(transaction, source.bridge, abi), transaction),
      )
    },
  }
}

type Wanted = Required<NativeUserTransfer>

function outcome(
  source: NativeSide,
  target: NativeSide,
  wanted: Wanted,
  [made]: readonly InitiatedTransfer[],
  { transactionHash: txHash, timestamp: sentAt }: Mined,
): SentNativeTransfer {
  if (!made) throw new Error(`The user's transaction ${txHash} on ${source.name} reverted`)
  if (made.id !== idOf(source.user.address, wanted, made))
    throw new Error(`${source.name} recorded ${txHash} under an id of something else`)
  const { id, nonce, initiator, height } = made
  return {
    ...{
      source: source.name,
      sourceNetworkId: source.anvil.chainId,
      target: target.name,
      emitter: toUniversal(source.bridge),
      nonce,
      id,
      initiator,
      ...wanted,
    },
    ...{ asset: target.token, txHash, height, sentAt },
  }
}

function idOf(initiator: string, { recipient, amount }: Wanted, { nonce }: InitiatedTransfer): string {
  const fields = [getAddress(initiator), zeroPadValue(recipient, 32), amount, nonce]
  return keccak256(solidityPacked(['address', 'bytes32', 'uint256', 'uint256'], fields))
}
