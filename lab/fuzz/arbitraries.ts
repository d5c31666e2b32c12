import fc from 'fast-check'

/** Values of a wrong type. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '0x',
    '0xabc',
    '0X1',
    `0x${'f'.repeat(64)}`,
    `0x${'f'.repeat(65)}`,
    -1,
    1e300,
    2 ** 53,
    '1e5',
    [],
    {},
    '__proto__',
  ),
  fc.constantFrom<unknown>('constructor', '\u0000', '\ud800', '9'.repeat(100), 'x'.repeat(5_000), '18446744073709551616', '-0', '.inf', [
    [[[]]],
  ]),
)

/** A valid value in which some fields are missing or replaced by junk. Plain JSON. */
export function nearly(good: unknown): fc.Arbitrary<unknown> {
  const paths = placesOf(good)
  const change = fc.tuple(fc.nat(paths.length - 1), fc.option(junk, { nil: undefined, freq: 4 }))
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    const root = { value: structuredClone(good) }
    for (const [place, value] of changes) replace(root, ['value', ...paths[place]!], value)
    return root.value
  })
}

/** Hex digits of valid bytes with some bytes changed, missing or added, or sometimes of random bytes. */
export function nearlyBytes(good: Uint8Array): fc.Arbitrary<string> {
  const change = fc.tuple(fc.nat(good.length - 1), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat(255), fc.boolean())
  const changed = fc
    .tuple(fc.array(change, { maxLength: 4 }), fc.option(fc.nat(good.length)), fc.uint8Array({ maxLength: 40 }))
    .map(([changes, length, more]) => {
      const bytes = Uint8Array.from(good)
      for (const [at, extreme, any, isExtreme] of changes) bytes[at] = isExtreme ? extreme : any
      return Buffer.concat([length === null ? bytes : bytes.subarray(0, length), more])
    })
  return fc
    .oneof({ arbitrary: changed, weight: 4 }, { arbitrary: fc.uint8Array({ maxLength: 300 }).map((one) => Buffer.from(one)), weight: 1 })
    .map((bytes) => bytes.toString('hex'))
}

export function nearlyText(good: string, pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof({ arbitrary: fc.constantFrom(...pieces), weight: 5 }, { arbitrary: fc.string({ maxLength: 12 }), weight: 1 })
  const change = fc.tuple(fc.nat(good.length), fc.nat(8), piece)
  return fc
    .array(change, { minLength: 1, maxLength: 5 })
    .map((changes) => changes.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), good))
}

function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, child]) => placesOf(child, [...path, name]))]
}

/**
 * Replaces the value at `path`, or removes it if `value` is undefined. Does nothing if an earlier change has removed
 * this path.
 */
function replace(root: unknown, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path
  if (typeof root !== 'object' || root === null || name === undefined || !Object.hasOwn(root, name)) return
  const parent = root as Record<string, unknown>
  if (rest.length > 0) return replace(parent[name], rest, value)
  if (value === undefined) delete parent[name]
  else parent[name] = structuredClone(value)
}

/**
 * Maximum lengths that Portage reads, characters: of URLs, ids, failures, tokens, log lines, answers, bodies, requests.
 */
const limits = [300, 1_000, 4_000, 4_096, 32_768, 65_536, 262_144, 1_048_576] as const
/** Texts that, when repeated, are slow to match with an unanchored pattern. */
const units = [' ', ')', '=', '0', 'a', '/', '-', ',', '\n', '0x', '${', 'data: ', '[', '{', '"', '\\', '\u00e9', '\ud800'] as const

/** The given text, or sometimes a text whose length is a limit, or one character less or more. */
export function orLong(text: fc.Arbitrary<string>, good = ''): fc.Arbitrary<string> {
  const long = fc
    .tuple(
      fc.constantFrom('', good),
      fc.constantFrom(...units),
      fc.constantFrom(...limits),
      fc.integer({ min: -1, max: 1 }),
      fc.constantFrom('', 'x'),
    )
    .map(([begin, unit, limit, more, end]) => {
      const room = Math.max(0, limit + more - begin.length - end.length)
      return begin + unit.repeat(Math.ceil(room / unit.length)).slice(0, room) + end
    })
  return fc.oneof({ arbitrary: text, weight: 20 }, { arbitrary: long, weight: 1 })
}

/** Hex digits of the given bytes, or sometimes of bytes whose number equals a limit or exceeds it by one. */
export function orLongBytes(hex: fc.Arbitrary<string>, good: Uint8Array): fc.Arbitrary<string> {
  const long = fc.tuple(fc.constantFrom(...limits), fc.constantFrom(0, 1, 0x20, 0x29, 0xff), fc.nat(1)).map(([limit, byte, more]) =>
    Buffer.concat([good, Buffer.alloc(limit + more, byte)])
      .subarray(0, limit + more)
      .toString('hex'),
  )
  return fc.oneof({ arbitrary: hex, weight: 20 }, { arbitrary: long, weight: 1 })
}
