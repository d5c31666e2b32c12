import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { changesOf, released } from '../../scripts/release/changelog.ts'
import { imagesIn, pinImages } from '../../scripts/release/images.ts'
import { completedPackages, missingPackages } from '../../scripts/release/lock.ts'
import { allowedLicences, isAllowed } from '../../scripts/release/packages.ts'
import { provenanceOf } from '../../scripts/release/provenance.ts'
import { releaseSbom, type Sbom } from '../../scripts/release/sbom.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))

interface Locked {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: true
  readonly optional?: true
  readonly hasInstallScript?: true
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
const locked = Object.entries(packages).filter(([place]) => place !== '')
const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

describe('the lock file', () => {
  /** Whether npm installs the package on a Linux with glibc, which the image and CI use. */
  const isForLinux = ({ os, cpu, libc }: Locked, arch: string) =>
    os?.includes('linux') !== false && cpu?.includes(arch) !== false && libc?.includes('glibc') !== false

  test('the lock file has a digest of every package of the image and CI; others without one are optional', () => {
    const bare = locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    const isInstalled = (one: Locked) => isForLinux(one, 'x64') || (!one.dev && isForLinux(one, 'arm64'))
    expect(bare.filter(([, one]) => isInstalled(one) || !one.optional).map(([place]) => place)).toEqual([])
    expect(isForLinux(packages['node_modules/@rollup/rollup-linux-x64-gnu']!, 'x64')).toBe(true)
  })

  test('the lock file has every optional package of every platform, so that npm ci accepts it', () => {
    expect(missingPackages(packages).map(({ name }) => name)).toEqual([])
    const { 'node_modules/@rollup/rollup-win32-x64-msvc': removed, ...others } = packages
    expect(missingPackages(others)).toMatchObject([{ name: '@rollup/rollup-win32-x64-msvc', version: removed!.version }])
  })

  test('npm run lock completes the lock file as npm writes it, without a digest', () => {
    const names = ['@rollup/rollup-win32-x64-msvc', '@oxfmt/binding-linux-arm64-musl', '@oxlint-tsgolint/darwin-arm64']
    const places = names.map((name) => `node_modules/${name}`)
    const others = Object.fromEntries(Object.entries(packages).filter(([place]) => !places.includes(place)))
    const completed = Object.entries(completedPackages(others))
    expect(completed.map(([place]) => place)).toEqual(Object.keys(packages))
    for (const place of places) {
      const { integrity: _, ...rest } = packages[place]!
      expect(completed.find(([one]) => one === place)?.[1]).toEqual(rest)
    }
  })

  test('the lock file names no registry', () => {
    expect(locked.filter(([, one]) => 'resolved' in one).map(([place]) => place)).toEqual([])
  })

  test('set-up and image install exactly what the lock file has', () => {
    for (const file of ['scripts/setup.mjs', 'Dockerfile']) {
      const text = readFileSync(join(root, file), 'utf8')
      expect(text).not.toMatch(/npm install|'npm', \['install'/)
      expect(text).toMatch(/RUN npm ci|'npm', \['ci'/)
    }
  })

  test('only packages that package.json names have install scripts in the lock file, allowed or not', () => {
    const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
    const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place))
    expect(scripts.filter((name) => !(name in allowScripts))).toEqual([])
    expect(scripts).toContain('esbuild')
  })

  test('the lock file has only packages whose licence is on the list', () => {
    // Packages that state their licence only in their files (MIT, Apache-2.0, Unlicense), where npm does not look.
    const saidElsewhere = new Set(['memorystream', '@wormhole-foundation/sdk-definitions', 'unionfs'])
    // The tests use axe-core, but Portage neither ships nor installs it. Its licence has terms only for redistribution.
    const isTool = (place: string, { dev }: Locked) => dev === true && nameOf(place) === 'axe-core'
    const refused = locked.filter(
      ([place, found]) => !isAllowed(found.license ?? '') && !saidElsewhere.has(nameOf(place)) && !isTool(place, found),
    )
    expect(refused.map(([place, { license }]) => `${place}: ${license ?? 'none'}`)).toEqual([])
  })
})

describe('licences', () => {
  test('a licence is allowed by all parts of AND, or by one part of OR', () => {
    expect(allowedLicences.has('MIT')).toBe(true)
    expect(isAllowed('Apache-2.0 AND MIT')).toBe(true)
    expect(isAllowed('Apache-2.0 AND GPL-3.0-only')).toBe(false)
    expect(isAllowed('(GPL-3.0-only OR MIT)')).toBe(true)
    expect(isAllowed('unknown')).toBe(false)
  })
})

describe('the changelog of a release', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 (2026-01-02)\n\n- old\n'

  test('the changelog of a release has the unreleased changes under its version', () => {
    const next = released(text, '0.2.0', '2026-03-04')
    expect(next).toBe('# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-03-04)\n\n- new\n\n## 0.1.0 (2026-01-02)\n\n- old\n')
    expect([changesOf(next, '0.2.0'), changesOf(next, '0.1.0'), changesOf(next, 'Unreleased'), changesOf(next, '0.3.0')]).toEqual([
      ...['- new', '- old', '', ''],
    ])
  })

  test('a changelog entry is refused for an existing version, and without changes', () => {
    expect(() => released(text, '0.1.0', '2026-03-04')).toThrow('has 0.1.0 already')
    expect(() => released(released(text, '0.2.0', '2026-03-04'), '0.3.0', '2026-03-05')).toThrow('has no text under')
  })

  test('a changelog has entries under Unreleased, or under a version in the repository', () => {
    const { version } = read('package.json') as { version: string }
    const ours = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    expect(changesOf(ours, 'Unreleased') || changesOf(ours, version)).not.toBe('')
  })
})

