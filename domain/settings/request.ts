import type { FeePolicy, FeeScope } from '../fees/fees.ts'
import { accessLevels, type Principal } from '../access.ts'
import {
  anyText,
  byKind,
  type Check,
  fields,
  flag,
  listOf,
  object,
  ofForm,
  oneOf,
  optional,
  pattern,
  rule,
  text,
  time,
  whole,
} from '../field-checks.ts'
import { forms, isOf } from '../text/forms.ts'
import type { Tariff, TariffScope } from './tariff.ts'
import { mostTokens, type SettingsOrders, type HaltScope, type Settings, type SettingsOrder } from './settings.ts'

/** Throws an Error that names the malformed field without its value, which may be a secret. */
export function assertSettingsOrders(request: SettingsOrders): void {
  fields({ by: text(100), reason: text(500), orders: listOf(settingsOrder) })(request, '')
  const { length } = request.orders
  if (length === 0 || length > 100) throw new Error('orders: must have 1 to 100 orders')
}

/** Maximum rows of each list. Answers contain all settings, and must stay far below the server's limit of 2 MB. */
const most = { halts: 100, denied: 1_000, fees: 500, nodes: 100, tariff: 500, tokens: mostTokens } as const

export function assertSettingsFit(settings: Settings): void {
  for (const name of Object.keys(most) as (keyof typeof most)[]) {
    if (settings[name].length > most[name]) throw new Error(`orders: ${name} would have more than ${most[name]} rows`)
  }
}

export const row = rule((value) => typeof value === 'object' && value !== null, 'an object')
const given = { by: anyText, reason: anyText, at: time }
const ofKind = fields({ kind: anyText })
/** Only as strict as the readers of settings need, so that settings of another version can be read. */
const settings = fields({
  version: whole,
  halts: listOf(fields({ ...given, scope: row })),
  denied: listOf(fields({ ...given, kind: anyText, value: anyText })),
  fees: listOf(fields({ scope: ofKind, policy: row })),
  nodes: listOf(fields({ chain: anyText, name: anyText, disabled: flag })),
  tariff: listOf(fields({ scope: ofKind, tariff: row })),
  tokens: listOf(fields({ jti: anyText })),
  audit: listOf(fields({ ...given, version: whole, order: ofKind })),
} satisfies Record<keyof Settings, Check>)

/**
 * Checks an answer of the settings workflow, which anyone with access to Temporal can forge. Throws an Error that names
 * the malformed field.
 */
export function assertSettings(answer: Settings): void {
  settings(answer, '')
}

const kind: Check = () => {}
const name = ofForm(forms.name)

const maybe = optional(name)
// Unknown fields are refused: without its misspelt field, a narrow halt would be a halt of everything.
const haltScope = object({ bridge: maybe, chain: maybe, sourceChain: maybe, targetChain: maybe } satisfies Record<keyof HaltScope, Check>)

/** The form of `Parties.token`. A chain id with a leading zero, or with more than 16 digits, would match no token. */
const deniedToken = pattern(/^[1-9][0-9]{0,15}\/(0x)?[0-9a-f]{64}$/i, '<wormhole chain id or network id>/<64 hex digits>')
const recipient = pattern(
  /^([a-z][a-z0-9-]{0,30}\/)?0x(0{24})?[0-9a-f]{40}$/i,
  '<address> or <target chain>/<address>; an address is 0x and 40 hex digits (or 64 as in a message, the first 24 of them zeros)',
)
const denied: Check = (order, path) => {
  const value = (order as { what?: unknown }).what === 'token' ? deniedToken : recipient
  object({ kind, what: oneOf('recipient', 'token'), value })(order, path)
}

const feeScope = byKind({
  transfer: object({ kind, id: pattern(/^(?=.{3,300}$)[\w-]+(:[\w.-]+)+$/, 'the id of a transfer: portage transfer list') }),
  lane: object({ kind, lane: ofForm(forms.lane) }),
  call: object({
    kind,
    chain: name,
    contract: ofForm(forms.address),
    selector: optional(ofForm(forms.selector)),
  }),
  chain: object({ kind, chain: name }),
  global: object({ kind }),
} satisfies Record<FeeScope['kind'], Check>)

const wei = optional(ofForm(forms.decimal))
const numberFrom = (least: number, most: number) =>
  optional(rule((value) => typeof value === 'number' && value >= least && value <= most, `a number from ${least} to ${most}`))
const feePolicy = object({
  maxFeePerGas: wei,
  maxTip: wei,
  maxFeePerTransaction: wei,
  baseFeeCeiling: wei,
  gasLimit: optional(ofForm(forms.gas)),
  gasFactor: numberFrom(1, 5),
  tipFactor: numberFrom(0.5, 10),
  bumpPercent: optional(
    rule((value) => Number.isInteger(value) && Number(value) >= 10 && Number(value) <= 100, 'a whole number from 10 to 100'),
  ),
} satisfies Record<keyof FeePolicy, Check>)

