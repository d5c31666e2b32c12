import type { Principal } from '../access.ts'
import type { FeePolicy, FeeRule, FeeScope } from '../fees/policy.ts'
import type { BridgeName, ChainName, Transfer } from '../transfer/transfer.ts'

/** What a halt covers: every field narrows it; without any it covers everything. */
export interface HaltScope {
  readonly bridge?: BridgeName | undefined
  /** From and to this chain. */
  readonly chain?: ChainName | undefined
  readonly sourceChain?: ChainName | undefined
  readonly targetChain?: ChainName | undefined
}

/** Who gave an order, why, and when (ms since the epoch). */
interface Given {
  readonly by: string
  readonly reason: string
  readonly at: number
}

export interface Halt extends Given {
  readonly scope: HaltScope
}

/** A recipient that nothing is delivered to, or a token that is not delivered. */
export interface DenyRule extends Given {
  readonly kind: 'recipient' | 'token'
  /**
   * Lower case: a recipient is `<target chain name>/<address>` or `<address>`, a token is `<wormhole chain id>/<64 hex digits>`, or that of a native bridge
   * `<network id>/<64 hex digits of its source contract>`.
   */
  readonly value: string
}

/** A node that was added or disabled while the workers run. */
export interface NodeChange {
  readonly chain: ChainName
  /** As in the config, or a new one. */
  readonly name: string
  readonly disabled: boolean
  /** Only of an added node. It holds no secrets, but `${VARIABLE}` for them (assertNodeUrl). */
  readonly url?: string | undefined
  readonly use?: NodeUse | undefined
}

/** `all`: reads and sends. `read`: never sends to it. `send`: broadcast-only. `private`: sends to it where the chain sends privately; no reads. */
export type NodeUse = 'all' | 'read' | 'send' | 'private'

/** An access token that was made. The token itself is kept nowhere. Of a revoked one that was never listed only `jti` and `revoked` are known. */
export interface IssuedToken extends Partial<Omit<Principal, 'jti'>> {
  readonly jti: string
  readonly revoked?: Given
}

/** One entry of the audit. */
export interface SettingsChange extends Given {
  readonly version: number
  readonly order: SettingsOrder
}

/** One change of the settings. All of them are idempotent. */
export type SettingsOrder =
  | { readonly kind: 'halt'; readonly scope: HaltScope }
  | { readonly kind: 'unhalt'; readonly scope: HaltScope }
  | { readonly kind: 'deny'; readonly what: DenyRule['kind']; readonly value: string }
  | { readonly kind: 'allow'; readonly what: DenyRule['kind']; readonly value: string }
  /** Replaces the rule of that scope; a `policy` without fields removes it. */
  | { readonly kind: 'setFees'; readonly scope: FeeScope; readonly policy: FeePolicy }
  | { readonly kind: 'setNode'; readonly change: NodeChange }
  /** The node is again as the config says; one that was added is removed. */
  | { readonly kind: 'clearNode'; readonly chain: ChainName; readonly name: string }
  /** Lists a token that was made, so that its name and scope can be looked up. */
  | { readonly kind: 'addToken'; readonly token: Principal }
  /** The token is refused from now on. */
  | { readonly kind: 'revokeToken'; readonly jti: string }

/** What operators have changed since the processes were started, on top of the config. Plain JSON. */
export interface Settings {
  /** Counts changes; 0: nothing was ever changed. */
  readonly version: number
  readonly halts: readonly Halt[]
  readonly denied: readonly DenyRule[]
  readonly fees: readonly FeeRule[]
  readonly nodes: readonly NodeChange[]
  /** Without those that have expired. */
  readonly tokens: readonly IssuedToken[]
  /** The newest 200 changes; the workflow's history has all. */
  readonly audit: readonly SettingsChange[]
}

export const noSettings: Settings = { version: 0, halts: [], denied: [], fees: [], nodes: [], tokens: [], audit: [] }

/** The halt that applies to a transfer, if any. */
export function haltOf(
  { halts }: Pick<Settings, 'halts'>,
  transfer: Pick<Transfer, 'bridge' | 'sourceChain' | 'targetChain'>,
): Halt | undefined {
  return halts.find(
    ({ scope: { bridge, chain, sourceChain, targetChain } }) =>
      (bridge === undefined || bridge === transfer.bridge) &&
      (chain === undefined || chain === transfer.sourceChain || chain === transfer.targetChain) &&
      (sourceChain === undefined || sourceChain === transfer.sourceChain) &&
      (targetChain === undefined || targetChain === transfer.targetChain),
  )
}

/** The deny rule that applies to a delivery, if any. Its parties are named as by `Endpoint.parties` of the target chain. */
export function denyRuleOf(
  settings: Settings,
  targetChain: ChainName,
  { recipient, token }: { readonly recipient: string; readonly token: string },
): DenyRule | undefined {
  const recipients = [recipient.toLowerCase(), `${targetChain}/${recipient.toLowerCase()}`]
  return settings.denied.find(({ kind, value }) => (kind === 'token' ? value === token.toLowerCase() : recipients.includes(value)))
}
