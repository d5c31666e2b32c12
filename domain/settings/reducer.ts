import { longestTokenMs } from '../access.ts'
import type { FeeScope } from '../fees/policy.ts'
import type { Halt, Settings, SettingsOrder } from './settings.ts'

/** Orders of one person with one reason. */
export interface SettingsOrders {
  readonly by: string
  readonly reason: string
  readonly orders: readonly SettingsOrder[]
}

/** Most changes in the audit. The workflow's history has all of them. */
const auditLength = 200

/** Applies orders. One that changes nothing adds no version, so requests repeat safely. @param at ms since the epoch */
export function applySettingsOrders(settings: Settings, { by, reason, orders }: SettingsOrders, at: number): Settings {
  return orders.map(canonical).reduce<Settings>((before, order) => {
    const changed = apply(before, order, { by, reason, at })
    if (changed === before) return before
    const after = order.kind === 'addToken' || order.kind === 'revokeToken' ? withoutExpired(changed, at) : changed
    const version = before.version + 1
    return { ...after, version, audit: [...before.audit, { version, by, reason, at, order }].slice(-auditLength) }
  }, settings)
}

/** Returns the same object if the order changes nothing. */
function apply(settings: Settings, order: SettingsOrder, author: Omit<Halt, 'scope'>): Settings {
  switch (order.kind) {
    case 'halt': {
      const { scope } = order
      return edited(settings, 'halts', { scope }, (known) => known ?? { scope, ...author })
    }
    case 'unhalt':
      return edited(settings, 'halts', { scope: order.scope })
    case 'deny': {
      const { what: kind, value } = order
      return edited(settings, 'denied', { kind, value }, (known) => known ?? { kind, value, ...author })
    }
    case 'allow': {
      const { what: kind, value } = order
      return edited(settings, 'denied', { kind, value })
    }
    case 'setFees': {
      const { scope, policy } = order
      return edited(settings, 'fees', { scope }, () => (Object.keys(policy).length > 0 ? { scope, policy } : undefined))
    }
    case 'setNode': {
      const { chain, name } = order.change
      return edited(settings, 'nodes', { chain, name }, () => order.change)
    }
    case 'clearNode':
      return edited(settings, 'nodes', { chain: order.chain, name: order.name })
    case 'addToken': {
      const { token } = order
      return edited(settings, 'tokens', { jti: token.jti }, (known) => ({ ...token, ...(known?.revoked && { revoked: known.revoked }) }))
    }
    case 'revokeToken': {
      const { jti } = order
      return edited(settings, 'tokens', { jti }, (known) => (known?.revoked ? known : { ...known, jti, revoked: author }))
    }
  }
}

/** Drops expired tokens, and old revocations of unlisted ones. Returns the same object if there are none. */
function withoutExpired(settings: Settings, at: number): Settings {
  const { tokens } = settings
  const left = tokens.filter(({ expiresAt, revoked }) => (expiresAt ?? (revoked?.at ?? Infinity) + longestTokenMs) > at)
  return left.length === tokens.length ? settings : { ...settings, tokens: left }
}

type Lists = Pick<Settings, 'halts' | 'denied' | 'fees' | 'nodes' | 'tokens'>

/** Replaces, adds or removes the row with the fields of `key`. Other rows keep their places. */
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

/** The order in its stored form: hex in lower case, no undefined fields. */
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
    case 'setNode':
      return { kind: order.kind, change: defined(order.change) }
    case 'addToken':
      return { kind: order.kind, token: defined(order.token) }
    case 'clearNode':
    case 'revokeToken':
      return order
  }
}

/** Writes a token without 0x, and a recipient in lower case. */
const lowerValue = (value: string) => value.toLowerCase().replace(/^([0-9]+\/)0x/, '$1')

/** Shortens a recipient of 32 bytes to its last 20, as bridges name it. */
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

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => same(left[name], right[name]))
}
