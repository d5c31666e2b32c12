import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Only code whose author may write to node_modules is found here, and such an author may change the packages anyway. */
const cache = join(root, 'node_modules/.cache/portage/code')
/** Compiled versions of a week are kept: several checkouts may share one node_modules, and a process loads parts of its own late. */
const keptMs = 7 * 86_400_000
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
  const packages = readFileSync(join(root, 'package.json'), 'utf8')
  return createHash('sha256')
    .update([root, process.version, packages, ...sources()].join('\n'))
    .digest('hex')
    .slice(0, 32)
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

async function compile(folder) {
  const { build } = await import('esbuild')
  const made = `${folder}.${randomUUID()}`
  await build({
    entryPoints: [join(root, 'cli/main.ts')],
    outdir: made,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    keepNames: true,
    sourcemap: true,
    logLevel: 'silent',
    plugins: [originalUrls],
  })
  try {
    renameSync(made, folder)
  } catch (error) {
    // Another process was quicker.
    rmSync(made, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  removeOld()
}

function removeOld() {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true })
  }
}

/**
 * URL of the compiled `cli/main.ts`: half of a command's time is the loading of 400 TypeScript files. Compiled at the first start after a source or
 * package.json changed (0.3 s). Undefined where that is not possible (node_modules cannot be written, esbuild is missing): tsx runs the sources then.
 */
export async function compiledMain() {
  try {
    const folder = join(cache, keyOf())
    if (!existsSync(folder)) {
      mkdirSync(cache, { recursive: true })
      await compile(folder)
    }
    return pathToFileURL(join(folder, 'main.mjs')).href
  } catch {
    return undefined
  }
}
