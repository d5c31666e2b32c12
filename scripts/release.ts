import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { run } from '../lab/devnet/run.ts'
import { changesOf } from './release/changelog.ts'
import { pinImages } from './release/images.ts'
import { provenanceOf } from './release/provenance.ts'
import { releaseSbom, type Sbom } from './release/sbom.ts'
import { npm, pack } from './release/stage.ts'
import { setVersion } from './release/version.ts'

const help = `Usage: npm run release -- [--version <x.y.z> --images <file>] [--out <folder>]

Makes a release in a folder: the tarball that npm installs, its SBOM (CycloneDX), its provenance (SLSA), the list of changes,
and checksums of all files. docs/develop/releasing.md explains how to publish a release.

Options:
  --version <x.y.z>  write the version into package.json, package-lock.json and the files of the image, Compose and the Helm
                     chart, and move the unreleased part of CHANGELOG.md under the version. Repeating a version changes
                     nothing. Without this option, the release has the current version
  --images <file>    file with a line image:tag@sha256:… for each image of another project. The digests are written into
                     the Dockerfile and the Compose file. A version is refused if one of these images has no digest
  --out <folder>     folder of the release (default: .portage/release)
  --help             print this text
`

const root = fileURLToPath(new URL('..', import.meta.url))
const inRoot = (name: string) => join(root, name)

const sha256Of = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')

async function sources(): Promise<{ commit: string; changed: boolean }> {
  const [head, status] = await Promise.all([
    run('git', ['-C', root, 'rev-parse', 'HEAD']),
    run('git', ['-C', root, 'status', '--porcelain']),
  ])
  if (head.code !== 0) throw new Error(`The commit of the sources cannot be read: ${head.stderr.trim()}`)
  return { commit: head.stdout.trim(), changed: status.stdout.trim() !== '' }
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      version: { type: 'string' },
      images: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(help)
  if (values.version !== undefined) {
    await pinImages(root, values.images === undefined ? '' : await readFile(values.images, 'utf8'))
    await setVersion(root, values.version, new Date().toISOString().slice(0, 10))
  }
  const out = resolve(values.out ?? inRoot('.portage/release'))
  await rm(out, { recursive: true, force: true })
  const packed = await pack(out)
  const { name, version, inside, installed, tarball } = packed
  const all = JSON.parse(await npm(['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], root)) as Sbom
  const changes = await readFile(inRoot('CHANGELOG.md'), 'utf8').then((text) => changesOf(text, version) || changesOf(text, 'Unreleased'))
  const files: Record<string, string> = {
    [`${name}-${version}.cdx.json`]: `${JSON.stringify(releaseSbom(all, packed), undefined, 2)}\n`,
    [`${name}-${version}.changes.md`]: `${changes}\n`,
  }
  for (const [file, text] of Object.entries(files)) await writeFile(join(out, file), text)
  const sums = await Promise.all(
    [basename(tarball), ...Object.keys(files)].map(async (file) => [file, await sha256Of(join(out, file))] as const),
  )
  const provenance = `${name}-${version}.provenance.json`
  const made = { version, ...(await sources()), lock: await sha256Of(inRoot('package-lock.json')), node: process.versions.node }
  const build = { ...made, builtAt: new Date().toISOString(), files: Object.fromEntries(sums) }
  await writeFile(join(out, provenance), `${JSON.stringify(provenanceOf(build), undefined, 2)}\n`)
  const all256 = [...sums, [provenance, await sha256Of(join(out, provenance))]]
  await writeFile(join(out, 'SHA256SUMS'), all256.map(([file, sum]) => `${sum}  ${file}\n`).join(''))
  await rm(join(out, 'package'), { recursive: true })
  process.stderr.write(`${inside.length} packages are compiled in, ${installed.length} are installed with it.\n`)
  process.stdout.write(`${tarball}\n`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
