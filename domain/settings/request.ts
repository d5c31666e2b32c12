import type { FeePolicy, FeeScope } from '../fees/policy.ts'
import type { SettingsOrders } from './reducer.ts'
import type { HaltScope, NodeChange, Settings, SettingsOrder } from './settings.ts'
import { assertNodeUrl } from './node-url.ts'

/**
 * Refuses a malformed request, and one that would carry a secret into the history, before it is recorded. Throws Error that names the field and never its
 * value.
 */
export function assertSettingsOrders(request: SettingsOrders): void {
  assertText(request?.by, 'by', 100)
  assertText(request.reason, 'reason', 500)
  if (!Array.isArray(request.orders)) throw new Error('orders: must be a list')
  if (request.orders.length === 0 || request.orders.length > 100) throw new Error('orders: must have 1 to 100 orders')
  request.orders.forEach((order: SettingsOrder, index) => assertOrder(order, `orders[${index}]`))
}

/** Longest lists. Every query and every change returns the whole settings, which must stay far below the server's limit of 2 MB. */
const most = { halts: 100, denied: 1_000, fees: 500, nodes: 100 } as const

/** Refuses settings that have grown too long. Throws Error that names the list. */
export function assertSettingsFit(settings: Settings): void {
  for (const name of ['halts', 'denied', 'fees', 'nodes'] as const) {
    if (settings[name].length > most[name]) throw new Error(`orders: ${name} would have more than ${most[name]} rows`)
  }
}

function assertOrder(order: SettingsOrder, path: string): void {
  switch (order?.kind) {
    case 'halt':
    case 'unhalt':
      assertFields(order, ['kind', 'scope'], path)
      return assertHaltScope(order.scope, `${path}.scope`)
    case 'deny':
    case 'allow':
      assertFields(order, ['kind', 'what', 'value'], path)
      return assertDenied(order, path)
    case 'setFees':
      assertFields(order, ['kind', 'scope', 'policy'], path)
      assertFeeScope(order.scope, `${path}.scope`)
      return assertPolicy(order.policy, `${path}.policy`)
    case 'setNode':
      assertFields(order, ['kind', 'change'], path)
      return assertNode(order.change, `${path}.change`)
    case 'clearNode':
      assertFields(order, ['kind', 'chain', 'name'], path)
      assertName(order.chain, `${path}.chain`)
      return assertName(order.name, `${path}.name`)
    default:
      throw new Error(`${path}.kind: unknown`)
  }
}

const scopeFields = ['bridge', 'chain', 'sourceChain', 'targetChain'] as const

/** Refuses unknown fields: a misspelt one would turn a narrow halt into a halt of everything. */
function assertHaltScope(scope: HaltScope, path: string): void {
  assertFields(scope, scopeFields, path)
  for (const field of scopeFields) if (scope[field] !== undefined) assertName(scope[field], `${path}.${field}`)
}

function assertDenied({ what, value }: { readonly what: string; readonly value: string }, path: string): void {
  if (what !== 'recipient' && what !== 'token') throw new Error(`${path}.what: must be recipient or token`)
  if (what === 'token') {
    assertPattern(value, /^[0-9]{1,5}\/(0x)?[0-9a-f]{64}$/i, `${path}.value`, '<wormhole chain id>/<64 hex digits>')
  } else {
    assertPattern(value, /^([a-z][a-z0-9-]{0,30}\/)?0x[0-9a-f]{40,64}$/i, `${path}.value`, '<address> or <target chain>/<address>')
  }
}

function assertFeeScope(scope: FeeScope, path: string): void {
  switch (scope?.kind) {
    case 'transfer':
      assertFields(scope, ['kind', 'id'], path)
      return assertText(scope.id, `${path}.id`, 300)
    case 'lane':
      assertFields(scope, ['kind', 'lane'], path)
      return assertPattern(scope.lane, /^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i, `${path}.lane`, 'a lane id: evm-1:0x…')
    case 'call':
      assertFields(scope, ['kind', 'chain', 'contract', 'selector'], path)
      assertName(scope.chain, `${path}.chain`)
      assertPattern(scope.contract, /^0x[0-9a-f]{40}$/i, `${path}.contract`, 'an address: 0x and 40 hex digits')
      if (scope.selector !== undefined)
        assertPattern(scope.selector, /^0x[0-9a-f]{8}$/i, `${path}.selector`, 'a function selector: 0x and 8 hex digits')
      return
    case 'chain':
      assertFields(scope, ['kind', 'chain'], path)
      return assertName(scope.chain, `${path}.chain`)
    case 'global':
      return assertFields(scope, ['kind'], path)
    default:
      throw new Error(`${path}.kind: unknown`)
  }
}

const decimals = ['maxFeePerGas', 'maxTip', 'maxFeePerTransaction', 'baseFeeCeiling', 'gasLimit'] as const

function assertPolicy(policy: FeePolicy, path: string): void {
  assertFields(policy, [...decimals, 'gasFactor'], path)
  for (const field of decimals) {
    if (policy[field] !== undefined) assertPattern(policy[field], /^[0-9]{1,78}$/, `${path}.${field}`, 'a decimal number in quotes')
  }
  const { gasFactor } = policy
  if (gasFactor !== undefined && !(typeof gasFactor === 'number' && gasFactor >= 1 && gasFactor <= 5))
    throw new Error(`${path}.gasFactor: must be a number from 1 to 5`)
}

function assertNode(change: NodeChange, path: string): void {
  assertFields(change, ['chain', 'name', 'disabled', 'url', 'use'], path)
  assertName(change.chain, `${path}.chain`)
  assertName(change.name, `${path}.name`)
  if (typeof change.disabled !== 'boolean') throw new Error(`${path}.disabled: must be true or false`)
  if (change.use !== undefined && !['all', 'read', 'send', 'private'].includes(change.use))
    throw new Error(`${path}.use: must be all, read, send or private`)
  if (change.url !== undefined) assertNodeUrl(change.url, `${path}.url`)
}

function assertFields(value: object, known: readonly string[], path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path}: must be an object`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`${path}.${unknown}: unknown; known: ${known.join(', ')}`)
}

function assertName(value: unknown, path: string): void {
  assertPattern(value, /^[a-z][a-z0-9-]{0,30}$/, path, 'a name: lower case letters, digits and dashes')
}

function assertText(value: unknown, path: string, longest: number): void {
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`${path}: must be a text`)
  if (value.length > longest) throw new Error(`${path}: must have at most ${longest} characters`)
}

function assertPattern(value: unknown, pattern: RegExp, path: string, what: string): void {
  if (typeof value !== 'string' || !pattern.test(value)) throw new Error(`${path}: must be ${what}`)
}
