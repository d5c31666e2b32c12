import { expect, test } from 'vitest'
import { describeConfig } from '../../scripts/docs/config.ts'
import { fieldAt } from '../../config/schema/fields.ts'

const rows = describeConfig()
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(2, -2).split(' | '))

test('every field says what it means', () => {
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.filter((cells) => !cells[3]?.trim())).toEqual([])
})

test('defaults and required fields are shown', () => {
  const cell = (field: string, column: number): string | undefined => rows.find(([name]) => name === `\`${field}\``)?.[column]
  expect(cell('temporal.address', 2)).toBe('`"127.0.0.1:7233"`')
  expect(cell('chains.<name>.networkId', 2)).toBe('required')
  expect(cell('chains.<name>.lanes[].signer', 2)).toBe('absent')
  expect(cell('chains.<name>.finality.blocks', 1)).toBe('number')
  expect(cell('chains.<name>.finality.blocks', 2)).toBe('required')
  expect(cell('temporal.tls.disabled', 1)).toBe('`true` or `false`')
  expect(cell('worker.deployment.endWhenDrained', 1)).toBe('`true` or `false`')
  expect(cell('chains', 1)).toBe('map by name')
  expect(cell('chains.<name>.nodes[].use', 1)).toBe('`all` or `read` or `send` or `private`')
})

test('a field is found through lists, maps and unions', () => {
  expect(fieldAt(['chains', 'any', 'lanes', 0, 'signer', 'passwordFile'])?.description).toContain('first line is the password')
  expect(fieldAt(['chains', 'any', 'finality', 'blocks'])).toMatchObject({ type: 'integer', minimum: 1 })
  expect(fieldAt(['chains', 'any', 'nothing'])).toBeUndefined()
})
