import { expect, test } from 'vitest'
import { causeChanges } from '../../api/events/changes.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'

const cause = (code: string, id: string, more: Partial<Cause> = {}): Cause => ({
  ...{ code, severity: 'chain' as const, what: `${id} is away`, where: { kind: 'chain', id } as const, asOf: new Date().toISOString() },
  ...{ count: 1, examples: ['a'], remedy: 'Repair it.', next: [] },
  ...more,
})

test('causes that begin, change or end are reported, but not older ages or causes of the first read', async () => {
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
  causes = [more, begun]
  expect(await look()).toEqual([{ type: 'cause', data: more }])
})

test('a failed read ends no cause', async () => {
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
