import { cpSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { setVersion } from '../../scripts/release/version.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version: old } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const next = '7.6.5'
const day = '2026-03-04'
let folder = ''
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

/** Matches lines with Portage's own version: its image, its chart, its packages. */
const ours = (version: string) =>
  new RegExp(`^(ARG BUILD_ID=|\\s*(tag|version|appVersion): ['"]?)${version.replaceAll('.', '\\.')}\\b|\\bportage:${version}\\b`, 'm')

describe('npm run release -- --version', () => {
  const tracked = execFileSync('git', ['ls-files', 'deploy', 'docs', 'config', 'Dockerfile', '*.yml', '*.md', '*.json', ':!test'], {
    cwd: root,
  })
    .toString()
    .split('\n')
    // lstat, because the chart has links to folders.
    .filter((file) => file !== '' && lstatSync(join(root, file)).isFile())

  beforeEach(() => {
    folder = temporaryFolder()
    for (const file of tracked) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      cpSync(join(root, file), join(folder, file))
    }
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- new\n')
  })

  test('npm run release -- --version writes the new version wherever the old one was', async () => {
    expect(tracked.filter((file) => ours(old).test(read(file)))).toEqual(
      expect.arrayContaining([
        'Dockerfile',
        'docker-compose.temporal.yml',
        'deploy/helm/portage/Chart.yaml',
        'deploy/helm/values/small.yaml',
      ]),
    )
    await setVersion(folder, next, day)
    expect(tracked.filter((file) => ours(old).test(read(file)))).toEqual([])
    expect(read('Dockerfile')).toContain(`\nARG BUILD_ID=${next}\n`)
    expect(read('docker-compose.temporal.yml')).toContain(`portage:${next}}`)
    expect(read('deploy/helm/portage/Chart.yaml')).toMatch(new RegExp(`^version: ${next}\n[^]*^appVersion: ${next}$`, 'm'))
    const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, { version: string }> }
    expect([JSON.parse(read('package.json')), lock, lock.packages['']]).toMatchObject([
      { version: next },
      { version: next },
      { version: next },
    ])
    expect(read('CHANGELOG.md')).toContain(`## ${next} (${day})\n\n- new`)
  })

  test('setting the same version again changes nothing, because a release may fail later', async () => {
    await setVersion(folder, next, day)
    const written = tracked.map(read)
    await setVersion(folder, next, '2026-03-05')
    expect(tracked.map(read)).toEqual(written)
  })

  test('setting a version continues after an interruption', async () => {
    const changes = read('CHANGELOG.md')
    await setVersion(folder, next, day)
    const written = tracked.map(read)
    writeFileSync(join(folder, 'CHANGELOG.md'), changes)
    cpSync(join(root, 'Dockerfile'), join(folder, 'Dockerfile'))
    await setVersion(folder, next, day)
    expect(tracked.map(read)).toEqual(written)
  })

  test('an older or malformed version, or one with new changes, is refused and nothing is written', async () => {
    await setVersion(folder, next, day)
    await setVersion(folder, next, day)
    writeFileSync(join(folder, 'CHANGELOG.md'), read('CHANGELOG.md').replace('## Unreleased', '## Unreleased\n\n- newer'))
    const written = tracked.map(read)
    await expect(setVersion(folder, next, day)).rejects.toThrow(`has ${next} already`)
    await expect(setVersion(folder, 'v8', day)).rejects.toThrow('is not a version like')
    expect(tracked.map(read)).toEqual(written)
    await setVersion(folder, '8.0.0', day)
    await expect(setVersion(folder, next, day)).rejects.toThrow(`has ${next} already`)
  })

  test('setting a version is refused if a file names no version', async () => {
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n')
    const written = tracked.map(read)
    await expect(setVersion(folder, next, day)).rejects.toThrow('Dockerfile has no version')
    expect(tracked.map(read)).toEqual(written)
  })
})
