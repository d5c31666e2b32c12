import type { Attempt, Entry, LaneState, Owner } from './lane.ts'

/**
 * A ledger as it goes from run to run: where finality is far, a thousand mined nonces wait for it, and each must be sent again as it was if its
 * block goes away. So nothing of them is dropped, only written shorter. What does not fit the short form is carried as it is.
 */
export interface PackedLane extends Omit<LaneState, 'entries'> {
  /** Beginnings of workflow ids, up to the sequence. */
  readonly prefixes: readonly string[]
  readonly entries: readonly (string | Entry)[]
}

/** Between fields, and between an attempt's; neither occurs in an id (`assertText` lets any text in: such an entry is not packed). */
const field = '|'
const part = ','

export function packLane({ entries, ...rest }: LaneState): PackedLane {
  const prefixes: string[] = []
  const packed = Object.values(entries).map((entry) => packEntry(entry, prefixes))
  return { ...rest, prefixes, entries: packed }
}

/** Takes what earlier versions carried, too. */
export function unpackLane(carried: LaneState | PackedLane): LaneState {
  if (!isPacked(carried)) return carried
  const { prefixes, entries, ...rest } = carried
  const unpacked = entries.map((entry) => (typeof entry === 'string' ? unpackEntry(entry, prefixes) : entry))
  return { ...rest, entries: Object.fromEntries(unpacked.map((entry) => [entry.nonce, entry])) }
}

function isPacked(carried: LaneState | PackedLane): carried is PackedLane {
  return Array.isArray(carried.entries)
}

/** Whether it reads back as it was is tried, not argued: ids, fees and fields of later versions can be anything. */
function packEntry(entry: Entry, prefixes: string[]): string | Entry {
  const text = write(entry, prefixes)
  return same(unpackEntry(text, prefixes), entry) ? text : entry
}

function write(entry: Entry, prefixes: string[]): string {
  const { nonce, owner, grantedTo, maybeSent, value, sinceBlock, claimedBlock, fill, attempts } = entry
  const attempt = ({ kind, gasLimit, maxFee, tip, dataFee }: Attempt, index: number) => {
    const before = attempts[index - 1]
    const what = before?.kind === kind ? '' : kind === 'call' ? 'c' : 'n'
    const gas = before?.gasLimit === gasLimit ? '' : toShort(gasLimit)
    return [what, gas, ...[maxFee, tip, ...(dataFee === undefined ? [] : [dataFee])].map(toShort)].join(part)
  }
  return [
    nonce.toString(36),
    owner ? writeOwner(owner, prefixes) : '',
    grantedTo,
    maybeSent ? '1' : '',
    value ?? '',
    sinceBlock.toString(36),
    claimedBlock.toString(36),
    fill ?? '',
    ...attempts.map(attempt),
  ].join(field)
}

function unpackEntry(text: string, prefixes: readonly string[]): Entry {
  const [nonce = '', owner = '', grantedTo = '', maybeSent, value, sinceBlock = '', claimedBlock = '', fill, ...attempts] =
    text.split(field)
  return {
    nonce: parseInt(nonce, 36),
    ...(owner && { owner: readOwner(owner, prefixes) }),
    grantedTo,
    maybeSent: maybeSent === '1',
    ...(value && { value }),
    sinceBlock: parseInt(sinceBlock, 36),
    claimedBlock: parseInt(claimedBlock, 36),
    ...(fill && { fill: fill as NonNullable<Entry['fill']> }),
    attempts: readAttempts(attempts),
  }
}

/** Kind and gas limit are written only where they are not those of the attempt before. */
function readAttempts(written: readonly string[]): Attempt[] {
  const attempts: Attempt[] = []
  for (const one of written) {
    const before = attempts.at(-1)
    const [what, gas = '', maxFee = '', tip = '', dataFee] = one.split(part)
    const kind = what === '' && before ? before.kind : what === 'c' ? 'call' : 'noop'
    const gasLimit = gas === '' && before ? before.gasLimit : toLong(gas)
    attempts.push({ kind, gasLimit, maxFee: toLong(maxFee), tip: toLong(tip), ...(dataFee !== undefined && { dataFee: toLong(dataFee) }) })
  }
  return attempts
}

/** `prefix,rest of the workflow id,what the intent's id adds to it,call hash,value` */
function writeOwner({ workflowId, intentId, callHash, value }: Owner, prefixes: string[]): string {
  const cut = workflowId.lastIndexOf(':', workflowId.lastIndexOf(':') - 1) + 1
  const beginning = workflowId.slice(0, cut)
  if (!prefixes.includes(beginning)) prefixes.push(beginning)
  const added = intentId.startsWith(workflowId) ? intentId.slice(workflowId.length) : ''
  return [prefixes.indexOf(beginning).toString(36), workflowId.slice(cut), added, packHex(callHash), value ?? ''].join(part)
}

function readOwner(text: string, prefixes: readonly string[]): Owner {
  const [prefix = '', rest = '', added = '', callHash = '', value] = text.split(part)
  const workflowId = `${prefixes[parseInt(prefix, 36)] ?? ''}${rest}`
  return { workflowId, intentId: `${workflowId}${added}`, callHash: unpackHex(callHash), ...(value && { value }) }
}

/** Decimals that begin with a zero, or are none, do not come back as they were: their entry is carried as it is. */
function toShort(decimal: string): string {
  return /^[0-9]+$/.test(decimal) ? BigInt(decimal).toString(36) : ''
}

function toLong(short: string): string {
  let value = 0n
  for (const digit of short) value = value * 36n + BigInt(parseInt(digit, 36) || 0)
  return String(value)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Three hex digits as two characters (workflow code has no Buffer): `0x` and 64 digits become 1 + 44. */
function packHex(hex: string): string {
  const digits = hex.slice(2)
  if (!/^0x([0-9a-f]{4}){16}$/.test(hex)) return `=${hex}`
  const groups = `${digits}00`.match(/.{3}/g) ?? []
  return `~${groups.map((group) => `${alphabet[parseInt(group, 16) >> 6]}${alphabet[parseInt(group, 16) & 63]}`).join('')}`
}

function unpackHex(text: string): string {
  if (!text.startsWith('~')) return text.slice(1)
  const pairs = text.slice(1).match(/../g) ?? []
  const number = (character: string | undefined) => alphabet.indexOf(character ?? 'A')
  const digits = pairs.map((pair) => (number(pair[0]) * 64 + number(pair[1])).toString(16).padStart(3, '0')).join('')
  return `0x${digits.slice(0, 64)}`
}

/** Equal as JSON, whatever the order of their fields. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [left, right] = [Object.entries(a).filter(defined), Object.entries(b).filter(defined)]
  return left.length === right.length && left.every(([key, value]) => same(value, (b as Record<string, unknown>)[key]))
}

function defined([, value]: [string, unknown]): boolean {
  return value !== undefined
}