const use = optional(oneOf('all', 'read', 'send', 'private'))
const nodeChange = object({ chain: name, name, disabled: flag, url: optional(assertNodeUrl), use })

const jti = pattern(/^[A-Za-z0-9-]{1,64}$/, 'the id of a token: letters, digits and dashes')
/** Ids of lanes are compared in lower case. */
const lane = rule((value) => isOf(forms.lane, value) && value === value.toLowerCase(), `${forms.lane.what}, in lower case`)
const token = object({
  name: text(64),
  level: oneOf(...accessLevels),
  chains: optional(listOf(name, 100)),
  lanes: optional(listOf(lane, 100)),
  jti,
  kid: pattern(/^[A-Za-z0-9_-]{43}$/, 'the id of a key'),
  issuedAt: time,
  expiresAt: time,
} satisfies Record<keyof Principal, Check>)

const tariffScope = byKind({
  asset: object({ kind, token: deniedToken }),
  fee: object({ kind, chain: name, token: deniedToken }),
  route: object({ kind, source: maybe, target: name }),
} satisfies Record<TariffScope['kind'], Check>)
const tariffOf: Readonly<Record<TariffScope['kind'], Check>> = {
  asset: object({ delivered: optional(flag) } satisfies Partial<Record<keyof Tariff, Check>>),
  fee: object({ minimumFee: wei, price: wei } satisfies Partial<Record<keyof Tariff, Check>>),
  route: object({ free: optional(flag) } satisfies Partial<Record<keyof Tariff, Check>>),
}
const setTariff: Check = (order, path) => {
  object({ kind, scope: tariffScope, tariff: kind })(order, path)
  const { scope, tariff } = order as { scope: TariffScope; tariff: unknown }
  tariffOf[scope.kind](tariff, path === '' ? 'tariff' : `${path}.tariff`)
}

const settingsOrder = byKind({
  halt: object({ kind, scope: haltScope }),
  unhalt: object({ kind, scope: haltScope }),
  deny: denied,
  allow: denied,
  setFees: object({ kind, scope: feeScope, policy: feePolicy }),
  setTariff,
  setNode: object({ kind, change: nodeChange }),
  clearNode: object({ kind, chain: name, name }),
  addToken: object({ kind, token }),
  revokeToken: object({ kind, jti }),
} satisfies Record<SettingsOrder['kind'], Check>)

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
/** A private-use character, which no URL has. It replaces each variable during the checks. */
const hole = '\uE000'

/** Groups: scheme, user info, host with port, path, query with fragment. */
const parts = /^(https?):\/\/(?:([^/?#@]*)@)?([^/?#@]+)(\/[^?#]*)?([?#].*)?$/i

/** Refuses a URL that contains a secret, because Temporal's history would show it. Throws an Error without the URL. */
export function assertNodeUrl(url: unknown, path: string): void {
  const fail = (why: string) => {
    throw new Error(`${path}: ${why}; put the URL, or its secret, into a variable of the workers' environment: \${VARIABLE}`)
  }
  if (typeof url !== 'string' || url.length === 0 || url.length > 300) return fail('must be a URL of at most 300 characters')
  if (url.includes(hole)) return fail('holds a character that no URL has')
  const text = url.replace(variable, hole)
  if (text === hole) return
  if (/[\s$<>"'\\]/.test(text)) return fail('holds a character that no URL has, or a ${…} that is not the name of a variable')
  const found = parts.exec(text)
  if (!found) return fail('must start with http:// or https:// and a host, or be a variable')
  const [, , user, , place = '', rest = ''] = found
  if (user !== undefined && !user.split(':').every((part) => part === hole)) return fail('must not hold a user name or a password')
  const literal = !text.includes(hole)
  if (place !== '' && place !== '/' && (literal || !place.split('/').every(harmless))) return fail('must not hold a path')
  if (rest !== '' && (literal || !/^\?[a-z_-]{1,20}=\uE000(&[a-z_-]{1,20}=\uE000)*$/i.test(rest))) return fail('must not hold a query')
}

/** `problem` names a variable without its value, which may be a key. */
export function resolveNodeUrl(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
): { url: string } | { problem: string } {
  const missing = [...url.matchAll(variable)].find(([, name = '']) => !environment[name])
  if (missing) return { problem: `(the variable ${missing[1]} is not set)` }
  const resolved = url.replaceAll(variable, (_, name: string) => environment[name] ?? '')
  return isOf(forms.url, resolved) ? { url: resolved } : { problem: '(not an http URL)' }
}

function harmless(segment: string): boolean {
  return segment === hole || /^[a-z0-9]{0,8}$/i.test(segment)
}
