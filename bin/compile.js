import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { resolve } = createRequire(import.meta.url)
const fromWorker = (name) => resolve(name, { paths: [resolve('@temporalio/worker/package.json')] })

/** Replaces `import.meta.url` with the URL of the source file, so that compiled code finds protos and package.json. */
const originalUrls = {
  name: 'original-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const place = JSON.stringify(relative(root, path).replaceAll('\\', '/'))
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', `new URL(${place}, __portageRoot).href`) }
    })
  },
}
const rootUrl = `const __portageRoot = require('node:url').pathToFileURL(require('./root.cjs') + '/');`

const aws = /^@aws-sdk\/|^@smithy\//

/** Packages for tracing get a file of their own, which is loaded only by processes that send traces. */
const tracing = /^@opentelemetry\/|^@temporalio\/interceptors-opentelemetry(\/|$)/

/**
 * Packages for output to a terminal. They are loaded at the first call of a function, because only a few commands need
 * them.
 */
const late = new Set(['string-width', 'log-update'])

/**
 * Returns a loader that takes modules from the compiled file `file`. An ECMAScript module remains an ECMAScript module,
 * because importers of CommonJS would get the whole module as the default export.
 */
const partOf =
  (file) =>
  async ({ path }) => {
    const part = `require('${file}')['${path}']`
    if (!isModule(path)) return { contents: `module.exports = ${part}` }
    const names = Object.keys(await import(path))
    const [load, value] = late.has(path)
      ? [`const part = () => ${part}`, (name) => `(...args) => part().${name}(...args)`]
      : [`const part = ${part}`, (name) => `part.${name}`]
    const exported = names.map((name) => `export ${name === 'default' ? 'default' : `const ${name} =`} ${value(name)}`)
    return { contents: [load, ...exported].join('\n') }
  }

function isModule(name) {
  const file = resolve(name)
  if (!file.endsWith('.js')) return file.endsWith('.mjs')
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const described = join(folder, 'package.json')
    if (existsSync(described)) return JSON.parse(readFileSync(described, 'utf8')).type === 'module'
  }
  return false
}

/** Redirects packages: those for tracing to otlp.cjs, AWS to aws.cjs, others to packages.cjs. Records their names. */
const fromPackages = ({ packages, ofTracing, ofAws }) => ({
  name: 'from-packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined
      if (isBuiltin(path)) return { path, external: true }
      const [names, namespace] = aws.test(path) ? [ofAws, 'aws'] : tracing.test(path) ? [ofTracing, 'tracing'] : [packages, 'package']
      names.add(path)
      return { path, namespace }
    })
    onResolve({ filter: /(packages|root|otlp|aws)\.cjs$/ }, ({ path }) => ({ path, external: true }))
    onLoad({ filter: /./, namespace: 'package' }, partOf('./packages.cjs'))
    onLoad({ filter: /./, namespace: 'tracing' }, partOf('./otlp.cjs'))
    onLoad({ filter: /./, namespace: 'aws' }, partOf('./aws.cjs'))
  },
})

/** Makes otlp.cjs use the copies of Temporal's packages in packages.cjs, so that no package is loaded twice. */
const sharing = (packages) => ({
  name: 'sharing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@temporalio\/(common|client|activity|worker)$/ }, ({ path }) =>
      packages.has(path) ? { path, namespace: 'package' } : undefined,
    )
    onResolve({ filter: /packages\.cjs$/ }, ({ path }) => ({ path, external: true }))
    onLoad({ filter: /./, namespace: 'package' }, partOf('./packages.cjs'))
  },
})

/** Edits in files of packages: `from` becomes `to`. A missing `from` throws, because the package has changed. */
const edits = [
  {
    file: /@temporalio\/worker\/lib\/workflow\/threaded-vm\.js$/,
    from: `require.resolve('./workflow-worker-thread')`,
    to: `require('node:path').join(__dirname, 'workflow-thread.cjs')`,
  },
  {
    file: /@temporalio\/core-bridge\/common\.js$/,
    from: `path.resolve(__dirname, 'releases'`,
    to: `path.resolve(path.dirname(require.resolve('@temporalio/core-bridge/package.json')), 'releases'`,
  },
]

