import type { Attempt, Entry, Owner, PackedEntries } from '../lane.ts'

/** Form of the intent ids of transfers and operator transactions: `{start}:{number}:{16 hex digits}/{round}`. */
const usualId = /^(.*):([^:/]*):([0-9a-f]{16})\/(0|[1-9][0-9]{0,9})$/
const usualHash = /^0x[0-9a-f]{64}$/
const usualRequest = /^([0-9a-f]{8})-(0|[1-9][0-9]{0,14})$/
const [digestDigits, hashDigits] = [16, 64]
const hashLength = packedLength(hashDigits)
const digestLength = packedLength(digestDigits)

type Rest = Partial<Omit<Entry, 'nonce' | 'owner' | 'attempts'>> & { readonly ownerValue?: string }
type Parts = ReturnType<typeof partsOf>
type Dictionary = ReturnType<typeof dictionaryOf>

export const inBlock = { sinceBlock: 0, claimedBlock: 0 }

function partsOf({ nonce, owner, attempts, maybeSent, grantedTo, ...others }: Entry) {
  const [, process, request] = usualRequest.exec(grantedTo) ?? []
  const rest: Record<string, unknown> = { ...others }
  if (process === undefined && grantedTo !== '') rest['grantedTo'] = grantedTo
  if (owner?.value !== undefined) rest['ownerValue'] = owner.value
  for (const [name, usual] of Object.entries(inBlock)) if (rest[name] === usual) delete rest[name]
  // An id of unusual form is one part, `start`, without `number`, `digest` and `round`.
  const [, start = owner?.intentId, number, digest, round] = usualId.exec(owner?.intentId ?? '') ?? []
  return {
    ...{ nonce, attempts, maybeSent, process, request, start, number, digest, round },
    hash: owner?.callHash,
    rest: Object.keys(rest).length > 0 ? JSON.stringify(rest) : undefined,
  }
}

export function packEntries(entries: readonly Entry[]): PackedEntries {
  const all = entries.map(partsOf)
  const dictionary = dictionaryOf(all)
  return { words: dictionary.words, text: all.map((parts, index) => `${line(parts, all[index - 1], dictionary)};`).join('') }
}

/**
 * The dictionary of a page: one to four capital letters replace each string, except usual hashes and digests
 * (`packedHex`). A decimal that occurs once is inline, in base 36.
 */
function dictionaryOf(all: readonly Parts[]) {
  const counts = new Map<string, number>()
  const add = (by: number, ...texts: readonly (string | undefined)[]) => {
    for (const text of texts) if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + by)
  }
  for (const { attempts, start, number, hash, process, request, rest } of all) {
    // These strings count twice, so that they are always in the dictionary. Only the numbers below may be inline.
    add(2, start, process, rest, hash !== undefined && usualHash.test(hash) ? undefined : hash)
    add(1, number, request)
    for (const { gasLimit, maxFee, tip, dataFee } of attempts) add(1, gasLimit, maxFee, tip, dataFee)
  }
  const counted = [...counts].filter(([word, times]) => times > 1 || !canonicalDecimal.test(word))
  const words = counted.toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1)).map(([word]) => word)
  const references = new Map(words.map((word, index) => [word, letterNumber(index)]))
  return {
    words,
    reference: (word: string) => references.get(word) ?? '',
    number: (text: string) => references.get(text) ?? BigInt(text).toString(36),
  }
}

/**
 * One entry as text. In the field for the start of the intent id, `-` means no owner, and `.` precedes an id of unusual
 * form.
 */
function line(parts: Parts, before: Parts | undefined, to: Dictionary): string {
  const { nonce, attempts, start, number, digest, round, hash, rest } = parts
  const isUsual = digest !== undefined
  const isSame = isUsual && before?.digest !== undefined && start === before.start
  const fields = [
    before?.nonce === nonce - 1 ? '' : nonce.toString(36),
    start === undefined ? '-' : isSame ? '' : `${isUsual ? '' : '.'}${to.reference(start)}`,
    number === undefined ? '' : to.number(number),
    `${isUsual ? packedHex(digest) : ''}${hash === undefined ? '' : hashText(hash, to)}${round === undefined || round === '1' ? '' : `.${round}`}`,
    requestText(parts, before, to),
    attempts.map((attempt) => attemptText(attempt, to)).join('/'),
    ...(rest === undefined ? [] : [to.reference(rest)]),
  ]
  return fields.join(',')
}

/** `*` means that the call may have been sent. The process is omitted if the previous entry has the same process. */
function requestText({ maybeSent, process, request }: Parts, before: Parts | undefined, to: Dictionary): string {
  const sent = maybeSent ? '*' : ''
  if (process === undefined || request === undefined) return sent
  return `${sent}${process === before?.process ? '' : `${to.reference(process)}.`}${to.number(request)}`
}

function hashText(hash: string, to: Dictionary): string {
  return usualHash.test(hash) ? packedHex(hash.slice(2)) : `~${to.reference(hash)}`
}

function attemptText({ kind, gasLimit, maxFee, tip, dataFee }: Attempt, to: Dictionary): string {
  const numbers = [gasLimit, maxFee, tip, ...(dataFee === undefined ? [] : [dataFee])]
  return `${kind === 'noop' ? '!' : ''}${numbers.map((value) => to.number(value)).join('.')}`
}

/** Longer than every number, hash, digest and reference in a packed text. */
const longestField = 128
const entryBytes = 32

/**
 * Estimate of the bytes that must be parsed to unpack the entries. A forged text may repeat a long word, or have a
 * number that takes hours to read (then: Infinity).
 */
