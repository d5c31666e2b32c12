/**
 * A value of TLA+. Tuples become arrays, records become objects, functions become Maps, and the model value `Nil`
 * becomes null.
 */
export type TlaValue =
  | null
  | boolean
  | number
  | string
  | readonly TlaValue[]
  | ReadonlySet<TlaValue>
  | ReadonlyMap<TlaValue, TlaValue>
  | TlaRecord
export interface TlaRecord {
  readonly [field: string]: TlaValue
}

const tokens = /\s*(<<|>>|:>|@@|\|->|\/\\|[[\](){},=]|"(?:[^"\\]|\\.)*"|-?\d+|\w+)/y

/** Reads values as TLC prints them. For other text, throws Error with the rest of the text. */
export class TlaReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Reads the variables of one state, each in the form `/\ name = value`. */
  state(): TlaRecord {
    const variables: Record<string, TlaValue> = {}
    while (this.#peek() === '/\\') {
      this.#next()
      const name = this.#next()
      this.#expect('=')
      variables[name] = this.value()
    }
    if (this.#peek() !== '') throw this.#unexpected()
    return variables
  }

  value(): TlaValue {
    const token = this.#next()
    if (token === '<<') return this.#listUntil('>>', () => this.value())
    if (token === '{') return new Set(this.#listUntil('}', () => this.value()))
    if (token === '[') return Object.fromEntries(this.#listUntil(']', () => [this.#next(), this.#valueAfter('|->')] as const))
    if (token === '(') return new Map(this.#listUntil(')', () => [this.value(), this.#valueAfter(':>')] as const, '@@'))
    if (token.startsWith('"')) return token.slice(1, -1)
    if (token === 'TRUE' || token === 'FALSE') return token === 'TRUE'
    if (token === 'Nil') return null
    if (/^-?\d/.test(token)) return Number(token)
    if (/^\w/.test(token)) return token
    throw this.#unexpected()
  }

  #listUntil<Item>(end: string, item: () => Item, separator = ','): Item[] {
    const items: Item[] = []
    while (this.#peek() !== end) {
      if (items.length > 0) this.#expect(separator)
      items.push(item())
    }
    this.#next()
    return items
  }

  #valueAfter(token: string): TlaValue {
    this.#expect(token)
    return this.value()
  }

  #expect(token: string): void {
    if (this.#next() !== token) throw this.#unexpected()
  }

  #peek(): string {
    tokens.lastIndex = this.#at
    const found = tokens.exec(this.#text)?.[1]
    if (found === undefined && this.#text.slice(this.#at).trim() !== '') throw this.#unexpected()
    return found ?? ''
  }

  #next(): string {
    const token = this.#peek()
    if (token === '') throw this.#unexpected()
    this.#at = tokens.lastIndex
    return token
  }

  #unexpected(): Error {
    return new Error(`not a value of TLA+: …${this.#text.slice(this.#at, this.#at + 60)}`)
  }
}

/** Text of a value. Equal values have equal texts, because the members of sets, functions and records are sorted. */
export function show(value: TlaValue): string {
  if (value === null) return 'Nil'
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  if (typeof value === 'string') return `"${value}"`
  if (typeof value === 'number') return String(value)
  if (value instanceof Set) return `{${[...value].map(show).sort().join(', ')}}`
  if (value instanceof Map)
    return `(${[...value]
      .map(([key, one]) => `${show(key)} :> ${show(one)}`)
      .sort()
      .join(' @@ ')})`
  if (Array.isArray(value)) return `<<${value.map(show).join(', ')}>>`
  const fields = Object.entries(value as TlaRecord).map(([name, one]) => `${name} |-> ${show(one)}`)
  return `[${fields.sort().join(', ')}]`
}

export function differences(wanted: TlaValue, found: TlaValue, path = ''): readonly string[] {
  if (show(wanted) === show(found)) return []
  const [ours, theirs] = [fieldsOf(wanted), fieldsOf(found)]
  if (!ours || !theirs) return [`${path}: the model has ${show(wanted)}, the reducer ${show(found)}`]
  const names = new Set([...ours.keys(), ...theirs.keys()])
  return [...names].flatMap((name) => differences(ours.get(name) ?? null, theirs.get(name) ?? null, `${path}.${name}`))
}

function fieldsOf(value: TlaValue): ReadonlyMap<string, TlaValue> | undefined {
  if (value instanceof Map) return new Map([...value].map(([key, one]: [TlaValue, TlaValue]) => [show(key), one]))
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Set)
  return isRecord ? new Map(Object.entries(value as TlaRecord)) : undefined
}
