import { longestTokenMs, type Principal } from '../access.ts'
import { defined } from '../defined.ts'
import { type FeeScope, type FeePolicy, type FeeRule } from '../fees/fees.ts'
import type { Order } from '../order.ts'
import type { BridgeName, ChainName, TransferRoute } from '../transfer/transfer.ts'
import { lowerTariffScope, type TariffRule, type Tariff, type TariffScope } from './tariff.ts'

/** A halt covers the transfers that match each given field. A scope without fields covers everything. */
export interface HaltScope {
  readonly bridge?: BridgeName | undefined
  readonly chain?: ChainName | undefined
  readonly sourceChain?: ChainName | undefined
  readonly targetChain?: ChainName | undefined
}

/** `at`: ms since the epoch. */
interface Given extends Order {
  readonly at: number
}

export interface Halt extends Given {
  readonly scope: HaltScope
}

export interface DenyRule extends Given {
  readonly kind: 'recipient' | 'token'
  /**
   * Lower case. Recipient: `<address>` or `<target chain name>/<address>`. Token: `<wormhole chain id>/<64 hex
   * digits>`. Token of a native bridge: `<network id>/<64 hex digits of its contract>`.
   */
  readonly value: string
  /** Set by `inForce` if the config lacks the chain: transfers to the recipient then wait, and are not declined. */
  readonly waits?: true
}

export interface NodeChange {
  readonly chain: ChainName
  readonly name: string
  readonly disabled: boolean
  readonly url?: string | undefined
  readonly use?: NodeUse | undefined
}

/** `private`: the node only sends, for lanes that send privately. */
export type NodeUse = 'all' | 'read' | 'send' | 'private'

/** A revoked token that was never listed has only `jti` and `revoked`. */
export interface IssuedToken extends Partial<Omit<Principal, 'jti'>> {
  readonly jti: string
  readonly revoked?: Given
}

export interface SettingsChange extends Given {
  readonly version: number
  readonly order: SettingsOrder
}

export type SettingsOrder =
  | { readonly kind: 'halt'; readonly scope: HaltScope }
  | { readonly kind: 'unhalt'; readonly scope: HaltScope }
  | { readonly kind: 'deny'; readonly what: DenyRule['kind']; readonly value: string }
  | { readonly kind: 'allow'; readonly what: DenyRule['kind']; readonly value: string }
  /** A `policy` without fields removes the rule. */
  | { readonly kind: 'setFees'; readonly scope: FeeScope; readonly policy: FeePolicy }
  /** A `tariff` without fields removes the rule. */
  | { readonly kind: 'setTariff'; readonly scope: TariffScope; readonly tariff: Tariff }
  | { readonly kind: 'setNode'; readonly change: NodeChange }
  | { readonly kind: 'clearNode'; readonly chain: ChainName; readonly name: string }
  | { readonly kind: 'addToken'; readonly token: Principal }
  | { readonly kind: 'revokeToken'; readonly jti: string }

export interface Settings {
  readonly version: number
  readonly halts: readonly Halt[]
  readonly denied: readonly DenyRule[]
  readonly fees: readonly FeeRule[]
  readonly nodes: readonly NodeChange[]
  readonly tariff: readonly TariffRule[]
  readonly tokens: readonly IssuedToken[]
  readonly audit: readonly SettingsChange[]
}

export const noSettings: Settings = { version: 0, halts: [], denied: [], fees: [], nodes: [], tariff: [], tokens: [], audit: [] }

export function haltOf({ halts }: Pick<Settings, 'halts'>, transfer: TransferRoute): Halt | undefined {
  return halts.find(
    ({ scope: { bridge, chain, sourceChain, targetChain } }) =>
      (bridge === undefined || bridge === transfer.bridge) &&
      (chain === undefined || chain === transfer.sourceChain || chain === transfer.targetChain) &&
      (sourceChain === undefined || sourceChain === transfer.sourceChain) &&
      (targetChain === undefined || targetChain === transfer.targetChain),
  )
}

