import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseOptions } from '../../../lab/drill/options.ts'
import { type DrillSummary, isClean } from '../../../lab/drill/summary.ts'

afterEach(() => vi.restoreAllMocks())

describe("the drill's command line", () => {
  test('the drill restores a dump and sends 60 transfers by default', () => {
    const defaults = { case: 'dump', transfers: 60, stuckAfter: 60, keep: false, json: false }
    expect(parseOptions([])).toEqual(defaults)
    expect(parseOptions(['--case', 'nothing', '--transfers', '20', '--json'])).toEqual({
      ...{ ...defaults, case: 'nothing', transfers: 20, json: true },
    })
  })

  test.each([[['--case', 'half']], [['--transfers', '19']], [['--transfers', '2e3']], [['--bridge', 'native']]])(
    "the drill's command line refuses %j with exit code 2",
    (args) => {
      vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
        throw new Error(`exit ${code}`)
      })
      expect(() => parseOptions(args)).toThrow('exit 2')
      expect(exit).toHaveBeenCalledOnce()
    },
  )
})

describe('a drill is clean', () => {
  const summary: DrillSummary = {
    case: 'dump',
    ...{ transfers: 60, delivered: 60, lost: 0, duplicateEffects: 0, wrongBalances: 0, foreignCompletions: 0, nonceHoles: 0, stuck: 0 },
    payments: { once: 3, never: 0, again: 0 },
    ...{ wastedTransactions: 4, revertedTransactions: 1, brokenTasks: 0, loggedKeys: 0 },
    seconds: { dump: 1, restore: 10, recovery: 20, all: 90 },
  }

  test('a drill is clean if everything was delivered once, whatever the cost', () => {
    expect(isClean(summary)).toBe(true)
  })

  test.each([
    'lost',
    'duplicateEffects',
    'wrongBalances',
    'foreignCompletions',
    'nonceHoles',
    'stuck',
    'brokenTasks',
    'loggedKeys',
  ] as const)('a drill is not clean with a %s', (name) => {
    expect(isClean({ ...summary, [name]: 1 })).toBe(false)
  })

  test('a drill is not clean with a repeated payment, or with a missing payment of the dump', () => {
    expect(isClean({ ...summary, payments: { once: 2, never: 0, again: 1 } })).toBe(false)
    const unpaid = { ...summary, payments: { once: 2, never: 1, again: 0 } }
    expect(isClean(unpaid)).toBe(false)
    // A restart from nothing loses the order of this payment, so the payment may stay unpaid.
    expect(isClean({ ...unpaid, case: 'nothing' })).toBe(true)
  })

  test('a drill is not clean if transfers are missing, or none was sent', () => {
    expect(isClean({ ...summary, delivered: 59 })).toBe(false)
    expect(isClean({ ...summary, transfers: 0, delivered: 0 })).toBe(false)
  })
})
