import { toBeHex } from 'ethers'
import type { Shown, SignedMessage } from './plugin.ts'

/** A view of the config that shows the delivery of a signed message. */
export interface DeliveredView {
  /** Absent: the contract that gets the message. */
  readonly contract?: string | undefined
  /** `name(types)`, with one answer of one word. */
  readonly view: string
  /** Literals, or `$digest`, `$emitter`, `$emitterChain`, `$sequence` of the message. */
  readonly args: readonly string[]
  /** The answer for a delivered message: `true`, `false`, a decimal number, or 0x hex of at most 32 bytes. */
  readonly is: string
}

export function shownBy(message: MessageIdentity, receiver: string, { contract = receiver, view, args, is }: DeliveredView): Shown {
  return { contract, view, args: args.map((arg) => valueOf(arg, message)), returns: 'bytes32', is: [wordOf(is)] }
}

type MessageIdentity = Pick<SignedMessage, 'digest' | 'emitter' | 'emitterChain' | 'sequence'>

function valueOf(arg: string, { digest, emitter, emitterChain, sequence }: MessageIdentity): string | boolean {
  const values: Readonly<Record<string, string>> = {
    $digest: digest,
    $emitter: `0x${emitter}`,
    $emitterChain: String(emitterChain),
    $sequence: sequence,
  }
  if (Object.hasOwn(values, arg)) return values[arg] ?? ''
  // ethers takes every text for true.
  return arg === 'true' || arg === 'false' ? arg === 'true' : arg
}

function wordOf(is: string): string {
  return toBeHex(is === 'true' ? 1n : is === 'false' ? 0n : BigInt(is), 32)
}
