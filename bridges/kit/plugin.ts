import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Parties, RevertMeaning } from '../port.ts'

/** A message in the form of a VAA. `verify` checks its signatures before anything is sent. */
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
}

/** A view, and its answer once the effect is there. `returns` lists the answer's types, separated by commas. */
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

/** The next call, or why there is none. `opensAt` is in seconds since the epoch. */
export type Next =
  | { readonly stage: string }
  | { readonly wait: string; readonly opensAt?: number | undefined }
  | { readonly never: string }

export interface Target {
  /** Time of the chain's latest block, seconds since the epoch. */
  readonly now: number
  read(view: Omit<Shown, 'is'>): Promise<readonly unknown[]>
}

/** One call that a key signs for messages of a route. */
export interface CallRule {
  readonly contract: string
  readonly function: string
  /**
   * How the call is proved. `message`: by its only argument, which is the signed message. An object: the call succeeds
   * on most nodes, and a view of the target with the call's only argument, one word, does not answer `isNot`.
   */
  readonly proof: 'message' | (Pick<Shown, 'view' | 'returns'> & { readonly isNot: readonly unknown[] })
}

export interface RouteEmitter {
  readonly source: ChainName
  readonly emitter: string
}

/** A view, named in the config, that shows a fact about a signed message. */
export interface MessageView {
  /** `name(types)`. The view returns one word. */
  readonly view: string
  /** Literals, or `$digest`, `$emitter`, `$emitterChain` and `$sequence` of the message. */
  readonly args: readonly string[]
  /** The expected answer: `true`, `false`, a decimal number, 0x hex of at most 32 bytes, or a value as in `args`. */
  readonly is: string
}

/** Selects messages by emitter and payload bytes. A message belongs to the first route that fits. */
export interface Route {
  /** `accepted`: any emitter for which the view `accepts` gives the expected answer. */
  readonly from: readonly RouteEmitter[] | 'accepted'
  /** A view of the target that must show that the target accepts the emitter. */
  readonly accepts?: MessageView & { readonly contract: string }
  /** Offset in the payload (bytes) → the bytes there, lower-case hex without 0x. All entries must match. */
  readonly where?: Readonly<Record<string, string>>
  readonly to: ChainName
  readonly calls: readonly CallRule[]
}

/**
 * A product whose messages guardians sign. The kit makes a `Bridge` of it (plugin-bridge.ts). A key signs by the rules
 * of `routes` alone. All functions are pure, except that `next` reads the target.
 */
export interface Plugin<C> {
  readonly name: string
  readonly routes: readonly Route[]
  /** Returns the content of a message. Undefined if it is not a message of this product. Throws PAYLOAD_LENGTH. */
  decode(message: SignedMessage, route: Route): C | undefined
  /** Name of a stage → its call. Without `next`, the first stage delivers. */
  readonly stages: Readonly<Record<string, Stage<C>>>
  /**
   * Decides which stage is next. The answer counts only while `delivered`, which is read at the same time, is false.
   * Once the effect of the stage is final, `next` is called again.
   */
  next?(message: Message<C>, target: Target): Promise<Next>
  /** Views that together show that the recipient has been paid or called. */
  delivered(message: Message<C>): readonly Shown[]
  /** Selector of a custom error → its meaning. After other reverts, the transfer is tried again and then parked. */
  readonly reverts?: Readonly<Record<string, RevertMeaning>>
  parties(message: Message<C>): Pick<Parties, 'recipient' | 'token'> & { readonly amount?: string }
}

export interface PluginContext {
  /** Name of a chain in the config → Wormhole chain id. */
  readonly chains: ReadonlyMap<ChainName, number>
}

/** The default export of a plug-in package (docs/develop/plugins.md). */
export interface PluginPackage<S, C> {
  /** Lower-case letters, digits and dashes. Ids of transfers contain the name. */
  readonly name: string
  readonly version: string
  readonly kit: 1
  /** A schema of zod, or any other object with `parse`. */
  readonly settings: { parse(settings: unknown): S }
  create(settings: S, context: PluginContext): Omit<Plugin<C>, 'name'>
}

/** Returns the definition unchanged. It only gives the package its types. */
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

/** Argument of `deploy` and `send`. Each method resolves once its transaction is mined, and throws if it reverts. */
export interface AuthorDevnet {
  readonly chains: { readonly ethereum: DevnetChain; readonly bsc: DevnetChain }
  account(chain: string): string
  /**
   * Resolves with the address of the new contract.
   * @param contract a name in lab/devnet/contracts, or a compiled contract
   */
  deploy(chain: string, contract: string | { readonly abi: unknown; readonly bytecode: string }, args?: readonly unknown[]): Promise<string>
  /** @param signature `name(types)` */
  call(chain: string, contract: string, signature: string, args?: readonly unknown[], value?: bigint): Promise<void>
  /** Publishes a message of the account through Wormhole's core contract. */
  publish(chain: string, payload: string): Promise<void>
}
