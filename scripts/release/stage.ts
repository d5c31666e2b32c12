import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileAll, compileKit } from '../../bin/compile.js'
import { buildPage } from '../../bin/page.js'
import { run } from '../../lab/devnet/run.ts'
import { silentLogger } from '../../observability/logger.ts'
import { keptCode, workflowBundle } from '../../workers/process/bundle.ts'
import { emitPluginTypes, pluginTypes } from './plugin-types.ts'
import { allowedLicences, isAllowed, type PackageAt, packagesOf, withDependencies } from './packages.ts'

/** A release as a folder, from which `npm pack` makes a tarball. */
export interface Staged {
  readonly folder: string
  readonly name: string
  readonly version: string
  /** Packages in the tarball, compiled together with Portage or as files of their own. */
  readonly inside: readonly PackageAt[]
  readonly installed: readonly PackageAt[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const { resolve } = createRequire(import.meta.url)

/**
 * npm installs these with the release: core-bridge is too large to ship, and `portage/plugin` refers to zod's types.
 */
const installed = ['@temporalio/core-bridge', 'zod']
/**
 * The native signing library and its loader, without scripts and dependencies. npm would run the install script of
 * secp256k1, and install `elliptic`, which has an open advisory and is never loaded (chains/crypto/secp256k1.ts).
 */
const shipped = [
  { name: 'secp256k1', files: ['bindings.js', 'lib', 'prebuilds', 'LICENSE'] },
  { name: 'node-gyp-build', files: ['index.js', 'node-gyp-build.js', 'LICENSE'] },
]
const texts = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'config/portage.example.yaml', 'config/portage.schema.json']
/** Files and folders that a module reads at run time from its own folder. */
const resources = ['intake/spy/protos', 'bridges/packages/template', 'bridges/packages/thread.mjs']

/** Makes the folder of a release. Throws Error for a licence that is not allowed. */
export async function stage(folder: string): Promise<Staged> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'bin'), { recursive: true })
  const files = await compileAll(join(folder, 'dist'), `require('node:path').join(__dirname, '..')`)
  for (const traced of [false, true]) {
    const { code } = await workflowBundle(silentLogger(), traced)
    await writeFile(join(folder, 'dist', traced ? 'workflows-traced.js' : 'workflows.js'), keptCode(withPlainPlaces(code)))
  }
  const ofPage = await buildPage(join(folder, 'dist/page'))
  const ofKit = await compileKit(join(folder, 'dist/plugin.js'))
  await emitPluginTypes(join(folder, 'dist/types'))
  for (const name of ['portage.js', 'compiled.js', 'import.cjs']) await cp(join(root, 'bin', name), join(folder, 'bin', name))
  for (const name of [...texts, ...resources]) await cp(join(root, name), join(folder, name), { recursive: true })
  for (const one of shipped) await ship(one, folder)
  const inside = [
    ...packagesOf([...files, ...ofPage, ...ofKit]),
    ...withDependencies(['@temporalio/workflow'], root),
    ...shipped.map(({ name }) => packagesOf([resolve(`${name}/package.json`)])).flat(),
  ]
  const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const parts = { inside: unique(inside), installed: withDependencies(installed, root) }
  const refused = [...parts.inside, ...parts.installed].filter(({ license }) => !isAllowed(license))
  if (refused.length > 0)
    throw new Error(
      `Licences that are not on the list (${[...allowedLicences].join(', ')}): ${refused.map(({ name, license }) => `${name} ${license}`).join(', ')}`,
    )
  await writeFile(join(folder, 'THIRD-PARTY.txt'), await notices(parts.inside))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest(own, parts.installed), undefined, 2)}\n`)
  return { folder, name: own.name, version: own.version, ...parts }
}

/** Makes the tarball of a release in the folder `out`. Throws the errors of `stage` and `npm`. */
export async function pack(out: string): Promise<Staged & { readonly tarball: string }> {
  await mkdir(out, { recursive: true })
  const staged = await stage(join(out, 'package'))
  await npm(['pack', staged.folder, '--pack-destination', out, '--ignore-scripts'], out)
  return { ...staged, tarball: join(out, `${staged.name}-${staged.version}.tgz`) }
}

/** Returns npm's output. Throws Error if npm fails or takes longer than `timeoutMs`. */
export async function npm(args: readonly string[], cwd: string, timeoutMs = 600_000): Promise<string> {
  const { code, stdout, stderr, timedOut } = await run('npm', ['--prefix', cwd, '--loglevel=error', ...args], { timeoutMs })
  if (timedOut) throw new Error(`npm ${args[0]} did not finish within ${timeoutMs / 1000} s`)
  if (code !== 0) throw new Error(`npm ${args[0]} ended with exit code ${code}: ${(stderr.trim() || stdout.trim()).slice(-500)}`)
  return stdout
}

/** Source paths become relative to the repository's root or begin with node_modules/, as in stacks of main.cjs. */
function withPlainPlaces(code: string): string {
  return code.replace(/(sourceMappingURL=data:[^,]*;base64,)([\w+/=]+)/, (_, start: string, text: string) => {
    const map = JSON.parse(Buffer.from(text, 'base64').toString()) as { sources: string[] }
    const sources = map.sources.map((source) =>
      source.startsWith(root) ? source.slice(root.length) : source.replace(/^.*?(?=node_modules\/)/, ''),
    )
    return `${start}${Buffer.from(JSON.stringify({ ...map, sources })).toString('base64')}`
  })
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
}

function manifest({ name, version, description, license, engines, bin }: Manifest, packages: readonly PackageAt[]) {
  const versionOf = (wanted: string) => packages.find((one) => one.name === wanted)?.version
  return {
    ...{ name, version, description, license, type: 'module', engines, bin },
    exports: { './plugin': { types: `./dist/types/${pluginTypes}`, default: './dist/plugin.js' }, './package.json': './package.json' },
    dependencies: Object.fromEntries([...installed.map((one) => [one, versionOf(one)]), ...shipped.map((one) => [one.name, '*'])]),
    bundleDependencies: shipped.map((one) => one.name),
  }
}

/** Copies a package into the tarball's node_modules, without dependencies and scripts. */
async function ship({ name, files }: (typeof shipped)[number], folder: string): Promise<void> {
  const from = dirname(resolve(`${name}/package.json`))
  const to = join(folder, 'node_modules', name)
  await mkdir(to, { recursive: true })
  for (const file of files) await cp(join(from, file), join(to, file), { recursive: true })
  const { version, license, main } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8')) as Record<string, unknown>
  await writeFile(join(to, 'package.json'), `${JSON.stringify({ name, version, license, main }, undefined, 2)}\n`)
}

function unique(packages: readonly PackageAt[]): PackageAt[] {
  return [...new Map(packages.map((one) => [one.folder, one])).values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The licence texts of the packages, because most licences require that a copy contains them. */
async function notices(packages: readonly PackageAt[]): Promise<string> {
  const parts = packages.map(async ({ name, version, license, folder }) => {
    const names = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    const found = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8').catch(() => '')))
    return `${name} ${version} (${license})\n\n${found.map((text) => text.trim()).join('\n\n')}\n`
  })
  return `Portage contains these packages.\n\n${(await Promise.all(parts)).join(`\n${'-'.repeat(80)}\n\n`)}`
}
