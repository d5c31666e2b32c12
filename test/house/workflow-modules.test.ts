import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const rooms = ['workflows', 'domain', 'temporal/contracts']
const files = rooms
  .flatMap((room) => readdirSync(`${root}/${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`))
  .filter((file) => file.endsWith('.ts'))

/** Top-level lines with state that can change. An empty object or array counts, because code may fill it later. */
const keeps = [
  /^(export )?(let|var) .*/gm,
  /^(export )?const [^=]*= new (?!RegExp\b).*/gm,
  /^(export )?const [^=]*= (\[\]|\{\})$/gm,
  /^(export )?const [^=]*= \/.*\/[a-z]*[gy][a-z]*$/gm,
  /^ {2}static (?!readonly\b).*/gm,
]
const found = (source: string) => keeps.flatMap((kind) => source.match(kind) ?? []).filter((line) => !/: Readonly(Map|Set)</.test(line))

test.each([
  'let count = 0',
  'export const seen = new Map<string, number>()',
  'const all: string[] = []',
  'const words = /[a-z]+/g',
  '  static last = 0',
])('%s in a module would be shared by the workflows of a thread', (line) => {
  expect(found(`import x from './x.ts'\n\n${line}\n`)).toEqual([line])
})

test('modules of workflows hold no state: all workflows of a thread share one evaluation', () => {
  const all = files.flatMap((file) => found(readFileSync(`${root}/${file}`, 'utf8')).map((line) => `${file}: ${line}`))
  expect(all).toEqual([
    // The converter holds a setting and no state.
    "workflows/failure-converter.ts: export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })",
    // `replace`, `replaceAll` and `matchAll` read the whole text and do not change the pattern.
    String.raw`domain/settings/request.ts: const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g`,
    // The key of this cache never changes, so neither does the cached result.
    'domain/stream/outside-window.ts: const unpacked = new WeakMap<OutsideNumbers, Unpacked>()',
  ])
})
