import { mkdirSync, readdirSync, readFileSync, writeFileSync, chmodSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { contentsOf } from '../../scripts/image/contents.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
/** Folders that the build does not copy as a whole. The build installs `node_modules` itself. */
const others = ['deploy', 'docs', 'lab', 'node_modules', 'test']

describe('the Dockerfile', () => {
  test('the build of the Dockerfile gets every folder of the sources, and otherwise only what it names', () => {
    const [first, ...given] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(first).toBe('*')
    const rooms = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    const sources = rooms.filter(
      ({ name }) =>
        !others.includes(name) && readdirSync(join(root, name), { recursive: true }).some((file) => String(file).endsWith('.ts')),
    )
    expect(sources.map(({ name }) => `!${name}`).filter((line) => !given.includes(line))).toEqual([])
    for (const name of others) expect(given).not.toContain(`!${name}`)
  })

  test('the Dockerfile makes an image from an empty base, without root as its user and without secrets', () => {
    const last =
      read('Dockerfile')
        .split(/^FROM /m)
        .at(-1) ?? ''
    expect(last).toMatch(/^scratch\n/)
    expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
    expect(last).toContain(`\nARG BUILD_ID=${version}\n`)
    expect(last).not.toMatch(/^(RUN|ADD)\b/m)
    expect(read('Dockerfile')).not.toMatch(/PASSWORD|SECRET|TOKEN|PRIVATE/)
  })
})

describe('the base of the Dockerfile', () => {
  test('the base image has the Debian packages that the image takes from it, unlike the slim ones of node', () => {
    expect(read('Dockerfile')).toMatch(/^ARG BASE=docker\.io\/library\/node:\d+-bookworm(@sha256:[0-9a-f]{64})?$/m)
  })
})

describe('the contents of an image', () => {
  test('the contents of an image are counted and found', async () => {
    const folder = temporaryFolder()
    const put = (path: string, text: string) => {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    put('usr/bin/node', 'node')
    put('bin/busybox', 'x')
    put('app/node_modules/.bin/esbuild', 'x')
    put('usr/bin/mount', 'x')
    chmodSync(join(folder, 'usr/bin/mount'), 0o4755)
    put('app/node_modules/@a/b/package.json', '{"name":"@a/b","version":"1.2.3"}')
    put('app/node_modules/@a/b/lib/package.json', '{"type":"module"}')
    put('var/lib/dpkg/status.d/libc6', 'Package: libc6')
    const found = await contentsOf(folder)
    expect(found).toMatchObject({ files: 7, npm: ['@a/b@1.2.3'], debian: ['libc6'] })
    expect(found.unwanted.toSorted()).toEqual(['/app/node_modules/.bin/esbuild', '/bin/busybox', '/usr/bin/mount'])
  })
})
