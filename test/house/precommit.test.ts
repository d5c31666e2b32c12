import { expect, test } from 'vitest'
import { testsOf } from '../../scripts/precommit.ts'

const folders = new Set(['test/lanes', 'test/lanes/ledger', 'test/domain'])
const exists = (path: string) => folders.has(path)

test('before a commit the unit tests of the folders run that mirror the changed files', () => {
  const files = ['lanes/ledger/a.ts', 'lanes/batch/b.ts', 'domain/c.ts', 'domain/d.ts', 'docs/e.md', 'bin/f.ts', 'knip.json']
  expect(testsOf(files, exists)).toEqual(['test/domain', 'test/lanes', 'test/lanes/ledger'])
})

test('before a commit a changed unit test runs, and no test that starts servers', () => {
  const files = ['test/lanes/a.test.ts', 'test/lanes/b.integration.test.ts', 'test/e2e/c.test.ts', 'test/helpers/d.ts']
  expect(testsOf(files, exists)).toEqual(['test/lanes/a.test.ts'])
})
