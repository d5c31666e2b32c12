import type { FeeRule, FeeScope } from '../fees/policy.ts'
import type { DenyRule, Halt, HaltScope, NodeChange, Settings, SettingsOrder } from './settings.ts'

/** Orders of one person, with one reason. */
export interface SettingsOrders {
  readonly by: string
  readonly reason: string
  readonly orders: readonly SettingsOrder[]
}

/** Changes that the audit of the settings holds; the workflow's history has all of them. */
const auditLength = 200

/**
 * The settings after these orders. An order that changes nothing adds neither a version nor an audit entry, so that a request may be repeated.
 * @param at ms since the epoch
 */
export function applySettingsOrders(settings: Settings, { by, reason, orders }: SettingsOrders, at: number): Settings {
  return orders.map(canonical).reduce<Settings>((before, order) => {
    const after = apply(before, order, { by, reason, at })
    if (after === before) return before
    const version = before.version + 1
    return { ...after, version, audit: [...before.audit, { version, by, reason, at, order }].slice(-auditLength) }
  }, settings)
}

/** The scope of a halt as a text: equal scopes have equal texts. */
export function haltKey({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  return JSON.stringify([bridge, chain, sourceChain, targetChain].map((part) => part ?? null))
}

type Author = Pick<Halt, 'by' | 'reason' | 'at'>

/** Returns the same object if the order changes nothing. */
function apply(settings: Settings, order: SettingsOrder, author: Author): Settings {
  switch (order.kind) {
    case 'halt': {
      const { scope } = order
      return edited(settings, 'halts', haltOfScope(scope), (known) => known ?? { scope, ...author })
    }
    case 'unhalt':
      return edited(settings, 'halts', haltOfScope(order.scope), () => undefined)
    case 'deny': {
      const { what: kind, value } = order
      return edited(settings, 'denied', denyRuleOfValue(order), (known) => known ?? { kind, value, ...author })
    }
    case 'allow':
      return edited(settings, 'denied', denyRuleOfValue(order), () => undefined)
    case 'setFees': {
      const { scope, policy } = order
      const rule: FeeRule | undefined = Object.keys(policy).length > 0 ? { scope, policy } : undefined
      return edited(
        settings,
        'fees',
        (one) => feeKey(one.scope) === feeKey(scope),
        () => rule,
      )
    }
    case 'setNode':
      return edited(settings, 'nodes', nodeNamed(order.change), () => order.change)
    case 'clearNode':
      return edited(settings, 'nodes', nodeNamed(order), () => undefined)
  }
}

type Lists = Pick<Settings, 'halts' | 'denied' | 'fees' | 'nodes'>

/** Replaces, adds or removes the one row that `is` finds. The other rows keep their places. */
function edited<Name extends keyof Lists>(
  settings: Settings,
  name: Name,
  is: (row: Lists[Name][number]) => boolean,
  edit: (row: Lists[Name][number] | undefined) => Lists[Name][number] | undefined,
): Settings {
  const rows: readonly Lists[Name][number][] = settings[name]
  const index = rows.findIndex(is)
  const before = rows[index]
  const after = edit(before)
  if (same(before, after)) return settings
  const row = after === undefined ? [] : [after]
  const next = index < 0 ? [...rows, ...row] : [...rows.slice(0, index), ...row, ...rows.slice(index + 1)]
  return { ...settings, [name]: next }
}

const haltOfScope = (scope: HaltScope) => (halt: Halt) => haltKey(halt.scope) === haltKey(scope)
const denyRuleOfValue =
  ({ what, value }: { what: DenyRule['kind']; value: string }) =>
  (rule: DenyRule) =>
    rule.kind === what && rule.value === value
const nodeNamed =
  ({ chain, name }: Pick<NodeChange, 'chain' | 'name'>) =>
  (change: NodeChange) =>
    change.chain === chain && change.name === name

/** The scope of a fee rule as a text: equal scopes have equal texts. */
function feeKey(scope: FeeScope): string {
  switch (scope.kind) {
    case 'transfer':
      return JSON.stringify([scope.kind, scope.id])
    case 'lane':
      return JSON.stringify([scope.kind, scope.lane])
    case 'call':
      return JSON.stringify([scope.kind, scope.chain, scope.contract, scope.selector ?? null])
    case 'chain':
      return JSON.stringify([scope.kind, scope.chain])
    case 'global':
      return JSON.stringify([scope.kind])
  }
}

/** The order as it is stored: hex in lower case, no field without a value. */
function canonical(order: SettingsOrder): SettingsOrder {
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return { kind: order.kind, scope: defined(order.scope) }
    case 'deny':
    case 'allow':
      return { kind: order.kind, what: order.what, value: order.value.toLowerCase().replace(/^([0-9]+\/)0x/, '$1') }
    case 'setFees':
      return { kind: order.kind, scope: lowerScope(order.scope), policy: defined(order.policy) }
    case 'setNode':
      return { kind: order.kind, change: defined(order.change) }
    case 'clearNode':
      return order
  }
}

function lowerScope(scope: FeeScope): FeeScope {
  if (scope.kind === 'lane') return { kind: scope.kind, lane: scope.lane.toLowerCase() }
  if (scope.kind !== 'call') return scope
  const { kind, chain, contract, selector } = scope
  return { kind, chain, contract: contract.toLowerCase(), ...(selector !== undefined && { selector: selector.toLowerCase() }) }
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}

/** Whether two values of plain JSON are equal, whatever the order of their fields. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => same(left[name], right[name]))
}
