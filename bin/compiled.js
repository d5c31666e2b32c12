import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Exists only in a released package, in place of the sources. */
const released = join(root, 'dist')
/** Only a user who can write to node_modules can put code here. That user could change the packages anyway. */
const cache = join(root, 'node_modules/.cache/portage/code')
/** How long compiled versions are kept, ms. A running process loads parts of its version late. */
const keptMs = 7 * 86_400_000
/** How many of the newest versions are kept, of sources and of packages. Versions of the last hour are always kept. */
const mostKept = 20
const freshMs = 3_600_000
/** Folders whose files the process does not run. */
const others = new Set(['node_modules', 'deploy', 'docs', 'lab', 'scripts', 'test'])

/** Path, time and size of every source file, for the cache key. Reading all files would cost more than it saves. */
function sources() {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !others.has(entry.name))
    .flatMap(({ name }) => readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => join(name, file)))
    .filter((file) => /\.(ts|js|cjs)$/.test(file))
    .sort()
    .map((file) => {
      const { mtimeMs, size } = statSync(join(root, file))
      return `${file} ${mtimeMs} ${size}`
    })
}

const digest = (parts) => createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
const textOf = (file) => readFileSync(join(root, file), 'utf8')

function keyOf() {
  return digest([root, process.version, textOf('package.json'), textOf('node_modules/.package-lock.json'), ...sources()])
}

function packagesFolder(names) {
  const parts = [root, textOf('node_modules/.package-lock.json'), textOf('bin/compile.js'), textOf('bin/load.cjs'), ...names]
  return join(cache, `packages-${digest(parts)}`)
}

/** Removes old or excess versions. Never throws, as another process may rename or remove them at the same time. */
export function dropOld(folder = cache) {
  try {
    const found = readdirSync(folder).map((name) => ({ name, age: Date.now() - statSync(join(folder, name)).mtimeMs }))
    const isOfPackages = ({ name }) => name.startsWith('packages-')
    // Counted separately, because one version of packages serves many versions of sources.
    for (const kind of [found.filter(isOfPackages), found.filter((one) => !isOfPackages(one))])
      for (const [index, { name, age }] of kind.toSorted((a, b) => a.age - b.age).entries())
        if (age > keptMs || (index >= mostKept && age > freshMs)) rmSync(join(folder, name), { recursive: true, force: true })
  } catch {}
}

/**
 * The folder of the compiled command line (compile.js). Loading 1,000 source files would take most of a command's time.
 * Compiles at the first start after a source or a package has changed, which takes a second. Undefined if compiling
 * fails (node_modules is read-only, esbuild is missing), so that tsx runs the sources.
 */
export async function compiledFolder() {
  if (existsSync(released)) return released
  try {
    const folder = join(cache, keyOf())
    if (!existsSync(folder)) {
      mkdirSync(cache, { recursive: true })
      const { compile } = await import('./compile.js')
      await compile(folder, packagesFolder)
      dropOld()
    }
    return folder
  } catch {
    return undefined
  }
}
