import { toBigint } from '../../chains/crypto/curve.ts'
import type { BridgeName } from '../../domain/transfer/transfer.ts'
import { toHex } from '../../domain/vaa.ts'

export const executor = 'executor' satisfies BridgeName

/** Addresses and ids are 64 lower-case hex digits without 0x. */
export type MessageRequest =
  | { readonly prefix: 'ERV1'; readonly chain: number; readonly emitter: string; readonly sequence: string }
  | { readonly prefix: 'ERN1'; readonly sourceChain: number; readonly manager: string; readonly messageId: string }
  | { readonly prefix: 'ERC1'; readonly sourceDomain: number; readonly nonce: string }
  /** An ERC2 request does not name its message, which is in the same transaction. */
  | { readonly prefix: 'ERC2' }

export type RequestPrefix = MessageRequest['prefix']
export type ProductPrefix = Exclude<RequestPrefix, 'ERV1'>

/** Undefined for a request of another kind, and if bytes are missing or left over. */
export function decodeRequest(bytes: Uint8Array): MessageRequest | undefined {
  const hex = (from: number, to: number) => toHex(bytes.subarray(from, to))
  const number = (from: number, to: number) => toBigint(bytes.subarray(from, to))
  switch (`${Buffer.from(bytes.subarray(0, 4)).toString('latin1')} ${bytes.length}`) {
    case 'ERV1 46':
      return { prefix: 'ERV1', chain: Number(number(4, 6)), emitter: hex(6, 38), sequence: String(number(38, 46)) }
    case 'ERN1 70':
      return { prefix: 'ERN1', sourceChain: Number(number(4, 6)), manager: hex(6, 38), messageId: hex(38, 70) }
    case 'ERC1 16':
      return { prefix: 'ERC1', sourceDomain: Number(number(4, 8)), nonce: String(number(8, 16)) }
    case 'ERC2 5':
      return bytes[4] === 1 ? { prefix: 'ERC2' } : undefined
    default:
      return undefined
  }
}

/** Coins are in the smallest unit of the target's coin (wei on EVM). */
export interface RelayInstructions {
  readonly gasLimit: bigint
  readonly msgValue: bigint
  readonly dropOff: bigint
  /** Account that gets the drop-off: 64 lower-case hex digits without 0x. */
  readonly recipient?: string
}

const gasInstruction = 1
const dropOffInstruction = 2

/** Maximum length of relay instructions, bytes. Anyone may log instructions of any length. */
export const mostInstructions = 2_048

/** Adds up all gas instructions, and takes the first drop-off. Undefined if an instruction is unknown or incomplete. */
export function decodeInstructions(bytes: Uint8Array): RelayInstructions | undefined {
  if (bytes.length > mostInstructions) return undefined
  let [gasLimit, msgValue] = [0n, 0n]
  let drop: Pick<RelayInstructions, 'dropOff' | 'recipient'> | undefined
  for (let at = 0; at < bytes.length;) {
    const kind = bytes[at]
    const end = at + (kind === gasInstruction ? 33 : 49)
    if ((kind !== gasInstruction && kind !== dropOffInstruction) || end > bytes.length) return undefined
    const first = toBigint(bytes.subarray(at + 1, at + 17))
    if (kind === gasInstruction) {
      gasLimit += first
      msgValue += toBigint(bytes.subarray(at + 17, end))
    } else drop ??= { dropOff: first, recipient: toHex(bytes.subarray(at + 17, end)) }
    at = end
  }
  return { gasLimit, msgValue, dropOff: 0n, ...drop }
}