/** Loads the SDK's bundler, and so webpack, only when workflows are bundled. Usually a bundle exists (bundle.ts). */
const bundlerLater = `
const real = () => require('@temporalio/worker/lib/workflow/bundler')
module.exports = {
  defaultWorkflowInterceptorModules: [],
  get bundleWorkflowCode() { return real().bundleWorkflowCode },
  get WorkflowCodeBundler() { return real().WorkflowCodeBundler },
}`

const packageEdits = {
  name: 'package-edits',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@temporalio\/(worker\/lib\/workflow\/bundler|core-bridge\/package\.json)$/ }, ({ path }) => ({
      path,
      external: true,
    }))
    for (const { file, from, to } of edits)
      onLoad({ filter: file }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!text.includes(from)) throw new Error(`${path} does not say ${from}`)
        return { contents: text.replaceAll(from, to), loader: 'js' }
      })
    onLoad({ filter: /@temporalio\/worker\/lib\/workflow\/bundler\.js$/ }, () => ({ contents: bundlerLater, loader: 'js' }))
    onLoad({ filter: protoModule }, ({ path }) => ({ contents: protoParts(path).program, loader: 'js' }))
  },
}

const protoModule = /@temporalio\/proto\/protos\/json-module\.js$/

/** Moves Temporal's message definitions (1 MB) to a JSON file, because parsing JSON is faster than running code. */
function protoParts(path) {
  const text = readFileSync(path, 'utf8')
  const [from, to] = [text.indexOf('.addJSON(') + '.addJSON('.length, text.lastIndexOf(');')]
  const read = `JSON.parse(require('node:fs').readFileSync(require('node:path').join(__dirname, 'proto.json'), 'utf8'))`
  return { program: `${text.slice(0, from)}${read}${text.slice(to)}`, json: JSON.stringify(JSON.parse(text.slice(from, to))) }
}

/** Makes the source paths in a source map relative to the root. From esbuild, they are relative to the build folder. */
function placeMap(path) {
  const map = JSON.parse(readFileSync(path, 'utf8'))
  // A source such as `package:ethers` is not a file, so its name does not change.
  const placeOf = (source) => /\b\w+:.*/.exec(source)?.[0] ?? relative(root, join(path, '..', source)).replaceAll('\\', '/')
  const sources = map.sources.map(placeOf)
  writeFileSync(path, JSON.stringify({ ...map, sources }))
}

/** Escapes characters outside ASCII in comments and regular expressions, because load.cjs reads files as ASCII. */
function keepAscii(path) {
  const text = readFileSync(path, 'utf8')
  const escaped = text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (escaped !== text) writeFileSync(path, escaped)
}

/** `dynamic-import: false` turns dynamic imports into calls of `require`, which still run only when reached. */
const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  supported: { 'dynamic-import': false },
  target: 'node20',
  logLevel: 'silent',
  metafile: true,
}
const ofPackages = { ...common, minifyWhitespace: true, plugins: [packageEdits], external: ['*.node'], loader: { '.node': 'empty' } }

/** Compiles the sources into main.cjs. Resolves with the names of the imported packages. */
async function compileSources(folder) {
  const { build } = await import('esbuild')
  const found = { packages: new Set(), ofTracing: new Set(), ofAws: new Set() }
  await build({
    ...common,
    entryPoints: [join(root, 'cli/main.ts')],
    outfile: join(folder, 'main.cjs'),
    keepNames: true,
    sourcemap: 'external',
    sourcesContent: false,
    banner: { js: rootUrl },
    plugins: [originalUrls, fromPackages(found)],
  })
  placeMap(join(folder, 'main.cjs.map'))
  keepAscii(join(folder, 'main.cjs'))
  return Object.fromEntries(Object.entries(found).map(([kind, names]) => [kind, [...names].toSorted((a, b) => (a < b ? -1 : 1))]))
}

