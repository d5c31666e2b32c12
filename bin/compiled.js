import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Exists only in a released package, instead of the sources. */
const released = join(root, 'dist')
/** Code here runs unchecked, which is no new risk, because users who can write here can also change the packages. */
const cache = join(root, 'node_modules/.cache/portage/code')
/** Time (ms) for which compiled versions are kept, because a running process may load parts of its version late. */
const keptMs = 7 * 86_400_000
/**
 * Maximum number of kept versions, counted separately for the sources and the packages. Versions of the last hour are
 * always kept.
 */
const mostKept = 20
const freshMs = 3_600_000
/** Folders whose files are not part of the compiled code. */
const others = new Set(['node_modules', 'deploy', 'docs', 'lab', 'scripts', 'test'])

/** Path, time and size of each source, because reading the contents would cost more time than the cache saves. */
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

/** Removes old and excess versions. Never throws, because another process may remove the same folders. */
export function dropOld(folder = cache) {
  try {
    const found = readdirSync(folder).map((name) => ({ name, age: Date.now() - statSync(join(folder, name)).mtimeMs }))
    const isOfPackages = ({ name }) => name.startsWith('packages-')
    // Counts versions of packages separately, because one version of the packages serves many versions of the sources.
    for (const kind of [found.filter(isOfPackages), found.filter((one) => !isOfPackages(one))])
      for (const [index, { name, age }] of kind.toSorted((a, b) => a.age - b.age).entries())
        if (age > keptMs || (index >= mostKept && age > freshMs)) rmSync(join(folder, name), { recursive: true, force: true })
  } catch {}
}

/**
 * Returns the folder of the compiled command line, because loading 1,000 source files takes most of a command's time.
 * Undefined if the code cannot be compiled (read-only node_modules, no esbuild): tsx then runs the sources.
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
