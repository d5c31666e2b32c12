import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fixtures, readFixture } from '../replay/fixtures.ts'
import { patches, patchesOf } from '../replay/patches.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = ['workflows', 'domain', 'temporal']
  .flatMap((room) => readdirSync(`${root}/${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
  .join('\n')

/** The id of `patched('id')`, or of `patched(name)` with `export const name = 'id'`. */
const idOf = (argument: string) =>
  /^'([^']+)'$/.exec(argument)?.[1] ?? new RegExp(`const ${argument} = '([^']+)'`).exec(source)?.[1] ?? `unknown: ${argument}`

it('every patched id of the workflows has a recorded history with it, and one without it that comes to the same place', async () => {
  const ids = [...source.matchAll(/\b(?:patched|deprecatePatch)\(([^()]+)\)/g)].map(([, argument = '']) => idOf(argument.trim()))
  expect(Object.keys(patches).toSorted()).toEqual([...new Set(ids)].toSorted())
  for (const [id, { with: after, without: before }] of Object.entries(patches)) {
    expect(fixtures[before].workflow).toBe(fixtures[after].workflow)
    expect([id, patchesOf(await readFixture(after)).includes(id)]).toEqual([id, true])
    expect([id, patchesOf(await readFixture(before)).includes(id)]).toEqual([id, false])
  }
})
