import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Only code whose author may write to node_modules is found here, and such an author may change the packages anyway. */
const cache = join(root, 'node_modules/.cache/portage/code')
/** Compiled versions of a week are kept: several checkouts may share one node_modules, and a process loads parts of its own late. */
const keptMs = 7 * 86_400_000
/** Packages with native parts or files of their own, or that few commands load. */
const apart = /^(@temporalio|@grpc|@aws-sdk)\//
/** Folders whose code the process does not run. */
const others = new Set(['node_modules', 'bin', 'deploy', 'docs', 'lab', 'scripts', 'test'])

/** Path, size and time of every source file: reading them all would cost more than it saves. */
function sources() {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !others.has(entry.name))
    .flatMap(({ name }) => readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => join(name, file)))
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => {
      const { mtimeMs, size } = statSync(join(root, file))
      return `${file} ${mtimeMs} ${size}`
    })
}

function keyOf() {
  const given = ['bin/compiled.js', 'package.json', 'node_modules/.package-lock.json'].map((file) => readFileSync(join(root, file), 'utf8'))
  const parts = [root, process.version, ...given, ...sources()]
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}

/** The sources find their resources (protos, package.json) beside themselves, wherever the compiled code lies. */
const originalUrls = {
  name: 'original-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) }
    })
  },
}

/** Takes the packages that the sources import from packages.cjs, and writes down which they are. */
const fromPackages = (packages) => ({
  name: 'from-packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined
      if (isBuiltin(path) || apart.test(path)) return { path, external: true }
      packages.add(path)
      return { path, namespace: 'package' }
    })
    onResolve({ filter: /packages\.cjs$/ }, ({ path }) => ({ path, external: true }))
    onLoad({ filter: /./, namespace: 'package' }, ({ path }) => ({ contents: `module.exports = require('./packages.cjs')['${path}']` }))
  },
})

/**
 * While it is loaded, Node would read the source map of every file of a package that has one: 150 of them. Ours is taken when the file is compiled, before its
 * first line runs.
 */
const mapsOfSourcesOnly = {
  banner: { js: 'process.setSourceMapsEnabled(false)' },
  footer: { js: 'process.setSourceMapsEnabled(true)' },
}

/**
 * Two files, which load faster than a thousand: main.cjs with the sources, and packages.cjs, which has no source map since the first stack would pay for it. In
 * both, a module runs when it is first needed.
 */
async function compile(folder) {
  const { build } = await import('esbuild')
  const made = `${folder}.${randomUUID()}`
  const packages = new Set()
  // Parts that are imported late are required late, from the same file.
  const common = {
    bundle: true,
    platform: 'node',
    format: 'cjs',
    supported: { 'dynamic-import': false },
    target: 'node20',
    logLevel: 'silent',
  }
  await build({
    ...common,
    entryPoints: [join(root, 'cli/main.ts')],
    outfile: join(made, 'main.cjs'),
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    ...mapsOfSourcesOnly,
    plugins: [originalUrls, fromPackages(packages)],
  })
  const getters = [...packages].map((name) => `get '${name}'() { return require('${name}') }`)
  await build({
    ...common,
    stdin: { contents: `module.exports = { ${getters.join(', ')} }`, resolveDir: root },
    outfile: join(made, 'packages.cjs'),
    minifyWhitespace: true,
  })
  try {
    renameSync(made, folder)
  } catch (error) {
    // Another process was quicker.
    rmSync(made, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Path of the compiled `cli/main.ts`: most of a command's time is the loading of 1,000 files. Compiled at the first start after a source or a
 * package changed (half a second). Undefined where that is not possible (node_modules cannot be written, esbuild is missing): tsx runs the sources then.
 */
export async function compiledMain() {
  try {
    const folder = join(cache, keyOf())
    if (!existsSync(folder)) {
      mkdirSync(cache, { recursive: true })
      await compile(folder)
    }
    return join(folder, 'main.cjs')
  } catch {
    return undefined
  }
}
