import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { compiledMain } from '../../bin/compiled.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'portage-launcher-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the sources are compiled once, until one of them changes', async () => {
  const first = await compiledMain()
  expect(first).toMatch(/\/node_modules\/\.cache\/portage\/code\/[0-9a-f]{32}\/main\.cjs$/)
  expect(existsSync(first ?? '')).toBe(true)
  expect(await compiledMain()).toBe(first)
})

test('a stack of the compiled code names the source', async () => {
  const script = `process.setSourceMapsEnabled(true); const { main } = require(${JSON.stringify(await compiledMain())})
    main([], { get stdout() { throw new Error('no output') }, get stderr() { throw new Error('no output') } }).catch((error) => console.log(error.stack))`
  const { stdout } = await run(process.execPath, ['-e', script])
  expect(stdout).toMatch(/\/cli\/main\.ts:\d+/)
})

test('without esbuild there is no compiled code, and the launcher says so to itself', async () => {
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  const copy = (await import(pathToFileURL(join(folder, 'bin/compiled.js')).href)) as { compiledMain(): Promise<string | undefined> }
  expect(await copy.compiledMain()).toBeUndefined()
})
