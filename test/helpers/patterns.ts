/** Collects the regular expressions of a source file, and finds those whose time grows faster than their text. */
import { parseSync } from 'oxc-parser'
import { analyse } from 'scslre'

export interface Pattern {
  readonly place: string
  readonly source: string
  readonly flags: string
}

interface Patterns {
  readonly literal: readonly Pattern[]
  /** Places and code of patterns that are created at run time, and so cannot be tested. */
  readonly computed: readonly string[]
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

export function patternsOf(file: string, text: string): Patterns {
  const { program, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file} does not parse: ${errors[0].message}`)
  const literal: Pattern[] = []
  const computed: string[] = []
  eachNode(program, (node) => {
    const place = `${file}:${text.slice(0, node.start).split('\n').length}`
    const { regex } = node as { regex?: { pattern: string; flags: string } }
    if (regex) literal.push({ place, source: regex.pattern, flags: regex.flags })
    if (makesPattern(node)) computed.push(`${place}: ${text.slice(node.start, node.end)}`)
  })
  return { literal, computed }
}

/** Whether a call creates a pattern from a text: `RegExp(…)` or a method of strings. */
function makesPattern({ type, callee, arguments: given }: Node): boolean {
  if (type !== 'NewExpression' && type !== 'CallExpression') return false
  const { name, property } = callee as { name?: string; property?: { name?: string } }
  if ((name ?? property?.name) === 'RegExp') return true
  const [first] = given as readonly { type: string; regex?: unknown }[]
  return /^(match|matchAll|search)$/.test(property?.name ?? '') && first?.type.endsWith('Literal') === true && !first.regex
}

function eachNode(value: unknown, found: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) eachNode(one, found)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  if (typeof (value as Partial<Node>).type === 'string') found(value as Node)
  for (const one of Object.values(value)) if (typeof one === 'object') eachNode(one, found)
}

interface Part {
  readonly type: string
  readonly raw: string
  readonly min: number
  readonly max: number
  readonly element: Part
  readonly elements?: readonly Part[]
  readonly alternatives?: readonly Part[]
}
/** A repetition with at most this upper bound counts as constant. */
const mostConstant = 10
const mebibyte = 1_048_576
/** Lengths of the measured texts, characters. The first is enough to find an exponential pattern. */
const sizes = [24, 1_024, 4_096, 16_384, 65_536, 262_144, mebibyte]
/** From one length to the next, linear time grows fourfold, and quadratic time sixteenfold. */
const mostGrowth = 8
/**
 * Shorter times are noise, ms. Most linear patterns take less time for 1 MiB. A quadratic pattern takes more for 64
 * KiB.
 */
const noiseMs = 25
/** Number of further slow measurements that prove a pattern slow, because a busy machine lengthens measurements. */
const agreeing = 3

/**
 * Why a pattern is slow. Undefined if it is not. The analysis knows only repeated characters, so other texts are
 * measured.
 */
export function whySlow({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string | undefined {
  const pattern = new RegExp(source, flags)
  const { parsed, reports } = analyse(pattern)
  const [report] = reports
  if (report) return `${report.type} of ${JSON.stringify(report.character.pick)}`
  let texts = worstTexts(parsed.pattern as object as Part, flags).map((text) => ({ ...text, ms: 0 }))
  for (const size of sizes) {
    for (const text of texts) {
      text.ms = timeOf(pattern, text, size, 1)
      const grows = (ms: number) => ms > Math.max(noiseMs, mostGrowth * timeOf(pattern, text, size / 4))
      if (text.ms > noiseMs && grows(text.ms) && Array.from({ length: agreeing }).every(() => grows(timeOf(pattern, text, size))))
        return `${size} characters of ${JSON.stringify(text.pump)} take ${text.ms.toFixed()} ms, more than ${mostGrowth} times a quarter of them`
    }
    // From this size, a quadratic pattern takes far longer than a linear one, so only the slowest texts are measured at
    // larger sizes.
    if (size >= 1_024) texts = texts.toSorted((a, b) => b.ms - a.ms).slice(0, size < 16_384 ? 40 : 2)
  }
  return undefined
}

interface WorstText {
  readonly begin: string
  readonly pump: string
  readonly end: string
}

/** The shortest of `rounds` times, ms: a busy machine lengthens the others. */
function timeOf(pattern: RegExp, { begin, pump, end }: WorstText, size: number, rounds = 3): number {
  const text = begin + pump.repeat(Math.ceil(size / pump.length)) + end
  let least = Infinity
  // If the time is far above the noise, one measurement is enough.
  for (let round = 0; round < rounds && least > noiseMs / 10 && (round === 0 || least < 4 * noiseMs); round++) {
    const startedAt = process.cpuUsage()
    if (pattern.global) text.replace(pattern, '')
    else pattern.test(text)
    // A busy machine interrupts long runs more often than short ones, so CPU time is measured.
    const { user, system } = process.cpuUsage(startedAt)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/**
 * Texts on which a pattern may backtrack from every start: a beginning, a repeated part, and an end that may not match.
 */
function worstTexts(pattern: Part, flags: string): WorstText[] {
  const parts: Part[] = []
  const repetitions: { before: string; once: string }[] = []
  const memberOf = (part: Part) => memberOfClass(part.raw, flags)

  /** The shortest text that a part matches. Also collects the repetitions within the part. */
  function least(part: Part, before: string): string {
    if (part.type === 'Quantifier') {
      const once = least(part.element, before)
      if (part.max > mostConstant) repetitions.push({ before, once })
      return once.repeat(part.min)
    }
    if (part.alternatives && /Group$|^Pattern$|^Assertion$/.test(part.type)) {
      const [first = ''] = part.alternatives.map((one) => least(one, before))
      return part.type === 'Assertion' ? '' : first
    }
    if (part.elements && part.type === 'Alternative') return part.elements.reduce((text, one) => text + least(one, before + text), '')
    if (!/^(Character|CharacterSet|CharacterClass|ExpressionCharacterClass)$/.test(part.type)) return ''
    parts.push(part)
    return memberOf(part)
  }

  least(pattern, '')
  const own = [...new Set(parts.map(memberOf))].slice(0, 12)
  const characters = [...own, ' ', 'a', '0', '\n', '\0']
  const begins = [...new Set(['', ...repetitions.map(({ before }) => before)])]
  const pumps = repetitions.flatMap(({ before, once }) => [before, once, before + once, `\n${before}${once}`, `\r${before}${once}`])
  const ends = new Set(['', '\n\0', '\0', ...own])
  return begins.flatMap((begin) =>
    [...new Set([...characters, ...pumps])].filter(Boolean).flatMap((pump) => [...ends].map((end) => ({ begin, pump, end }))),
  )
}

const members = new Map<string, string>()
const candidates = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCodePoint(0x20 + at)),
  '\n',
  '\t',
  '\0',
  '\u00e9',
  '\u2028',
  '\u{1f600}',
]

function memberOfClass(raw: string, flags: string): string {
  const key = `${raw}/${flags}`
  const one = new RegExp(`^(?:${raw})$`, flags.replaceAll(/[gym]/g, ''))
  const found = members.get(key) ?? ['a', 'A', '0', ...candidates].find((character) => one.test(character)) ?? ''
  members.set(key, found)
  return found
}
