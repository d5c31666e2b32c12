import { toBeHex } from 'ethers'
import type { MessageView, Shown, SignedMessage } from './plugin.ts'

/** A view of the config that shows the delivery of a signed message. */
export interface DeliveredView extends MessageView {
  /** Absent: the contract that gets the message. */
  readonly contract?: string | undefined
}

export function shownBy(message: MessageIdentity, receiver: string, { contract = receiver, view, args, is }: DeliveredView): Shown {
  return { contract, view, args: args.map((arg) => valueOf(arg, message)), returns: 'bytes32', is: [wordOf(valueOf(is, message))] }
}

export type MessageIdentity = Pick<SignedMessage, 'digest' | 'emitter' | 'emitterChain' | 'sequence'>

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

function wordOf(is: string | boolean): string {
  return toBeHex(BigInt(is), 32)
}
