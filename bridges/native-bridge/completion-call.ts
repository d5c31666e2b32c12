import { nativeBridgeAbi } from './contracts.ts'
import type { CompletionArguments } from './message.ts'

/** Of completeBridgeTransfer. */
const selector = nativeBridgeAbi.getFunction('completeBridgeTransfer')?.selector ?? ''
const words = 5

/** The call completeBridgeTransfer with these arguments. By hand, for each delivery several times: ethers takes a hundred times as long. */
export function encodeCompletion([id, initiator, recipient, amount, nonce]: CompletionArguments): string {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  return `${selector}${id.slice(2)}${initiator.slice(2)}${recipient.slice(2).padStart(64, '0')}${word(amount)}${word(nonce)}`.toLowerCase()
}

/** The arguments of such a call, in lower case; undefined unless the bytes are exactly what their encoding gives again. */
export function decodeCompletion(data: string): CompletionArguments | undefined {
  const text = data.toLowerCase()
  if (!text.startsWith(selector) || text.length !== selector.length + words * 64 || !/^0x[0-9a-f]*$/.test(text)) return undefined
  const word = (place: number) => text.slice(selector.length + place * 64, selector.length + (place + 1) * 64)
  const recipient = word(2)
  if (!recipient.startsWith('0'.repeat(24))) return undefined
  return [`0x${word(0)}`, `0x${word(1)}`, `0x${recipient.slice(24)}`, BigInt(`0x${word(3)}`), BigInt(`0x${word(4)}`)]
}
