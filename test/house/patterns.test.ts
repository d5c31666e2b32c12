import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sourceFiles } from '../../scripts/check-rooms.ts'
import { patternsOf, whySlow } from '../helpers/patterns.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const product = sourceFiles(root).filter((file) => !/^(test|lab|scripts)\//.test(file))
const found = product.map((file) => patternsOf(file, readFileSync(join(root, file), 'utf8')))
const patterns = found.flatMap(({ literal }) => literal)

test('each regular expression of Portage takes linear time for 1 MiB of its worst texts', { timeout: 300_000 }, () => {
  expect(patterns.length).toBeGreaterThan(300)
  const once = [...new Map(patterns.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern])).entries()]
  const slow = once.flatMap(([text, pattern]) => {
    const why = whySlow(pattern)
    return why === undefined ? [] : [`${pattern.place} ${text}: ${why}`]
  })
  expect(slow).toEqual([])
})

test('the product makes no pattern of a text, which no test would see', () => {
  expect(found.flatMap(({ computed }) => computed)).toEqual([])
})

test.each([
  ['nested', '^(a+)+$', ''],
  ['nested over two characters', '^(?:ab?)*(?:ab?)*$', ''],
  ['without an anchor, from A1', '[).,;:\\]}]+$', ''],
  ['without an anchor, from A2', ',?\\s*data:\\s*"?0x[0-9a-f]*"?.*$', 'i'],
  ['without an anchor, from A5', '=+$', ''],
  ['without an anchor, after a text', 'not enough .*counters', ''],
  ['without an anchor, after two characters', '\\$\\{([^}]*)\\}', 'g'],
  ['anchored at lines, over lines', '^a\\{([^}]*)\\}$', 'gm'],
  ['anchored, with two repetitions of the same characters', '^(.+)[:/](.+)[:/]([0-9]{1,20})$', ''],
  ['in a lookahead', '\\B(?=(\\d{3})+$)', 'g'],
])('a slow pattern is found: %s', { timeout: 120_000 }, (_, source, flags) => {
  expect(whySlow({ source, flags })).toBeDefined()
})

test.each([
  ['new RegExp(`^${name}`)', 1],
  ["RegExp('a')", 1],
  ['new globalThis.RegExp(name)', 1],
  ["name.match('a+$')", 1],
  ['name.search(`a+$`)', 1],
  ['name.search(/a+$/)', 0],
])('a pattern that a text becomes is found: %s', (code, count) => {
  expect(patternsOf('a.ts', code).computed).toHaveLength(count)
})
