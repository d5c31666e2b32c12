import { expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import { at, config, facts, transfer } from './facts.ts'

test('a step that fails with INTERNAL is a bug at once, whether the transfer is parked or not', () => {
  const failing = transfer('a', { state: 'admitting', code: 'INTERNAL', inStateSince: at - 4_000, failure: 'x is not a function' })
  expect(explain(facts({ transfers: [failing] }), config)).toMatchObject([
    { code: 'INTERNAL', where: { id: 'failing' }, count: 1, what: expect.stringContaining('x is not a function') },
  ])
})
