import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { warningCatalogue } from '../../domain/catalogue/warnings.ts'
import { rooms } from '../../scripts/rooms.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of the product: not tests, tools, the lab and the page. */
const folders = new Set(
  rooms.filter(({ imports, path }) => imports !== 'all' && path !== 'page').map(({ path }) => path.split('/')[0] ?? ''),
)
const files = [...folders].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
    file.endsWith('.ts') ? [`${folder}/${file}`] : [],
  ),
)
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const codes = Object.keys(warningCatalogue)

test('every code of the log is used, and is no code of an error', () => {
  expect(sources.size).toBeGreaterThan(400)
  const all = [...sources].flatMap(([file, text]) => (file === 'domain/catalogue/warnings.ts' ? [] : [text])).join('\n')
  expect(codes.filter((code) => !all.includes(`'${code}'`))).toEqual([])
  expect(codes.filter((code) => code in errorCatalogue)).toEqual([])
})

test('each says what to do', () => {
  for (const [code, remedy] of Object.entries(warningCatalogue)) expect([code, remedy]).toEqual([code, expect.stringMatching(/\w{4}/)])
})

/** The compiler holds that a line of our logger at warn or error has a code (observability/logger.ts). What goes past that logger has none. */
test('no warning goes past the logger: the workflows of transfers have the one that the SDK passes on', () => {
  const other = /\bconsole\.(?:warn|error)\(|import \{[^}]*\blog\b[^}]*\} from '@temporalio\//
  const past = [...sources].filter(([, text]) => other.test(text)).map(([file]) => file)
  expect(past).toEqual(['workflows/transfer/log.ts'])
})
