import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { nodeBinary } from '../../scripts/node-binary.ts'
import { temporaryFolder } from '../helpers/folders.ts'

let cache: string
let folder: string
beforeEach(async () => {
  cache = temporaryFolder()
  folder = join(cache, 'node-24')
})

/** Replaces npm, and installs this script as Node. */
const installs = (script: string) => async (_: string, at: string) => {
  const name = `node-${process.platform}-${process.arch}`
  await mkdir(join(at, 'node_modules', name, 'bin'), { recursive: true })
  await writeFile(join(at, 'node_modules', name, 'bin/node'), script, { mode: 0o755 })
}
const good = '#!/bin/sh\necho v24.21.0\n'
const never = () => Promise.reject(new Error('npm was asked'))

test('a binary that runs is kept, and npm is asked once', async () => {
  const binary = await nodeBinary('24', folder, installs(good))
  expect(existsSync(binary)).toBe(true)
  expect(await nodeBinary('24', folder, never)).toBe(binary)
  expect(await readdir(cache)).toEqual(['node-24'])
})

test('half a binary, as a download that was killed left it, is replaced', async () => {
  await installs('')('24', folder)
  const binary = await nodeBinary('24', folder, installs(good))
  expect(dirname(binary).startsWith(folder)).toBe(true)
  expect(await nodeBinary('24', folder, never)).toBe(binary)
})

test('a binary that does not run here, or is of another version, or is missing, is not kept', async () => {
  await expect(nodeBinary('24', folder, installs('#!/bin/sh\necho GLIBC not found >&2\nexit 1\n'))).rejects.toThrow('GLIBC not found')
  await expect(nodeBinary('24', folder, installs('#!/bin/sh\necho v20.3.0\n'))).rejects.toThrow('does not run: v20.3.0')
  await expect(nodeBinary('24', folder, () => Promise.resolve())).rejects.toThrow('has no binary')
  expect(await readdir(cache)).toEqual([])
})
