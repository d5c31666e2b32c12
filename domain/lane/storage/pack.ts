import type { Attempt, Entry, PackedEntries } from '../lane.ts'
import { UnfinishedDictionary, type Dictionary, hexOf, lookUp, packedHex, packedLength } from './packed-text.ts'

/** `{start}:{number}:{16 hex digits}/{round}`: ids of transfers and operator transactions. */
const usualId = /^(.*):([^:/]*):([0-9a-f]{16})\/(0|[1-9][0-9]{0,9})$/
const usualHash = /^0x[0-9a-f]{64}$/
/** CoalescingUpdates.nextId */
const usualRequest = /^([0-9a-f]{8})-(0|[1-9][0-9]{0,14})$/
const [digestDigits, hashDigits] = [16, 64]
const hashLength = packedLength(hashDigits)
const digestLength = packedLength(digestDigits)

type Rest = Partial<Omit<Entry, 'nonce' | 'owner' | 'attempts'>> & { readonly ownerValue?: string }

interface Parts {
  readonly nonce: number
  readonly attempts: readonly Attempt[]
  /** From a usual id. Otherwise the whole id is `start`. Absent: no owner. */
  readonly start?: string
  readonly number?: string
  readonly digest?: string
  readonly round?: string
  readonly hash?: string
  readonly maybeSent: boolean
  /** From a usual request id: its process, and its number. */
  readonly process?: string
  readonly request?: string
  /** JSON. Empty: nothing. */
  readonly rest: string
}

/** Heights that an entry in a block does not need. */
export const inBlock = { sinceBlock: 0, claimedBlock: 0 }

function partsOf({ nonce, owner, attempts, maybeSent, grantedTo, ...others }: Entry): Parts {
  const [, process, request] = usualRequest.exec(grantedTo) ?? []
  const rest: Record<string, unknown> = { ...others }
  if (process === undefined && grantedTo !== '') rest['grantedTo'] = grantedTo
  if (owner?.value !== undefined) rest['ownerValue'] = owner.value
  for (const [name, usual] of Object.entries(inBlock)) if (rest[name] === usual) delete rest[name]
  const parts: Parts = {
    ...{ nonce, attempts, maybeSent, rest: Object.keys(rest).length > 0 ? JSON.stringify(rest) : '' },
    ...(process !== undefined && request !== undefined && { process, request }),
  }
  if (!owner) return parts
  const { intentId, callHash: hash } = owner
  const [, start, number, digest, round] = usualId.exec(intentId) ?? []
  if (start === undefined || number === undefined || digest === undefined || round === undefined) return { ...parts, start: intentId, hash }
  return { ...parts, start, number, digest, round, hash }
}

export function packEntries(entries: readonly Entry[]): PackedEntries {
  const all = entries.map(partsOf)
  const counter = new UnfinishedDictionary()
  for (const parts of all) count(counter, parts)
  const dictionary = counter.dictionary()
  let text = ''
  let before: Parts | undefined
  for (const parts of all) {
    text += `${line(parts, before, dictionary)};`
    before = parts
  }
  return { words: dictionary.words, text }
}

function count(counter: UnfinishedDictionary, { attempts, start, number, hash, process, request, rest }: Parts): void {
  if (start !== undefined) counter.word(start)
  if (number !== undefined) counter.number(number)
  if (hash !== undefined && !usualHash.test(hash)) counter.word(hash)
  if (process !== undefined) counter.word(process)
  if (request !== undefined) counter.number(request)
  if (rest !== '') counter.word(rest)
  for (const { gasLimit, maxFee, tip, dataFee } of attempts)
    for (const value of [gasLimit, maxFee, tip, dataFee]) if (value !== undefined) counter.number(value)
}

