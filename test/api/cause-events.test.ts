import { expect, test } from 'vitest'
import { causeChanges } from '../../api/events/changes.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'

const cause = (code: string, id: string, more: Partial<Cause> = {}): Cause => ({
  ...{ code, what: `${id} is away`, where: { kind: 'chain', id } as const, asOf: new Date().toISOString() },
  ...{ count: 1, examples: ['a'], next: [] },
  ...more,
})

test('causes that begin, change whom they hold up, and end are told; what only ages is not, nor what was there at first', async () => {
  let causes: readonly Cause[] = [cause('HALTED', 'bsc')]
  const look = causeChanges(async () => ({ causes }))
  expect(await look()).toEqual([{ type: 'ready', data: { what: 'causes' } }])
  causes = [cause('HALTED', 'bsc', { what: 'bsc is away for 2 minutes', asOf: '2026-11-23T00:00:00.000Z' })]
  expect(await look()).toEqual([])
  const [more, begun] = [cause('HALTED', 'bsc', { count: 2, examples: ['a', 'b'] }), cause('HALTED', 'ethereum')]
  causes = [more, begun]
  expect(await look()).toEqual([
    { type: 'cause', data: more },
    { type: 'cause', data: begun },
  ])
  causes = [begun]
  expect(await look()).toEqual([{ type: 'cause-ended', data: { code: 'HALTED', where: { kind: 'chain', id: 'bsc' } } }])
  // It comes back: it is told as one that begins.
  causes = [more, begun]
  expect(await look()).toEqual([{ type: 'cause', data: more }])
})

test('a reading that fails ends nothing', async () => {
  let isAway = false
  const look = causeChanges(async () => {
    if (isAway) throw new Error('away')
    return { causes: [cause('HALTED', 'bsc')] }
  })
  await look()
  isAway = true
  await expect(look()).rejects.toThrow('away')
  isAway = false
  expect(await look()).toEqual([])
})