export function bytesToUnpack({ words, text }: PackedEntries): number {
  if (text.split(/[,;./]/).some((field) => field.length > longestField)) return Infinity
  const rests = text.split(';').map((one) => one.split(',')[6] ?? '')
  return rests.reduce((sum, rest) => sum + entryBytes + (rest === '' ? 0 : lookUp(words, rest).length), 0)
}

const bytesInMemory = 320
/** Maximum memory of a page's entries per character of the page. An honest page needs up to 45, for entries alike. */
const mostInflation = 64

/**
 * Throws an Error for a malformed page, and RangeError for a forged page whose entries could fill the memory of the
 * process.
 */
export function unpackEntries({ words, text }: PackedEntries): Entry[] {
  const entries: Entry[] = []
  const most = mostInflation * words.reduce((sum, word) => sum + word.length, text.length)
  let bytes = 0
  let nonce = -1
  let start = ''
  let process = ''
  for (const one of text.split(';').slice(0, -1)) {
    const [at = '', from = '', number = '', hashes = '', granted = '', tried = '', more = ''] = one.split(',')
    nonce = at === '' ? nonce + 1 : Number.parseInt(at, 36)
    if (/^[A-Z]/.test(from)) start = lookUp(words, from)
    const moreText = more === '' ? '' : lookUp(words, more)
    const { ownerValue, ...rest } = (moreText === '' ? {} : JSON.parse(moreText)) as Rest
    const [request = '', by] = granted.replace('*', '').split('.').toReversed()
    process = by === undefined ? (request === '' ? '' : process) : lookUp(words, by)
    const id = from.startsWith('.') ? lookUp(words, from.slice(1)) : start
    const owner = from === '-' ? undefined : ownerOf(words, id, number, hashes)
    bytes += bytesInMemory + moreText.length + process.length + (owner?.intentId.length ?? 0)
    if (bytes > most) throw new RangeError(`a page unpacks to more than ${most} bytes`)
    entries.push({
      nonce,
      maybeSent: granted.startsWith('*'),
      grantedTo: request === '' ? '' : `${process}-${lookUp(words, request)}`,
      ...inBlock,
      ...rest,
      ...(owner && { owner: { ...owner, ...(ownerValue !== undefined && { value: ownerValue }) } }),
      attempts: tried === '' ? [] : tried.split('/').map((attempt) => attemptOf(words, attempt)),
    })
  }
  return entries
}

function ownerOf(words: readonly string[], start: string, number: string, hashes: string): Owner {
  if (number === '') return { intentId: start, callHash: hashOf(words, hashes) }
  const [both = '', round = '1'] = hashes.split('.')
  const digest = hexOf(both.slice(0, digestLength), digestDigits)
  return { intentId: `${start}:${lookUp(words, number)}:${digest}/${round}`, callHash: hashOf(words, both.slice(digestLength)) }
}

function hashOf(words: readonly string[], text: string): string {
  return text.length === hashLength && !text.startsWith('~') ? `0x${hexOf(text, hashDigits)}` : lookUp(words, text.slice(1))
}

function attemptOf(words: readonly string[], text: string): Attempt {
  const isNoop = text.startsWith('!')
  const [gasLimit = '', maxFee = '', tip = '', dataFee] = (isNoop ? text.slice(1) : text).split('.').map((token) => lookUp(words, token))
  return { kind: isNoop ? 'noop' : 'call', gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) }
}

/** False: no entry belongs to the intent. True: unpack the entries to find out. */
export function mayOwn({ words, text }: PackedEntries, intentId: string): boolean {
  const [, start, , digest] = usualId.exec(intentId) ?? []
  if (start === undefined || digest === undefined) return words.includes(intentId)
  return text.includes(packedHex(digest)) && words.includes(start)
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const canonicalDecimal = /^(0|[1-9][0-9]*)$/

function lookUp(words: readonly string[], token: string): string {
  if (token.length > longestField) throw new RangeError(`a field of ${token.length} characters`)
  if (!/^[A-Z]/.test(token)) return String(digits36(token))
  let index = 0
  for (const letter of token) index = index * letters.length + letters.indexOf(letter) + 1
  const word = words[index - 1]
  if (word === undefined) throw new Error(`the packed text refers to word ${index}, of ${words.length}`)
  return word
}

function letterNumber(index: number): string {
  const rest = Math.floor(index / letters.length)
  return (rest > 0 ? letterNumber(rest - 1) : '') + letters.charAt(index % letters.length)
}

function digits36(token: string): bigint {
  let value = 0n
  for (const digit of token) value = value * 36n + BigInt(Number.parseInt(digit, 36))
  return value
}

const base64 = `${letters}abcdefghijklmnopqrstuvwxyz0123456789-_`
const values: ReadonlyMap<string, number> = new Map(base64.split('').map((character, value) => [character, value]))

/** Packs three hex digits into two characters. `hexOf` needs the number of digits. */
function packedHex(hex: string): string {
  let text = ''
  for (let at = 0; at < hex.length; at += 3) {
    const part = hex.slice(at, at + 3)
    const value = Number.parseInt(part, 16)
    text += part.length === 1 ? base64.charAt(value) : base64.charAt(value >> 6) + base64.charAt(value & 63)
  }
  return text
}

function packedLength(digits: number): number {
  return Math.floor(digits / 3) * 2 + (digits % 3)
}

function hexOf(text: string, length: number): string {
  let hex = ''
  for (let at = 0; hex.length < length; at += 2) {
    const part = Math.min(3, length - hex.length)
    const [high = 0, low = 0] = [values.get(text.charAt(at)), values.get(text.charAt(at + 1))]
    hex += (part === 1 ? high : high * 64 + low).toString(16).padStart(part, '0')
  }
  return hex
}
