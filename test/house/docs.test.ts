import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../domain/catalogue/catalogue.ts'
import { sendErrorClasses } from '../../domain/lane/send-errors.ts'
import { transferStates } from '../../domain/transfer/transfer.ts'
import { metricDefinitions } from '../../observability/metrics.ts'
import { between, generatedDocs, staleDocs } from '../../scripts/docs.ts'
import { describeRunbooks } from '../../scripts/docs/runbooks.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const keysOf = (document: string) => [...document.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key = '']) => key)

describe('generated docs', () => {
  test('every generated file is up to date (else: npm run docs)', async () => {
    expect(await staleDocs(root)).toEqual([])
    expect([...(await generatedDocs(root)).keys()]).toEqual(expect.arrayContaining(['docs/reference/errors.md', 'docs/reference/api.md']))
  })

  test('docs/runbooks has a page for every code that needs one, and no other page', () => {
    const runbooks = readdirSync(join(root, 'docs/runbooks')).map((file) => `docs/runbooks/${file}`)
    expect([...describeRunbooks(root).keys()].toSorted()).toEqual(runbooks.toSorted())
  })

  test('a page without the marks of its generated part is an error', () => {
    expect(() => between('no marks here', 'part')).toThrow(/needs the marks/)
  })

  test('docs/reference/errors.md has every code of the catalogue and no other', () => {
    expect(keysOf(text('docs/reference/errors.md')).sort()).toEqual(Object.keys(catalogue).sort())
  })

  test('every metric is documented, and no documented metric is gone', () => {
    const names = Object.values(metricDefinitions).map(({ name }) => name)
    expect(keysOf(text('docs/reference/metrics.md')).sort()).toEqual(names.sort())
  })

  test('every state is in the lifecycle, with its transitions drawn', () => {
    const document = text('docs/concepts/lifecycle.md')
    expect(keysOf(document)).toEqual(expect.arrayContaining([...transferStates]))
    expect(document).toContain('admitting --> broadcasting')
  })

  test('every class of node error has a row with its reaction', () => {
    expect(sendErrorClasses.length).toBeGreaterThan(10)
    const section = text('docs/ARCHITECTURE.md').split('## Answers of nodes')[1]?.split('\n## ')[0] ?? ''
    expect(keysOf(section).sort()).toEqual(sendErrorClasses.toSorted())
  })
})
