import { expect, test } from 'vitest'
import type { CauseReport } from '../../operations/causes/collect.ts'
import { render } from '../../cli/output/layout.ts'
import { stuckText } from '../../cli/commands/stuck.ts'
import { type Cause } from '../../domain/catalogue/cause.ts'
import { causeCatalogue } from '../../domain/catalogue/catalogue.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const asOf = '2026-11-22T11:59:59.000Z'
const id = `wormhole-token-bridge:2:${'0'.repeat(24)}${'a'.repeat(40)}:269170:6d1b4c0c5f0a3e21`

const shown = (report: CauseReport) => render(stuckText(report, now), 80)

function cause(changes: Partial<Cause>): Cause {
  return {
    code: 'HALTED',
    severity: 'chain',
    what: 'Everything is halted.',
    where: { kind: 'settings', id: '--all' },
    asOf,
    count: 0,
    examples: [],
    remedy: 'Repair it.',
    next: [],
    ...changes,
  }
}

test('the table of portage stuck fits 80 columns; transfers have their short id, also in commands', () => {
  const lane = { kind: 'lane', id: 'evm-1397:0x52908400098527886e0f7030069857d2e4169ee7' } as const
  const what = 'The account of the lane cannot pay, as its ledger read a moment ago: balance 1 wei, needed 2000000000000000 wei'
  const rows = Object.keys(causeCatalogue).map((code) =>
    cause({
      code,
      where: lane,
      what,
      count: 123_456,
      since: '2026-11-20T00:00:00.000Z',
      oldest: '2026-11-21T00:00:00.000Z',
      examples: [id],
      next: [`portage transfer show ${id}`],
    }),
  )
  const text = shown({ asOf, stuck: true, causes: rows })
  const table = text.split('\n').filter((line) => /^(\d+|  ) /.test(line))
  expect(table.length).toBeGreaterThan(2 * rows.length)
  expect(text.split('\n').filter((line) => line.length > 80 && !line.includes(lane.id))).toEqual([])
  expect(text).toContain('\n    6d1b4c0c5f0a3e21\n  → portage transfer show 6d1b4c0c5f0a3e21')
  expect(text).not.toContain(id)
  expect(text).toContain(' 36 h ')
})

test('an id that is not of a transfer is shown whole, such as a number of a stream or an invented id', () => {
  const one = cause({ examples: ['17', 'a:b:not-a-digest', 'wormhole-token-bridge:2:0'], next: ['portage transfer show a:b:not-a-digest'] })
  expect(shown({ asOf, stuck: true, causes: [one] })).toContain(
    '\n  Repair it.\n    17\n    a:b:not-a-digest\n    wormhole-token-bridge:2:0\n  → portage transfer show a:b:not-a-digest',
  )
})

test('portage stuck says that nothing is stuck, and when it read this', () => {
  expect(shown({ asOf, stuck: false, causes: [] })).toBe('Nothing is stuck (read 2026-11-22T11:59:59Z).')
})

test('portage stuck prints a cause with the commands that end it', () => {
  const one = cause({
    count: 2,
    since: '2026-11-22T11:57:00.000Z',
    examples: ['a', 'b'],
    next: ['portage settings', 'portage unhalt --all --reason "<text>"'],
  })
  expect(shown({ asOf, stuck: true, causes: [one] })).toBe(`1 cause, the most harmful first (read 2026-11-22T11:59:59Z)

   cause   holds  since  oldest  where
1  HALTED  2      3 min  -       settings --all

1 HALTED, settings --all: Everything is halted.
  Repair it.
    a
    b
  → portage settings
  → portage unhalt --all --reason "<text>"`)
})
