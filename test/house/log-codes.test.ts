import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { catalogue } from '../../domain/catalogue/catalogue.ts'
import { alertRules, runbookOf } from '../../scripts/docs/runbooks.ts'
import { rooms } from '../../scripts/rooms.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** The folders of the product, without tests, tools, the lab and the page. */
const folders = new Set(
  rooms.filter(({ imports, path }) => imports !== 'all' && path !== 'page').map(({ path }) => path.split('/')[0] ?? ''),
)
const sourcesOf = (some: Iterable<string>) => {
  const files = [...some].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
      file.endsWith('.ts') ? [`${folder}/${file}`] : [],
    ),
  )
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
const sources = sourcesOf(folders)
const areas = readdirSync(join(root, 'domain/catalogue')).filter(
  (file) => !['catalogue.ts', 'cause.ts', 'errors.ts', 'row.ts'].includes(file),
)

test('every code of the catalogue is used by the product or the devnet, or has an alert', () => {
  expect(sources.size).toBeGreaterThan(400)
  const all = [...sources, ...sourcesOf(['lab/devnet'])]
    .flatMap(([file, text]) => (file.startsWith('domain/catalogue/') ? [] : [text]))
    .join('\n')
  const runbooks = new Set(alertRules(root).map(({ runbook }) => runbook))
  const unused = Object.keys(catalogue).filter((code) => !all.includes(`'${code}'`) && !runbooks.has(runbookOf(code)))
  expect(unused).toEqual([])
})

test('each code is in one area of the catalogue only', async () => {
  const modules = await Promise.all(areas.map((file) => import(join(root, 'domain/catalogue', file)) as Promise<Record<string, object>>))
  const codes = modules.flatMap((rows) => Object.values(rows).flatMap(Object.keys))
  expect(codes.toSorted()).toEqual(Object.keys(catalogue).toSorted())
})

test.each(Object.entries(catalogue))('%s has a title that is a sentence and a remedy', (code, { title, remedy }) => {
  expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/)
  expect(title).toMatch(/^[A-Z].*\w{3}.*\.$/)
  expect(remedy).toMatch(/\w{4}/)
})

/**
 * The compiler demands a code for the logger's warn and error (observability/logger.ts), but not for the SDK's `log` or
 * the console.
 */
test('only workflows of transfers log without the logger, through the SDK', () => {
  const other = /\bconsole\.(?:warn|error)\(|import \{[^}]*\blog\b[^}]*\} from '@temporalio\//
  const past = [...sources].filter(([, text]) => other.test(text)).map(([file]) => file)
  expect(past).toEqual(['workflows/transfer/transfer-run.ts'])
})
