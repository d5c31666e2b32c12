import { toBeHex } from 'ethers'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'
import type { Plugin, Route, Shown, SignedMessage } from '../kit/plugin.ts'

export const receivers = 'receivers' satisfies BridgeName

/** Delivers the messages of one emitter to one contract. Addresses are 0x, lower case. */
export interface ReceiverRoute {
  readonly source: ChainName
  readonly emitter: string
  readonly where: Readonly<Record<string, string>>
  readonly target: ChainName
  readonly contract: string
  /** `name(bytes)`: takes the signed message alone. */
  readonly function: string
  readonly delivered: DeliveredView
}

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

export function createReceivers(configured: readonly ReceiverRoute[]): Plugin<ReceiverRoute> {
  const routes = new Map<Route, ReceiverRoute>(
    configured.map((route) => {
      const { source, emitter, where, target: to, contract } = route
      return [{ from: [{ source, emitter }], where, to, calls: [{ contract, function: route.function, proof: 'message' }] }, route]
    }),
  )
  return {
    name: receivers,
    routes: [...routes.keys()],
    decode: (_, route) => routes.get(route),
    stages: {
      deliver: {
        call: ({ bytes, content }) => ({ contract: content.contract, function: content.function, args: [bytes] }),
        // The contract may do anything when it is called a second time.
        revertsOnceDone: false,
      },
    },
    delivered: ({ content, ...message }) => [shownBy(message, content.contract, content.delivered)],
    parties: ({ emitterChain, emitter, content }) => ({ recipient: content.contract, token: `${emitterChain}/${emitter}` }),
  }
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
