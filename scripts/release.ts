import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changesOf } from './release/changelog.ts'
import { releaseSbom, type Sbom } from './release/sbom.ts'
import { npm, pack } from './release/stage.ts'
import { setVersion } from './release/version.ts'

const help = `Usage: npm run release -- [--version <x.y.z>] [--out <folder>]

Makes a release in a folder of its own: the tarball that npm installs, its SBOM (CycloneDX), what changed, checksums of all. docs/develop/releasing.md says how it is published.

Options:
  --version <x.y.z>  writes the version into package.json, package-lock.json and the files of the image, Compose and the Helm chart, and what is unreleased in
                     CHANGELOG.md under it; the same version once more changes nothing; without it, what is there is packed
  --out <folder>     default: .portage/release
  --help             this text
`

const root = fileURLToPath(new URL('..', import.meta.url))
const inRoot = (name: string) => join(root, name)

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { version: { type: 'string' }, out: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) return void process.stdout.write(help)
  if (values.version !== undefined) await setVersion(root, values.version, new Date().toISOString().slice(0, 10))
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
    [basename(tarball), ...Object.keys(files)].map(async (file) => {
      const bytes = await readFile(join(out, file))
      return `${createHash('sha256').update(bytes).digest('hex')}  ${file}`
    }),
  )
  await writeFile(join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`)
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
