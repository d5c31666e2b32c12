import { concat, getBytes, toBeHex } from 'ethers'
import type { CctpMessage } from '../../../bridges/cctp/message.ts'

/** Encodes a message as Message.sol (v1) and MessageV2.sol do. */
export function writeMessage(message: CctpMessage): Uint8Array {
  const { version, sourceDomain, destinationDomain, nonce, sender, recipient, destinationCaller, minFinality, finalityExecuted } = message
  const numbers = (...values: number[]) => values.map((value) => toBeHex(value, 4))
  const head = [...numbers(version - 1, sourceDomain, destinationDomain), nonce, sender, recipient, destinationCaller]
  const finality = version === 1 ? [] : numbers(minFinality, finalityExecuted)
  return getBytes(concat([...head, ...finality, message.body]))
}