describe('the SBOM of a release', () => {
  const component = (name: string, version = '1.0.0') => ({ 'bom-ref': `${name}@${version}`, name, version })
  const all: Sbom = {
    bomFormat: 'CycloneDX',
    metadata: { timestamp: '2026-01-02T03:04:05Z', component: component('a-folder') },
    components: [component('@a/compiled'), component('installed'), component('a-tool')],
    dependencies: [
      { ref: 'a-folder@1.0.0', dependsOn: ['@a/compiled@1.0.0', 'a-tool@1.0.0'] },
      { ref: 'a-tool@1.0.0', dependsOn: ['installed@1.0.0'] },
    ],
  }
  const at = (name: string, version = '1.0.0') => ({ name, version, license: 'MIT', folder: name })
  const release = { folder: '', name: 'portage', version: '2.0.0' }

  test('the SBOM has compiled and installed packages, and no tools', () => {
    const sbom = releaseSbom(all, { ...release, inside: [at('@a/compiled')], installed: [at('installed'), at('@a/compiled')] })
    expect(sbom.components.map(({ name, properties }) => [name, properties?.[0]?.value])).toEqual([
      ['@a/compiled', 'compiled, installed'],
      ['installed', 'installed'],
    ])
    expect(sbom.metadata.component).toMatchObject({ name: 'portage', version: '2.0.0' })
    expect(sbom.dependencies).toEqual([{ ref: 'a-folder@1.0.0', dependsOn: ['@a/compiled@1.0.0'] }])
  })

  test('the SBOM is refused if the lock file has another version of a compiled package', () => {
    expect(() => releaseSbom(all, { ...release, inside: [at('@a/compiled', '1.0.1')], installed: [] })).toThrow(
      'The lock file does not have @a/compiled@1.0.1',
    )
  })
})

describe('the images of a release', () => {
  const folder = temporaryFolder()
  const files = ['docker-compose.temporal.yml', 'Dockerfile']
  const texts = () => files.map((file) => readFileSync(join(folder, file), 'utf8'))
  const images = files.flatMap((file) => imagesIn(file, readFileSync(join(root, file), 'utf8')).map((image) => image.replace(/@.*/, '')))
  const lines = images.map((image, index) => `${image}@sha256:${String(index).padStart(64, 'a')}`)
  const copy = () => {
    for (const file of files) {
      const text = readFileSync(join(root, file), 'utf8')
      writeFileSync(join(folder, file), text.replaceAll(/@sha256:[0-9a-f]{64}$/gm, ''))
    }
  }

  test('a release is refused while an image has a tag but no digest', async () => {
    copy()
    const before = texts()
    expect(images).toEqual(expect.arrayContaining([expect.stringContaining('library/node:'), expect.stringContaining('postgres:')]))
    await expect(pinImages(folder, lines.slice(1).join('\n'))).rejects.toThrow(`Without a digest: ${images[0]}. Give --images`)
    await expect(pinImages(folder, 'postgres:16')).rejects.toThrow('postgres:16 is not image:tag@sha256:…')
    expect(texts()).toEqual(before)
  })

  test('digests are written to the Dockerfile and the Compose file, and replaced by those of a later release', async () => {
    copy()
    await pinImages(folder, `${lines.join('\n')}\n`)
    expect(files.flatMap((file, index) => imagesIn(file, texts()[index]!))).toEqual(lines)
    // Portage's own image is built from the Dockerfile, so it has no digest to pin.
    expect(texts()[0]).toContain('image: ${PORTAGE_IMAGE:-portage:')
    const newer = `${images[0]}@sha256:${'b'.repeat(64)}`
    await pinImages(folder, newer)
    expect(imagesIn(files[0]!, texts()[0]!)).toEqual([newer, ...lines.slice(1, -1)])
  })
})

test('the provenance of a release names its files, its commit and its lock file', () => {
  const build = { version: '2.0.0', commit: 'c0', changed: false, lock: 'f0', node: '24.0.0', builtAt: '2026-01-02T03:04:05Z' }
  expect(provenanceOf({ ...build, files: { 'portage-2.0.0.tgz': 'ab' } })).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
    subject: [{ name: 'portage-2.0.0.tgz', digest: { sha256: 'ab' } }],
    predicate: {
      buildDefinition: {
        resolvedDependencies: [{ digest: { gitCommit: 'c0' } }, { digest: { sha256: 'f0' } }, { annotations: { version: '24.0.0' } }],
      },
    },
  })
})
