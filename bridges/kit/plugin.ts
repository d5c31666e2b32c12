import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Parties, RevertMeaning } from '../port.ts'

/** A message of Wormhole. Its signatures are verified before anything is sent. */
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

/** Functions and views are written as `name(types)`. Contracts are 0x, lower case. */
export interface Call {
  readonly contract: string
  readonly function: string
  readonly args: readonly unknown[]
  /** Coins that the call carries, wei. Only if its rule has `coins`. */
  readonly value?: bigint | string
}

/** A view, and the answer (`is`) that shows the effect. `returns`: types, separated by commas. */
export interface Shown {
  readonly contract: string
  readonly view: string
  readonly args: readonly unknown[]
  readonly returns: string
  readonly is: readonly unknown[]
}

export interface Stage<C> {
  call(message: Message<C>): Call
  /** Views that show the effect of the call. Absent: the views of `delivered`. */
  effect?(message: Message<C>): readonly Shown[]
  /** Whether the contract reverts a second call. */
  readonly revertsOnceDone: boolean
}

/** `opensAt` is in seconds since the epoch. */
export type Next =
  | { readonly stage: string }
  | { readonly wait: string; readonly opensAt?: number | undefined }
  | { readonly never: string }

/** The answer of the operator's policy: `wait` and `decline` are reasons. */
export type Policy = { readonly accept: true } | { readonly wait: string } | { readonly decline: string }

export interface Target {
  /** Time of the chain's latest block, seconds since the epoch. */
  readonly now: number
  read(view: Omit<Shown, 'is'>): Promise<readonly unknown[]>
}

/** A call that a key signs for messages of a route. */
export interface CallRule {
  readonly contract: string
  readonly function: string
  /**
   * `message`: the first argument is the signed message. An object: the call has one argument, of one word. The call
   * must succeed on most nodes, and `view` of the contract, asked with this argument, must not answer `isNot`.
   */
  readonly proof: 'message' | (Pick<Shown, 'view' | 'returns'> & { readonly isNot: readonly unknown[] })
  /** One bound for each argument after the signed message. Only with the proof `message`. */
  readonly rest?: readonly ArgumentBound[] | undefined
  /** Only with the proof `message`. Absent: a key signs no call that carries coins. */
  readonly coins?: CallCoins | undefined
}

/** Limits an argument of one word. A key signs no call whose argument breaks the limit. */
export type ArgumentBound =
  /** A literal or a value of the message, as in `MessageView`. */
  | { readonly is: string }
  /** Decimal. The argument is an unsigned number. */
  | { readonly atMost: string }
  /** The bytes of the payload from the first offset up to, but not including, the second one: 1 to 32 bytes. */
  | { readonly payload: readonly [from: number, to: number] }

/** Coins of a call, which the lane pays. */
export interface CallCoins {
  /** Wei, decimal. */
  readonly atMost: string
  /**
   * View that shows that the call was made. Once the view shows this, a key signs no call with coins for the message.
   */
  readonly delivered: DeliveredView
}

export interface RouteEmitter {
  readonly source: ChainName
  readonly emitter: string
}

export interface MessageView {
  /** `name(types)`. The view returns one word. */
  readonly view: string
  /** Literals, or `$digest`, `$emitter`, `$emitterChain` and `$sequence` of the message. */
  readonly args: readonly string[]
  /** The expected answer: `true`, `false`, a decimal number, 0x hex of at most 32 bytes, or a value as in `args`. */
  readonly is: string
}

export interface DeliveredView extends MessageView {
  /** Absent: the contract that gets the message. */
  readonly contract?: string | undefined
}

/** A message belongs to the first route that fits. */
export interface Route {
  /** `accepted`: any emitter that `accepts` confirms. */
  readonly from: readonly RouteEmitter[] | 'accepted'
  /** A view of the target that shows whether the target accepts the emitter. */
  readonly accepts?: MessageView & { readonly contract: string }
  /** Offset in the payload (bytes) → the bytes there, lower-case hex without 0x. All entries must match. */
  readonly where?: Readonly<Record<string, string>>
  readonly to: ChainName
  readonly calls: readonly CallRule[]
}