/** Compiles packages into packages.cjs, aws.cjs and otlp.cjs, and the threads of workflows into thread.cjs. */
async function compilePackages(folder, { packages, ofTracing, ofAws }) {
  const { build } = await import('esbuild')
  const all = (names) => `module.exports = { ${names.map((name) => `get '${name}'() { return require('${name}') }`).join(', ')} }`
  const entry = (contents, name, more = {}) =>
    build({ ...ofPackages, ...more, stdin: { contents, resolveDir: root }, outfile: join(folder, name) })
  const builds = await Promise.all([
    entry(all(packages), 'packages.cjs'),
    entry(all(ofTracing), 'otlp.cjs', { plugins: [sharing(new Set(packages)), packageEdits] }),
    entry(all(ofAws), 'aws.cjs'),
    entry(`require('@temporalio/worker/lib/workflow/workflow-worker-thread')`, 'thread.cjs'),
  ])
  for (const name of ['packages.cjs', 'otlp.cjs', 'aws.cjs', 'thread.cjs']) keepAscii(join(folder, name))
  writeFileSync(join(folder, 'workflow-thread.cjs'), `require('./load.cjs').loadThread()\n`)
  writeFileSync(join(folder, 'proto.json'), protoParts(fromWorker('@temporalio/proto/protos/json-module.js')).json)
  // The package `source-map` reads this file from the folder of its code, which is this folder now.
  copyFileSync(fromWorker('source-map/lib/mappings.wasm'), join(folder, 'mappings.wasm'))
  return [...new Set(builds.flatMap(({ metafile }) => Object.keys(metafile.inputs)))]
}

/** Creates a folder that `fill` writes, atomically: concurrent processes see the whole folder or none. */
export async function makeFolder(folder, fill) {
  const made = `${folder}.${randomUUID()}`
  const result = await fill(made)
  try {
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return result
}

/** Adds load.cjs and its root.cjs: expressions for the folders of package.json and of the compiled packages. */
function addLoader(folder, rootCode, packagesCode = '__dirname') {
  copyFileSync(join(root, 'bin/load.cjs'), join(folder, 'load.cjs'))
  writeFileSync(join(folder, 'root.cjs'), `module.exports = { root: ${rootCode}, packages: ${packagesCode} }\n`)
}

/**
 * Compiles the command line for a release, because a few files load faster than a thousand.
 * @param {string} folder
 * @param {string} rootCode an expression for the path of the folder with package.json
 * @returns {Promise<string[]>} the bundled files of packages
 */
export function compileAll(folder, rootCode) {
  return makeFolder(folder, async (made) => {
    const files = await compilePackages(made, await compileSources(made))
    addLoader(made, rootCode)
    return files
  })
}

/**
 * Like `compileAll`, but many versions of the sources share one build of the packages.
 * @param {string} folder
 * @param {(names: readonly string[]) => string} packagesFolder returns the folder for packages with these names
 */
export function compile(folder, packagesFolder) {
  return makeFolder(folder, async (made) => {
    const names = await compileSources(made)
    const shared = packagesFolder([...names.packages, '', ...names.ofTracing, '', ...names.ofAws])
    // The folder's time becomes now, so that `dropOld` keeps the folder as long as the last version that needs it.
    if (existsSync(shared)) utimesSync(shared, new Date(), new Date())
    else
      await makeFolder(shared, async (draft) => {
        await compilePackages(draft, names)
        addLoader(draft, JSON.stringify(root))
      })
    addLoader(made, JSON.stringify(root), JSON.stringify(shared))
  })
}

/** Compiles the module `portage/plugin` of a release. Resolves with the bundled files of packages. */
export async function compileKit(outfile) {
  const { build } = await import('esbuild')
  const entryPoints = [join(root, 'bridges/packages/author.ts')]
  const { metafile } = await build({ ...common, format: 'esm', supported: {}, entryPoints, outfile })
  return Object.keys(metafile.inputs).filter((name) => name.includes('node_modules'))
}