export interface DenySubject {
  readonly targetChain: ChainName
  readonly recipient: string
  /** Another account that gets coins from the transfer. */
  readonly payee?: string | undefined
  readonly token: string
  /** Hex digits of a plug-in package's call. The transfer is denied if they contain the address of a denied party. */
  readonly bytes?: string
}

/** Interval at which a halted transfer checks the halt again, ms. */
export const haltedMs = 5_000
/**
 * Interval at which an unclear denial is checked again, ms. Long, because strangers decide how many transfers wait for
 * this reason.
 */
const unclearMs = 5 * 60_000

/**
 * Verdict of the deny-list. Undefined if no rule matches. The transfer is declined, not rejected, because an operator
 * may lift the rule.
 */
export function denialOf(
  { denied }: Pick<Settings, 'denied'>,
  { targetChain, recipient, payee = recipient, token, bytes = '' }: DenySubject,
) {
  const accounts = [recipient, payee].map((account) => account.toLowerCase())
  const recipients = [...accounts, ...accounts.map((account) => `${targetChain}/${account}`)]
  const searched = bytes.toLowerCase()
  const names = (one: DenyRule) => (one.kind === 'token' ? one.value === token.toLowerCase() : recipients.includes(one.value))
  const rule = denied.find((one) => names(one) || isAmong(searched, one, targetChain))
  if (!rule) return undefined
  const { kind, value, by, waits } = rule
  const reason = `${kind} ${value} was denied by ${by}: ${rule.reason}`
  if (waits) return { kind: 'waiting', code: 'DENIAL_UNCLEAR', reason, retryInMs: unclearMs } as const
  return { kind: 'declined', code: kind === 'token' ? 'TOKEN_DENIED' : 'RECIPIENT_DENIED', reason } as const
}

/**
 * Minimum number of hex digits, without leading zeros, of an address that is searched for. A shorter address occurs by
 * chance: 0x…01 is also the number 1.
 */
const leastSearched = 24

/**
 * Whether `bytes` contain the address of the rule. The chain of a token's rule is the token's origin, so it is not
 * compared with the target.
 */
function isAmong(bytes: string, { kind, value }: DenyRule, targetChain: ChainName): boolean {
  if (bytes === '') return false
  const [, chain, digits = ''] = /^(?:([a-z0-9-]{1,64})\/)?(?:0x)?([0-9a-f]{40,64})$/.exec(value) ?? []
  const wanted = digits.replace(/^(?:00)+/, '')
  if (wanted.length < leastSearched || (kind === 'recipient' && chain !== undefined && chain !== targetChain)) return false
  let at = bytes.indexOf(wanted)
  while (at % 2 === 1) at = bytes.indexOf(wanted, at + 1)
  return at >= 0
}

export interface SettingsOrders extends Order {
  readonly orders: readonly SettingsOrder[]
}

export const auditLength = 200

/** Applies the orders. An order that changes nothing does not raise the version, so a request can be repeated. */
export function applySettingsOrders(settings: Settings, { by, reason, orders }: SettingsOrders, at: number): Settings {
  return orders.map(canonical).reduce<Settings>((before, order) => {
    const changed = apply(before, order, { by, reason, at })
    if (changed === before) return before
    const after = order.kind === 'addToken' || order.kind === 'revokeToken' ? withoutExpired(changed, at) : changed
    const version = before.version + 1
    return { ...after, version, audit: [...before.audit, { version, by, reason, at, order }].slice(-auditLength) }
  }, settings)
}