/**
 * A product whose messages guardians sign. Its functions are pure, except `next`, which reads the target, and `policy`,
 * `earned` and `retry`, whose answers or effects may change.
 */
export interface Plugin<C> {
  readonly name: string
  readonly routes: readonly Route[]
  /** Undefined if the message does not belong to this product. Throws PAYLOAD_LENGTH. */
  decode(message: SignedMessage, route: Route): C | undefined
  /** Without `next`, the first stage delivers. */
  readonly stages: Readonly<Record<string, Stage<C>>>
  /**
   * Names the next stage. Called again once the effect of the stage is final. The answer is ignored once `delivered` is
   * true.
   */
  next?(message: Message<C>, target: Target): Promise<Next>
  /** Views that together show that the recipient has been paid or called. */
  delivered(message: Message<C>): readonly Shown[]
  /** Selector of a custom error → meaning. After other reverts, the transfer is tried again, then parked. */
  readonly reverts?: Readonly<Record<string, RevertMeaning>>
  parties(message: Message<C>): Pick<Parties, 'recipient' | 'token'> & { readonly amount?: string }
  /** Asked before each call. Absent: every message is accepted. */
  policy?(message: Message<C>): Policy
  /**
   * Worth of the fee, wei of the target's coin. Asked before each call: the call waits while its gas and coins cost
   * more than the fee is worth. Absent: the config must say `free: true`.
   */
  earned?(message: Message<C>): bigint
  /** Called before each admission with the time (ms since the epoch) of an operator's last order to retry, if any. */
  retry?(digest: string, orderedAt: number | undefined): void
  /** Size of a content in memory, bytes. Absent: contents are small. */
  bytesOf?(content: C): number
}

export interface PluginContext {
  /** Wormhole chain ids. */
  readonly chains: ReadonlyMap<ChainName, number>
}

/** The default export of a plug-in package (docs/develop/plugins.md). */
export interface PluginPackage<S, C> {
  /** Lower-case letters, digits and dashes. */
  readonly name: string
  readonly version: string
  readonly kit: 1
  /** A schema of zod, or any other object with `parse`. */
  readonly settings: { parse(settings: unknown): S }
  /** Without `parties`, the first contract of the route is the recipient, and the emitter is the token. */
  create(
    settings: S,
    context: PluginContext,
  ): Omit<Plugin<C>, 'name' | 'parties' | 'retry' | 'bytesOf'> & Partial<Pick<Plugin<C>, 'parties'>>
}

/** Returns the definition unchanged, with its types checked. */
export function plugin<S, C>(definition: PluginPackage<S, C>): PluginPackage<S, C> {
  return definition
}

interface DevnetChain {
  readonly url: string
  readonly wormholeChainId: number
  /** 0x, lower case. */
  readonly core: string
  readonly tokenBridge: string
}

/** Answer of `send`. */
export interface Expected {
  /** Payloads (0x) of the messages that `policy` must decline. All other messages must be delivered. */
  readonly declined?: readonly string[]
}

/** Argument of `deploy` and `send`. Each method resolves once its transaction is mined, and throws if it reverts. */
export interface AuthorDevnet {
  readonly chains: { readonly ethereum: DevnetChain; readonly bsc: DevnetChain }
  account(chain: string): string
  /** @param contract a name in lab/devnet/contracts, or a compiled contract */
  deploy(chain: string, contract: string | { readonly abi: unknown; readonly bytecode: string }, args?: readonly unknown[]): Promise<string>
  /** @param signature `name(types)` */
  call(chain: string, contract: string, signature: string, args?: readonly unknown[], value?: bigint): Promise<void>
  /** Publishes a message through Wormhole's core contract. */
  publish(chain: string, payload: string): Promise<void>
}
