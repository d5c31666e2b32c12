import { agePattern, parseAge } from './age.ts'

export interface Form {
  /** A pattern has no flags, because the patterns of JSON Schema have none. */
  readonly pattern: RegExp
  /** Completes the sentence "It must be …". */
  readonly what: string
  readonly holds?: (text: string) => boolean
}

const below = (limit: bigint) => (text: string) => BigInt(text) < limit
const canBeHost = (text: string) => URL.canParse(`http://${text}`)

export const forms = {
  /** Names of chains, nodes, bridges and receivers. `constructor` is refused, because names become keys of objects. */
  name: { pattern: /^(?!constructor$)[a-z][a-z0-9-]{0,30}$/, what: 'lower case letters, digits and dashes, and not constructor' },
  lane: { pattern: /^[a-z]+-[1-9][0-9]{0,15}:0x[0-9a-fA-F]{40}$/, what: 'the id of a lane, like evm-1:0x…' },
  address: { pattern: /^0x[0-9a-fA-F]{40}$/, what: 'an address: 0x and 40 hex digits' },
  hash: { pattern: /^0x[0-9a-fA-F]{64}$/, what: 'a hash: 0x and 64 hex digits' },
  selector: { pattern: /^0x[0-9a-fA-F]{8}$/, what: 'a function selector: 0x and 8 hex digits' },
  bytes: { pattern: /^0x([0-9a-fA-F]{2})*$/, what: '0x and whole bytes in hex' },
  u64: { pattern: /^(0|[1-9][0-9]{0,19})$/, what: 'a whole number below 2^64', holds: below(2n ** 64n) },
  decimal: { pattern: /^[0-9]{1,78}$/, what: 'a decimal number below 2^256', holds: below(2n ** 256n) },
  gas: { pattern: /^[0-9]{1,20}$/, what: 'a whole number of gas units' },
  count: { pattern: /^[0-9]{1,15}$/, what: 'a whole number' },
  age: {
    pattern: agePattern,
    what: 'a number with s, m, h or d, like 90s or 2h, of at most 100 years',
    holds: (text) => parseAge(text) !== undefined,
  },
  code: { pattern: /^[A-Z][A-Z0-9_]{1,60}$/, what: 'a code of docs/reference/errors.md, like LANE_NONE' },
  /** `URL.canParse` alone accepts line breaks and missing slashes. */
  url: { pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s\\]+$/, what: 'an http or https URL', holds: (text) => URL.canParse(text) },
  host: {
    pattern: /^[A-Za-z0-9._:-]+$/,
    what: 'a host name or an IP address, without a port',
    holds: (text) => canBeHost(text.includes(':') ? `[${text}]` : text),
  },
  hostAndPort: {
    pattern: /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$/,
    what: 'host:port, with a port from 1 to 65535',
    holds: (text) => canBeHost(text) && isPort(text.slice(text.lastIndexOf(':') + 1)),
  },
  path: { pattern: /^[^\0]+$/, what: 'the path of a file or folder' },
} satisfies Readonly<Record<string, Form>>

const isPort = (text: string) => Number(text) >= 1 && Number(text) <= 65_535

export function isOf(form: Form, value: unknown): value is string {
  return typeof value === 'string' && form.pattern.test(value) && (form.holds?.(value) ?? true)
}

export function isLink(text: unknown): text is string {
  if (!isOf(forms.url, text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return username === '' && password === '' && (protocol === 'https:' || isLoopback)
}

const firstYear = Date.UTC(1970)
const timePattern = /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:[0-5]\d))?$/i

/** `2026-11-22` (UTC) or `2026-11-22T17:00+01:00` as ms since the epoch. Undefined if malformed or before 1970. */
export function parseTime(text: string): number | undefined {
  const [, day] = timePattern.exec(text) ?? []
  const at = day !== undefined && isDay(day) ? Date.parse(text.toUpperCase()) : NaN
  return at >= firstYear ? at : undefined
}

/** Whether the day exists. `Date` would read 31 February as 3 March. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