function apply(settings: Settings, order: SettingsOrder, author: Given): Settings {
  switch (order.kind) {
    case 'halt':
      return edited(settings, 'halts', { scope: order.scope }, (known) => known ?? { scope: order.scope, ...author })
    case 'unhalt':
      return edited(settings, 'halts', { scope: order.scope })
    case 'deny':
    case 'allow': {
      const party = { kind: order.what, value: order.value }
      return edited(settings, 'denied', party, order.kind === 'deny' ? (known) => known ?? { ...party, ...author } : undefined)
    }
    case 'setFees': {
      const { scope, policy } = order
      return edited(settings, 'fees', { scope }, () => (Object.keys(policy).length > 0 ? { scope, policy } : undefined))
    }
    case 'setTariff': {
      const { scope, tariff } = order
      return edited(settings, 'tariff', { scope }, () => (Object.keys(tariff).length > 0 ? { scope, tariff } : undefined))
    }
    case 'setNode': {
      const { chain, name } = order.change
      return edited(settings, 'nodes', { chain, name }, () => order.change)
    }
    case 'clearNode':
      return edited(settings, 'nodes', { chain: order.chain, name: order.name })
    case 'addToken':
      return edited(settings, 'tokens', { jti: order.token.jti }, (known) => ({
        ...order.token,
        ...(known?.revoked && { revoked: known.revoked }),
      }))
    case 'revokeToken': {
      const { jti } = order
      return edited(settings, 'tokens', { jti }, (known) => (known?.revoked ? known : { ...known, jti, revoked: author }))
    }
  }
}

/** Maximum rows of `tokens`. */
export const mostTokens = 200

/**
 * Drops expired tokens, but only if the list is too long. While Temporal's clock is ahead, a revoked token that is
 * still valid looks expired. A revoked token that was never listed expires after the maximum lifetime of a token.
 */
function withoutExpired(settings: Settings, at: number): Settings {
  const { tokens } = settings
  if (tokens.length <= mostTokens) return settings
  return { ...settings, tokens: tokens.filter(({ expiresAt, revoked }) => (expiresAt ?? (revoked?.at ?? Infinity) + longestTokenMs) > at) }
}

type Lists = Omit<Settings, 'version' | 'audit'>

/** Replaces, adds or removes the row that has all fields of `key`. */
function edited<Name extends keyof Lists>(
  settings: Settings,
  name: Name,
  key: Partial<Lists[Name][number]>,
  edit: (row: Lists[Name][number] | undefined) => Lists[Name][number] | undefined = () => undefined,
): Settings {
  const rows: readonly Lists[Name][number][] = settings[name]
  const found = rows.findIndex((row) => same({ ...row, ...key }, row))
  const after = edit(rows[found])
  if (same(rows[found], after)) return settings
  return { ...settings, [name]: rows.toSpliced(found < 0 ? rows.length : found, 1, ...(after === undefined ? [] : [after])) }
}

function canonical(order: SettingsOrder): SettingsOrder {
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return { kind: order.kind, scope: defined(order.scope) }
    case 'deny':
    case 'allow':
      return { ...comparable(order), kind: order.kind }
    case 'setFees':
      return { kind: order.kind, scope: lowerScope(order.scope), policy: defined(order.policy) }
    case 'setTariff':
      return { kind: order.kind, scope: lowerTariffScope(order.scope), tariff: defined(order.tariff) }
    case 'setNode':
      return { kind: order.kind, change: defined(order.change) }
    case 'addToken':
      return { kind: order.kind, token: defined(order.token) }
    case 'clearNode':
    case 'revokeToken':
      return order
  }
}

const lowerValue = (value: string) => value.toLowerCase().replace(/^([0-9]+\/)0x/, '$1')

/**
 * The denied party in one spelling: in lower case. A recipient of 32 bytes is shortened to its last 20 bytes, because
 * bridges use only these bytes.
 */
function comparable({ what, value }: Extract<SettingsOrder, { kind: 'deny' | 'allow' }>) {
  const lower = lowerValue(value)
  return { what, value: what === 'recipient' ? lower.replace(/0x0{24}(?=[0-9a-f]{40}$)/, '0x') : lower }
}

function lowerScope(scope: FeeScope): FeeScope {
  if (scope.kind === 'lane') return { kind: scope.kind, lane: scope.lane.toLowerCase() }
  if (scope.kind !== 'call') return scope
  const { kind, chain, contract, selector } = scope
  return defined({ kind, chain, contract: contract.toLowerCase(), selector: selector?.toLowerCase() })
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => same(left[name], right[name]))
}
