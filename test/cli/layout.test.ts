import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { render } from '../../cli/output/layout.ts'
import { createLiveText, print, printError } from '../../cli/output/print.ts'
import type { CliContext } from '../../cli/context.ts'
import { type Cell, facts, table, verbatim } from '../../cli/output/output.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { harmless } from '../../domain/text/printable.ts'

const at80 = 80
const hash = `0x${'ab'.repeat(32)}`
const lane = { full: `evm-1:0x${'5'.repeat(40)}`, short: 'evm-1:0x5555…5555' }
const reason =
  'the node of the chain has sent no block for a while, and the operator on duty has paused the lane until somebody has looked at it'

const text = fc.string({ unit: fc.constantFrom('a', 'word ', ' ', '水', '\u001b[2J', '\n', 'é'), maxLength: 60 })
const cell = fc.oneof(text, fc.nat(), fc.constant(undefined), fc.constant(hash), fc.constant(lane))

describe('no line is wider than it may be', () => {
  test('an error is wrapped on a terminal; elsewhere, it is one line with its remedy below', () => {
    const linesOn = (stderr: Partial<CliContext['stderr']>) => {
      let written = ''
      const write = (some: string) => (written += some)
      const context = { stdout: { write }, stderr: { write, ...stderr } } as unknown as CliContext
      printError(context, {}, new RelayerError('INPUT_INVALID', { detail: reason.repeat(3) }))
      return written.trimEnd().split('\n')
    }
    const wrapped = linesOn({ isTTY: true, columns: 60 })
    expect(Math.max(...wrapped.map((line) => stringWidth(line)))).toBeLessThanOrEqual(60)
    expect(wrapped.length).toBeGreaterThan(5)
    expect(linesOn({})).toHaveLength(2)
  })

  test('no line of any table or facts is too wide, down to 40 columns', () => {
    const names = ['one', 'two', 'a third', 'status', 'transaction']
    const named = (cells: readonly Cell[]) => Object.fromEntries(names.map((name, at) => [name, cells[at]]))
    const isKept = fc.property(
      fc.array(fc.array(cell, { minLength: 5, maxLength: 5 })),
      fc.integer({ min: 40, max: 120 }),
      (rows, width) => {
        const found = [render(table(rows.map(named)), width), ...rows.map((cells) => render(facts(named(cells)), width))]
        for (const line of found.flatMap((one) => one.split('\n'))) expect(stringWidth(line)).toBeLessThanOrEqual(width)
      },
    )
    fc.assert(isKept)
  })

  test('with --wide, each row of a table is one line, and ids are whole', () => {
    const shown = render(table([{ lane, mined: 7, reason }], { wide: ['mined'] }), undefined)
    expect(shown.split('\n')).toEqual([`${'lane'.padEnd(lane.full.length)}  mined  reason`, `${lane.full}  7      ${reason}`])
  })
})

test('a table that is too wide has short ids, leaves columns out, and breaks its texts between words', () => {
  const shown = render(table([{ lane, mined: 7, status: `paused: ${reason}`, next: 12 }], { wide: ['mined'] }), at80)
  expect(shown).toBe(
    [
      'lane               status                                                   next',
      'evm-1:0x5555…5555  paused: the node of the chain has sent no block for a    12',
      '                   while, and the operator on duty has paused the lane',
      '                   until somebody has looked at it',
    ].join('\n'),
  )
})

test('a table that cannot fit becomes a list of facts for each row', () => {
  const shown = render(
    table([
      { attempt: 'call', transaction: hash, fate: 'mined', note: undefined },
      { attempt: 'noop', transaction: hash, fate: 'outbid', note: 'late' },
    ]),
    at80,
  )
  expect(shown).toBe(
    [
      'attempt      call',
      `transaction  ${hash}`,
      'fate         mined',
      '',
      'attempt      noop',
      `transaction  ${hash}`,
      'fate         outbid',
      'note         late',
    ].join('\n'),
  )
})

test.each([
  ['one word', '水'.repeat(200_000)],
  ['many words', 'x '.repeat(200_000)],
])('a cell with 200,000 letters of a stranger, in %s, is cut', (_, reason) => {
  for (const text of [table([{ lane, reason }]), facts({ reason })]) {
    const shown = render(text, at80)
    expect(shown.length).toBeLessThan(20_000)
    expect(shown.trimEnd().at(-1)).toBe('…')
  }
})

test('a word of many lines is broken into pieces that have all its signs', () => {
  const word = Array.from({ length: 1_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('')
  const lines = render(facts({ reason: word }), at80).split('\n')
  expect(lines.map((line) => line.slice('reason  '.length)).join('')).toBe(word)
})

test('all lines of a fact begin in the same column', () => {
  expect(render(facts({ state: 'parked', reason, code: undefined }), 60)).toBe(
    [
      'state   parked',
      'reason  the node of the chain has sent no block for a while,',
      '        and the operator on duty has paused the lane until',
      '        somebody has looked at it',
    ].join('\n'),
  )
})

describe('texts of strangers cannot steer the terminal', () => {
  const hostile = 'ok\u001b[2J\u009b31m\u202eevil\u2028\u0007'

  test("no part of a stranger's text can control the terminal", () => {
    const shown = render([hostile, verbatim(hostile), facts({ note: hostile }), table([{ note: hostile }])], at80)
    expect(shown).not.toMatch(/[^\P{C}\n]/u)
    expect(shown).toContain('ok<U+1B>[2J<U+9B>31m<U+202E>evil')
  })

  test("a stranger's text cannot control the terminal in JSON or an error", () => {
    const written: string[] = []
    const write = (text: string) => written.push(text)
    const context = { stdout: { write }, stderr: { write } } as unknown as CliContext
    const error = new RelayerError('INPUT_INVALID', { detail: hostile, facts: { [hostile]: hostile } })
    print(context, { json: true }, { json: { [hostile]: hostile }, text: '' })
    for (const json of [true, false]) printError(context, { ...(json && { json }), verbose: true }, error)
    expect(JSON.parse(written[0]!)).toEqual({ [hostile]: hostile })
    expect(written.join('')).not.toMatch(/[^\P{C}\n]/u)
    expect(written.filter((text) => text.includes('evil')).length).toBeGreaterThan(2)
  })

  test("a stranger's text cannot control the terminal in a list that is redrawn in place", () => {
    let written = ''
    const live = createLiveText({ isTTY: true, columns: 80, rows: 24, write: (text: string) => (written += text) })
    for (const state of ['waiting', hostile, 'parked']) live?.show(render(table([{ state }]), at80))
    live?.end()
    expect(written).toContain('evil')
    for (const one of ['\u001b[2J', '\u009b', '\u202e', '\u2028', '\u0007']) expect(written).not.toContain(one)
  })

  test("a stranger's text cannot add a row to a table", () => {
    expect(render(table([{ note: 'one\nlane  paused' }]), at80)).toBe('note\none lane paused')
  })

  test('letters of every script are shown', () => {
    expect(harmless('née 水 → …')).toBe('née 水 → …')
  })
})
