import type { Principal } from '../access.ts'
import type { FeePolicy, FeeRule, FeeScope } from '../fees/policy.ts'
import type { BridgeName, ChainName, Transfer } from '../transfer/transfer.ts'

/** The scope of a halt. Every field narrows it; without fields it covers everything. */
export interface HaltScope {
  readonly bridge?: BridgeName | undefined
  /** From and to this chain. */
  readonly chain?: ChainName | undefined
  readonly sourceChain?: ChainName | undefined
  readonly targetChain?: ChainName | undefined
}

/** Author, reason and time (ms since the epoch) of an order. */
interface Given {
  readonly by: string
  readonly reason: string
  readonly at: number
}

export interface Halt extends Given {
  readonly scope: HaltScope
}

export interface DenyRule extends Given {
  readonly kind: 'recipient' | 'token'
  /**
   * Lower case. Recipient: `<target chain name>/<address>` or `<address>`.
   * Token: `<wormhole chain id>/<64 hex digits>`, native bridge: `<network id>/<64 hex digits of its source contract>`.
   */
  readonly value: string
}

export interface NodeChange {
  readonly chain: ChainName
  readonly name: string
  readonly disabled: boolean
  /** Only for an added node. Secrets in it are `${VARIABLE}`s (assertNodeUrl). */
  readonly url?: string | undefined
  readonly use?: NodeUse | undefined
}

/** `read`: reads only. `send`: sends only. `private`: sends for chains that send privately; no reads. */
export type NodeUse = 'all' | 'read' | 'send' | 'private'

/** An access token, without its text. An unlisted revoked one has only `jti` and `revoked`. */
export interface IssuedToken extends Partial<Omit<Principal, 'jti'>> {
  readonly jti: string
  readonly revoked?: Given
}

export interface SettingsChange extends Given {
  readonly version: number
  readonly order: SettingsOrder
}

/** One change of the settings. All are idempotent. */
export type SettingsOrder =
  | { readonly kind: 'halt'; readonly scope: HaltScope }
  | { readonly kind: 'unhalt'; readonly scope: HaltScope }
  | { readonly kind: 'deny'; readonly what: DenyRule['kind']; readonly value: string }
  | { readonly kind: 'allow'; readonly what: DenyRule['kind']; readonly value: string }
  /** Replaces the rule of that scope. A `policy` without fields removes it. */
  | { readonly kind: 'setFees'; readonly scope: FeeScope; readonly policy: FeePolicy }
  | { readonly kind: 'setNode'; readonly change: NodeChange }
  /** Restores the config's node, or removes an added one. */
  | { readonly kind: 'clearNode'; readonly chain: ChainName; readonly name: string }
  | { readonly kind: 'addToken'; readonly token: Principal }
  | { readonly kind: 'revokeToken'; readonly jti: string }

/** The changes of operators, on top of the config. Plain JSON. */
export interface Settings {
  /** Counts changes, from 0. */
  readonly version: number
  readonly halts: readonly Halt[]
  readonly denied: readonly DenyRule[]
  readonly fees: readonly FeeRule[]
  readonly nodes: readonly NodeChange[]
  readonly tokens: readonly IssuedToken[]
  /** The newest 200 changes; the workflow's history has all. */
  readonly audit: readonly SettingsChange[]
}

export const noSettings: Settings = { version: 0, halts: [], denied: [], fees: [], nodes: [], tokens: [], audit: [] }

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

/** The deny rule that covers a delivery, if any. `Endpoint.parties` of the target chain names the parties. */
export function denyRuleOf(
  settings: Settings,
  targetChain: ChainName,
  { recipient, token }: { readonly recipient: string; readonly token: string },
): DenyRule | undefined {
  const recipients = [recipient.toLowerCase(), `${targetChain}/${recipient.toLowerCase()}`]
  return settings.denied.find(({ kind, value }) => (kind === 'token' ? value === token.toLowerCase() : recipients.includes(value)))
}
