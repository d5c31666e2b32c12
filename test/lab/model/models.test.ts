import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutants, withChanges } from '../../../lab/model/mutants.ts'
import { laneRuns, modules, scopes, streamRuns } from '../../../lab/model/scopes.ts'

const folder = new URL('../../../lab/model/', import.meta.url)
const bounds = new URL('bounds/', folder)
const textOf = (file: string) => readFileSync(new URL(file, file.endsWith('.cfg') ? bounds : folder), 'utf8')
const models = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.tla'))
    .map((file) => [file, textOf(file)]),
)
const listed = (config: string) => /^(?:INVARIANTS|PROPERTIES) (.*)$/m.exec(textOf(config))?.[1]?.split(' ') ?? []

test('every mutant changes a text that is once in the models, and violates an invariant of its scope', () => {
  for (const { name, changes, config, violates } of mutants) {
    expect([...withChanges(models, changes).values()], name).not.toEqual([...models.values()])
    expect(listed(config), name).toContain(violates)
  }
  expect(() => withChanges(models, [['not in any model', '']])).toThrow('exactly once')
  expect(() => withChanges(models, [['UNCHANGED', '']])).toThrow('exactly once')
})

test('every scope checks at least one invariant that its model defines, and is in the folder', () => {
  for (const { config, model } of scopes) {
    expect(listed(config), config).not.toEqual([])
    for (const name of listed(config)) expect(models.get(`${modules[model]}.tla`)).toMatch(new RegExp(`^${name} ==`, 'm'))
  }
  const files = readdirSync(bounds).filter((file) => !file.endsWith('-runs.cfg'))
  expect(files.toSorted()).toEqual(scopes.map(({ config }) => config).toSorted())
})

test('the reducers repeat random runs with the bounds of the models', () => {
  const constants = (config: string) =>
    Object.fromEntries([...textOf(config).matchAll(/^ {2}(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]))
  const { nonces, window, rounds, transfers } = laneRuns
  expect(constants('lane-runs.cfg')).toMatchObject({
    Nonces: String(nonces),
    Window: String(window),
    Rounds: String(rounds),
    Transfers: `{${transfers.join(', ')}}`,
  })
  const { numbers, maxOpen, scans } = streamRuns
  const isScanned = scans ? 'TRUE' : 'FALSE'
  expect(constants('stream-runs.cfg')).toMatchObject({ Numbers: String(numbers), MaxOpen: String(maxOpen), Scans: isScanned })
})