/** `.` precedes the start of an unusual id. `-` means no owner. */
function line(parts: Parts, before: Parts | undefined, to: Dictionary): string {
  const { nonce, attempts, start, number, digest, round, hash, rest } = parts
  const isNext = before !== undefined && nonce === before.nonce + 1
  const isUsual = digest !== undefined
  const isSame = isUsual && before?.digest !== undefined && start === before.start
  const fields = [
    isNext ? '' : nonce.toString(36),
    start === undefined ? '-' : isSame ? '' : `${isUsual ? '' : '.'}${to.reference(start)}`,
    number === undefined ? '' : to.number(number),
    `${isUsual ? packedHex(digest) : ''}${hash === undefined ? '' : hashText(hash, to)}${round === undefined || round === '1' ? '' : `.${round}`}`,
    requestText(parts, before, to),
    attempts.map((attempt) => attemptText(attempt, to)).join('/'),
    rest === '' ? '' : to.reference(rest),
  ]
  return fields.at(-1) === '' ? fields.slice(0, -1).join(',') : fields.join(',')
}

/** `*` precedes the request of an entry that may have been sent. The previous entry's process is left out. */
function requestText({ maybeSent, process, request }: Parts, before: Parts | undefined, to: Dictionary): string {
  const sent = maybeSent ? '*' : ''
  if (process === undefined || request === undefined) return sent
  return `${sent}${process === before?.process ? '' : `${to.reference(process)}.`}${to.number(request)}`
}

/** `~` precedes a hash that is no keccak hash. */
function hashText(hash: string, to: Dictionary): string {
  return usualHash.test(hash) ? packedHex(hash.slice(2)) : `~${to.reference(hash)}`
}

/** `!` precedes a no-op. */
function attemptText({ kind, gasLimit, maxFee, tip, dataFee }: Attempt, to: Dictionary): string {
  const numbers = [gasLimit, maxFee, tip, ...(dataFee === undefined ? [] : [dataFee])]
  return `${kind === 'noop' ? '!' : ''}${numbers.map((value) => to.number(value)).join('.')}`
}

export function unpackEntries({ words, text }: PackedEntries): Entry[] {
  const entries: Entry[] = []
  let nonce = -1
  let start = ''
  let process = ''
  for (const one of text.split(';').slice(0, -1)) {
    const [at = '', from = '', number = '', hashes = '', granted = '', tried = '', more = ''] = one.split(',')
    nonce = at === '' ? nonce + 1 : Number.parseInt(at, 36)
    if (/^[A-Z]/.test(from)) start = lookUp(words, from)
    const { ownerValue, ...rest } = (more === '' ? {} : JSON.parse(lookUp(words, more))) as Rest
    const [request = '', by] = granted.replace('*', '').split('.').toReversed()
    process = by === undefined ? (request === '' ? '' : process) : lookUp(words, by)
    const owner = from === '-' ? undefined : ownerOf({ words, from, start, number, hashes })
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

interface OwnerText {
  readonly words: readonly string[]
  readonly from: string
  readonly start: string
  readonly number: string
  readonly hashes: string
}

function ownerOf({ words, from, start, number, hashes }: OwnerText): { intentId: string; callHash: string } {
  if (from.startsWith('.')) return { intentId: lookUp(words, from.slice(1)), callHash: hashOf(words, hashes) }
  const [both = '', round = '1'] = hashes.split('.')
  const digest = hexOf(both.slice(0, digestLength), digestDigits)
  const intentId = `${start}:${lookUp(words, number)}:${digest}/${round}`
  return { intentId, callHash: hashOf(words, both.slice(digestLength)) }
}

function hashOf(words: readonly string[], text: string): string {
  return text.length === hashLength && !text.startsWith('~') ? `0x${hexOf(text, hashDigits)}` : lookUp(words, text.slice(1))
}

function attemptOf(words: readonly string[], text: string): Attempt {
  const isNoop = text.startsWith('!')
  const [gasLimit = '', maxFee = '', tip = '', dataFee] = (isNoop ? text.slice(1) : text).split('.').map((token) => lookUp(words, token))
  return { kind: isNoop ? 'noop' : 'call', gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) }
}

/** Whether an intent may own one of the entries. False is certain. */
export function mayOwn({ words, text }: PackedEntries, intentId: string): boolean {
  const [, start, , digest] = usualId.exec(intentId) ?? []
  if (start === undefined || digest === undefined) return words.includes(intentId)
  return text.includes(packedHex(digest)) && words.includes(start)
}
