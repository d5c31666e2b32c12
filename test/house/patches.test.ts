import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fixtures, readFixture } from '../replay/fixtures.ts'
import { comesToPlace, patches, patchesOf } from '../replay/patches.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = ['workflows', 'domain', 'temporal']
  .flatMap((room) => readdirSync(`${root}/${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
  .join('\n')

/** The id of `patched('id')`, or of `patched(name)` with `export const name = 'id'`. */
const idOf = (argument: string) =>
  /^'([^']+)'$/.exec(argument)?.[1] ?? new RegExp(`const ${argument} = '([^']+)'`).exec(source)?.[1] ?? `unknown: ${argument}`

test('every patched id of the workflows has a recorded history with it, and one without it that comes to the same place', async () => {
  const ids = [...source.matchAll(/\b(?:patched|deprecatePatch)\(([^()]+)\)/g)].map(([, argument = '']) => idOf(argument.trim()))
  expect(Object.keys(patches).toSorted()).toEqual([...new Set(ids)].toSorted())
  for (const [id, patch] of Object.entries(patches)) {
    const { with: after, without: before } = patch
    expect(fixtures[before].workflow).toBe(fixtures[after].workflow)
    for (const [name, isMarked] of [[after, true] as const, [before, false] as const]) {
      const history = await readFixture(name)
      expect([id, name, patchesOf(history).includes(id)]).toEqual([id, name, isMarked])
      expect([id, name, comesToPlace(history, id, patch)]).toEqual([id, name, true])
    }
  }
})

test.each([
  ['ends-by-nonces', 'happy-near-finality'],
  ['ends-by-nonces', 'delivered-by-other'],
  ['refused-after-sent', 'operator-transaction-paid'],
  ['refused-after-sent', 'operator-transaction-cancelled'],
] as const)('a history that never comes to the place of %s is no witness of it: %s', async (id, name) => {
  const patch = patches[id]!
  const history = await readFixture(name)
  expect([fixtures[name].workflow, patchesOf(history)]).toEqual([fixtures[patch.without].workflow, []])
  expect(comesToPlace(history, id, patch)).toBe(false)
})
