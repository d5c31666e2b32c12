import { describe, expect, test } from 'vitest'
import { attacks, dayOf, mostLostPerDay } from '../../scripts/griefing.ts'

describe('a day of griefing', () => {
  test.each(attacks.map((attack) => [attack.name, attack] as const))(
    '%s: costs stay within the bounds that the threat model states',
    (_, attack) => {
      const { attacker, operator, waits } = dayOf(attack)
      expect(operator).toBeGreaterThan(0n)
      // An attacker who delivers first pays at least twice as much as Portage pays for its reverted call.
      expect(operator).toBeLessThanOrEqual(attack.outruns ? attacker / 2n : mostLostPerDay())
      if (!attack.isOwnToken) expect(waits.accounts).toBe(0)
      if (attack.unwraps || attack.outruns) expect(waits.contracts).toBe(0)
    },
  )

  test('a token that unwraps loses no more than its own budget and a window of pending calls', () => {
    const [unwrapping] = attacks
    expect(dayOf(unwrapping!).operator).toBeLessThan(mostLostPerDay() / 3n)
  })
})
