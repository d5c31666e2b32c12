import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Parties, RevertMeaning } from '../port.ts'

/** A message with the form of a VAA. `verify` checks its signatures before anything is sent. */
export interface SignedMessage {
  readonly bytes: Uint8Array
  readonly source: ChainName
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /** u64, decimal. */
  readonly sequence: string
  /** keccak256(keccak256(body)), 0x, lower case. */
  readonly digest: string
  readonly payload: Uint8Array
}

export interface Message<C> extends SignedMessage {
  readonly content: C
}

/** Functions and views are written as `name(types)`, contracts as 0x, lower case. */
export interface Call {
  readonly contract: string
  readonly function: string
  readonly args: readonly unknown[]
}

/** A view and its answer once the effect is there. `returns`: the types of the answer, separated by commas. */
export interface Shown {
  readonly contract: string
  readonly view: string
  readonly args: readonly unknown[]
  readonly returns: string
  readonly is: readonly unknown[]
}

export interface Stage<C> {
  call(message: Message<C>): Call
  /** Shows the effect of the call. Absent: `delivered`. */
  effect?(message: Message<C>): readonly Shown[]
  /** The contract reverts a second call. */
  readonly revertsOnceDone: boolean
}

/** `opensAt`: seconds since the epoch. */
export type Next =
  | { readonly stage: string }
  | { readonly wait: string; readonly opensAt?: number | undefined }
  | { readonly never: string }

/** The latest state of the target chain. */
export interface Target {
  /** Time of its latest block, seconds since the epoch. */
  readonly now: number
  read(view: Omit<Shown, 'is'>): Promise<readonly unknown[]>
}

/** One call that a key signs for a route. */
export interface CallRule {
  readonly contract: string
  readonly function: string
  /**
   * The call's only argument is the signed message (`message`), or one word that the target's state justifies
   * (`state`). The call without a message must also succeed on most nodes.
   */
  readonly proof: 'message' | (Pick<Shown, 'view' | 'returns'> & { readonly isNot: readonly unknown[] })
}

export interface RouteEmitter {
  readonly source: ChainName
  /** 64 lower-case hex digits. */
  readonly emitter: string
}

/** A view of the config that shows something about a signed message. */
export interface MessageView {
  /** `name(types)`, with one answer of one word. */
  readonly view: string
  /** Literals, or `$digest`, `$emitter`, `$emitterChain`, `$sequence` of the message. */
  readonly args: readonly string[]
  /** The answer: `true`, `false`, a decimal number, 0x hex of at most 32 bytes, or as in `args`. */
  readonly is: string
}

/** The first route with the emitter and the payload bytes of a message owns the message. */
export interface Route {
  /** `accepted`: any emitter that `accepts` shows. */
  readonly from: readonly RouteEmitter[] | 'accepted'
  /** The target must show that it accepts the emitter. */
  readonly accepts?: MessageView & { readonly contract: string }
  /** Offset in the payload, bytes → the bytes there, lower-case hex without 0x. All must match. */
  readonly where?: Readonly<Record<string, string>>
  readonly to: ChainName
  readonly calls: readonly CallRule[]
}

/**
 * A product whose messages guardians sign. The kit makes a `Bridge` of it (plugin-bridge.ts): it finds, verifies and
 * encodes, and asks by quorum. A key signs by the rules of `routes` alone. Functions are pure, and only `next` reads.
 */
export interface Plugin<C> {
  readonly name: string
  readonly routes: readonly Route[]
  /** Undefined: not a message of this product. Throws PAYLOAD_LENGTH. */
  decode(message: SignedMessage, route: Route): C | undefined
  /** Name → call. Without `next`, the first stage delivers. */
  readonly stages: Readonly<Record<string, Stage<C>>>
  /** Counts while `delivered` does not hold, with which it is read. Asked again once the effect of a stage is final. */
  next?(message: Message<C>, target: Target): Promise<Next>
  /** All views that show that the recipient has been paid or called. */
  delivered(message: Message<C>): readonly Shown[]
  /** Selector of a custom error → its meaning. Other reverts are tried again, and the transfer is parked at last. */
  readonly reverts?: Readonly<Record<string, RevertMeaning>>
  parties(message: Message<C>): Pick<Parties, 'recipient' | 'token'> & { readonly amount?: string }
}

/** The part of the config that a package may know. */
export interface PluginContext {
  /** Chain of the config → Wormhole's number. */
  readonly chains: ReadonlyMap<ChainName, number>
}

/** The default export of a plug-in package (docs/develop/plugins.md). */
export interface PluginPackage<S, C> {
  /** Lower-case letters, digits and -. Ids of transfers have it. */
  readonly name: string
  readonly version: string
  /** Version of this interface. */
  readonly kit: 1
  /** A schema of zod, or anything else that has `parse`. */
  readonly settings: { parse(settings: unknown): S }
  create(settings: S, context: PluginContext): Omit<Plugin<C>, 'name'>
}

/** Only types the package. */
export function plugin<S, C>(definition: PluginPackage<S, C>): PluginPackage<S, C> {
  return definition
}

interface DevnetChain {
  /** JSON-RPC. */
  readonly url: string
  readonly wormholeChainId: number
  /** 0x, lower case. */
  readonly core: string
  readonly tokenBridge: string
}

/** The argument of an author's `deploy` and `send`. Each call resolves once it is mined, and throws if it reverts. */
export interface AuthorDevnet {
  readonly chains: { readonly ethereum: DevnetChain; readonly bsc: DevnetChain }
  /** The account that sends the calls on this chain. */
  account(chain: string): string
  /** @param contract a name in lab/devnet/contracts, or a compiled contract. Resolves with its address. */
  deploy(chain: string, contract: string | { readonly abi: unknown; readonly bytecode: string }, args?: readonly unknown[]): Promise<string>
  /** @param signature `name(types)` */
  call(chain: string, contract: string, signature: string, args?: readonly unknown[], value?: bigint): Promise<void>
  /** Publishes a message of the account at Wormhole's core contract. */
  publish(chain: string, payload: string): Promise<void>
}
