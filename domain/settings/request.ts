import type { FeePolicy, FeeScope } from '../fees/policy.ts'
import { assertNodeUrl } from './node-url.ts'
import type { SettingsOrders } from './reducer.ts'
import type { HaltScope, Settings, SettingsOrder } from './settings.ts'

/**
 * Refuses a malformed request, and one that would carry a secret into the history, before it is recorded. Throws Error that names the field and never its
 * value.
 */
export function assertSettingsOrders(request: SettingsOrders): void {
  text(100)(request?.by, 'by')
  text(500)(request.reason, 'reason')
  if (!Array.isArray(request.orders)) throw new Error('orders: must be a list')
  if (request.orders.length === 0 || request.orders.length > 100) throw new Error('orders: must have 1 to 100 orders')
  request.orders.forEach((order: unknown, index) => settingsOrder(order, `orders[${index}]`))
}

/** Longest lists. Every query and every change returns the whole settings, which must stay far below the server's limit of 2 MB. */
const most = { halts: 100, denied: 1_000, fees: 500, nodes: 100 } as const

/** Refuses settings that have grown too long. Throws Error that names the list. */
export function assertSettingsFit(settings: Settings): void {
  for (const name of ['halts', 'denied', 'fees', 'nodes'] as const) {
    if (settings[name].length > most[name]) throw new Error(`orders: ${name} would have more than ${most[name]} rows`)
  }
}

/** Throws Error that starts with the path. */
type Check = (value: unknown, path: string) => void

function rule(holds: (value: unknown) => boolean, what: string): Check {
  return (value, path) => {
    if (!holds(value)) throw new Error(`${path}: must be ${what}`)
  }
}

function pattern(expression: RegExp, what: string): Check {
  return rule((value) => typeof value === 'string' && expression.test(value), what)
}

function text(longest: number): Check {
  return (value, path) => {
    if (typeof value !== 'string' || value.trim() === '') throw new Error(`${path}: must be a text`)
    if (value.length > longest) throw new Error(`${path}: must have at most ${longest} characters`)
  }
}

/** An object with these fields. Unknown ones are refused: a misspelt one would turn a narrow halt into a halt of everything. */
function object(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  const checks = new Map(Object.entries({ ...required, ...optional }))
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path}: must be an object`)
    const given = new Map<string, unknown>(Object.entries(value))
    const unknown = [...given.keys()].find((name) => !checks.has(name))
    if (unknown !== undefined) throw new Error(`${path}.${unknown}: unknown; known: ${[...checks.keys()].join(', ')}`)
    for (const [name, check] of checks) {
      if (name in required || given.get(name) !== undefined) check(given.get(name), `${path}.${name}`)
    }
  }
}

/** An object whose other fields depend on its `kind`. */
function byKind(kinds: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(kinds))
  return (value, path) => {
    const check = checks.get((value as { kind: string } | undefined)?.kind ?? '')
    if (!check) throw new Error(`${path}.kind: unknown`)
    check(value, path)
  }
}

/** byKind has checked it. */
const kind: Check = () => {}
const name = pattern(/^[a-z][a-z0-9-]{0,30}$/, 'a name: lower case letters, digits and dashes')
const decimal = pattern(/^[0-9]{1,78}$/, 'a decimal number in quotes')

const haltScope = object({}, { bridge: name, chain: name, sourceChain: name, targetChain: name } satisfies Record<keyof HaltScope, Check>)

const token = pattern(/^[0-9]{1,5}\/(0x)?[0-9a-f]{64}$/i, '<wormhole chain id>/<64 hex digits>')
const recipient = pattern(/^([a-z][a-z0-9-]{0,30}\/)?0x[0-9a-f]{40,64}$/i, '<address> or <target chain>/<address>')
const listed: Check = (order, path) => {
  const value = (order as { what?: unknown }).what === 'token' ? token : recipient
  object({ kind, what: rule((what) => what === 'recipient' || what === 'token', 'recipient or token'), value })(order, path)
}

const feeScope = byKind({
  transfer: object({ kind, id: text(300) }),
  lane: object({ kind, lane: pattern(/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i, 'a lane id: evm-1:0x…') }),
  call: object(
    { kind, chain: name, contract: pattern(/^0x[0-9a-f]{40}$/i, 'an address: 0x and 40 hex digits') },
    { selector: pattern(/^0x[0-9a-f]{8}$/i, 'a function selector: 0x and 8 hex digits') },
  ),
  chain: object({ kind, chain: name }),
  global: object({ kind }),
} satisfies Record<FeeScope['kind'], Check>)

const feePolicy = object({}, {
  maxFeePerGas: decimal,
  maxTip: decimal,
  maxFeePerTransaction: decimal,
  baseFeeCeiling: decimal,
  gasLimit: decimal,
  gasFactor: rule((factor) => typeof factor === 'number' && factor >= 1 && factor <= 5, 'a number from 1 to 5'),
} satisfies Record<keyof FeePolicy, Check>)

const nodeChange = object(
  { chain: name, name, disabled: rule((disabled) => typeof disabled === 'boolean', 'true or false') },
  { url: assertNodeUrl, use: rule((use) => ['all', 'read', 'send', 'private'].includes(use as string), 'all, read, send or private') },
)

const settingsOrder = byKind({
  halt: object({ kind, scope: haltScope }),
  unhalt: object({ kind, scope: haltScope }),
  deny: listed,
  allow: listed,
  setFees: object({ kind, scope: feeScope, policy: feePolicy }),
  setNode: object({ kind, change: nodeChange }),
  clearNode: object({ kind, chain: name, name }),
} satisfies Record<SettingsOrder['kind'], Check>)
