/** Frequent strings behind references of one to four capital letters. Strings that occur once are inline. */
export interface Dictionary {
  readonly words: readonly string[]
  reference(word: string): string
  /** A decimal number in few characters, or a reference. For any other string a reference. */
  number(text: string): string
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const canonicalDecimal = /^(0|[1-9][0-9]*)$/

/** Counts strings for a dictionary: first `word` and `number` for all, then `dictionary`. */
export class UnfinishedDictionary {
  readonly #counts = new Map<string, number>()
  readonly #isInline = (word: string): boolean => canonicalDecimal.test(word) && this.#counts.get(word) === 1

  word(word: string): void {
    this.#add(word, 2)
  }

  number(text: string): void {
    this.#add(text, 1)
  }

  dictionary(): Dictionary {
    const counted = [...this.#counts].filter(([word]) => !this.#isInline(word))
    const words = counted.toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1)).map(([word]) => word)
    const references = new Map(words.map((word, index) => [word, letterNumber(index)]))
    const reference = (word: string) => references.get(word) ?? ''
    return { words, reference, number: (text) => references.get(text) ?? BigInt(text).toString(36) }
  }

  #add(word: string, by: number): void {
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + by)
  }
}

/** The string that `Dictionary.number` or `reference` has written. */
export function lookUp(words: readonly string[], token: string): string {
  if (!/^[A-Z]/.test(token)) return String(digits36(token))
  let index = 0
  for (const letter of token) index = index * letters.length + letters.indexOf(letter) + 1
  const word = words[index - 1]
  if (word === undefined) throw new Error(`the packed text refers to word ${index}, of ${words.length}`)
  return word
}

/** 0 is A, 25 is Z, 26 is AA. */
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

/** Two characters for three hex digits. `hexOf` needs the length to reverse it. */
export function packedHex(hex: string): string {
  let text = ''
  for (let at = 0; at < hex.length; at += 3) {
    const part = hex.slice(at, at + 3)
    const value = Number.parseInt(part, 16)
    text += part.length === 1 ? base64.charAt(value) : base64.charAt(value >> 6) + base64.charAt(value & 63)
  }
  return text
}

export function packedLength(digits: number): number {
  return Math.floor(digits / 3) * 2 + (digits % 3)
}

export function hexOf(text: string, length: number): string {
  let hex = ''
  for (let at = 0; hex.length < length; at += 2) {
    const part = Math.min(3, length - hex.length)
    const [high = 0, low = 0] = [values.get(text.charAt(at)), values.get(text.charAt(at + 1))]
    hex += (part === 1 ? high : high * 64 + low).toString(16).padStart(part, '0')
  }
  return hex
}
