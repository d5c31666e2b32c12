import { validatorCompiler } from 'fastify-type-provider-zod'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fieldErrors } from '../../api/errors.ts'

function errorsOf(schema: z.ZodType, value: unknown) {
  const result = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })(value) as {
    error?: Parameters<typeof fieldErrors>[1]
  }
  return fieldErrors('body', result.error ?? []).map(({ path }) => path)
}

const place = z.strictObject({ chain: z.number(), emitter: z.string(), reason: z.string().optional() })
const either = z.union([z.strictObject({ vaa: z.string(), reason: z.string().optional() }), place])

test('every wrong field is named, also an unknown one', () => {
  expect(errorsOf(place, { chain: 'x', colour: 'red', taste: 'none' }).toSorted()).toEqual([
    'body.chain',
    'body.colour',
    'body.emitter',
    'body.taste',
  ])
})

test('for a union the errors of the best matching option are reported', () => {
  expect(errorsOf(either, { chain: 2, emitter: 5 })).toEqual(['body.emitter'])
  expect(errorsOf(either, { vaa: 5 })).toEqual(['body.vaa'])
  expect(errorsOf(z.strictObject({ transfers: z.array(either) }), { transfers: [{ vaa: 'x' }, { chain: 2 }] })).toEqual([
    'body.transfers.1.emitter',
  ])
})

test('a body that is no object is reported as the body itself', () => {
  expect(errorsOf(place, 5)).toEqual(['body'])
})

test('the answer to a hundred thousand wrong fields is short', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field-${index}-${'x'.repeat(50)}`, 1]))
  const found = errorsOf(place, many)
  expect(found).toHaveLength(50)
  expect(errorsOf(place, { ['y'.repeat(100_000)]: 1 }).every((path) => path.length <= 200)).toBe(true)
})
