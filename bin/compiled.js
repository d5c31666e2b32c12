import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** In a released package, in place of the sources. */
const released = join(root, 'dist')
/** Only code whose author may write to node_modules is found here, and such an author may change the packages anyway. */
const cache = join(root, 'node_modules/.cache/portage/code')
/** Compiled versions of a week are kept: several checkouts may share one node_modules, and a process loads parts of its own late. */
const keptMs = 7 * 86_400_000
/** Of these at most so many, of the sources and of the packages, and all of the last hour: another process may be about to load its own. */
const mostKept = 20
const freshMs = 3_600_000
/** Folders whose code the process does not run. */
const others = new Set(['node_modules', 'deploy', 'docs', 'lab', 'scripts', 'test'])

/** Path, size and time of every source file: reading them all would cost more than it saves. */
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

/** Of the compiled packages of these names. */
function packagesFolder(names) {
  const parts = [root, textOf('node_modules/.package-lock.json'), textOf('bin/compile.js'), textOf('bin/load.cjs'), ...names]
  return join(cache, `packages-${digest(parts)}`)
}

/** Drops compiled versions that are old or too many. Never throws: another process may rename or drop them at the same time. */
export function dropOld(folder = cache) {
  try {
    const found = readdirSync(folder).map((name) => ({ name, age: Date.now() - statSync(join(folder, name)).mtimeMs }))
    const isOfPackages = ({ name }) => name.startsWith('packages-')
    // Apart: one of packages serves many of sources, and is not to be dropped before them.
    for (const kind of [found.filter(isOfPackages), found.filter((one) => !isOfPackages(one))])
      for (const [index, { name, age }] of kind.toSorted((a, b) => a.age - b.age).entries())
        if (age > keptMs || (index >= mostKept && age > freshMs)) rmSync(join(folder, name), { recursive: true, force: true })
  } catch {}
}

/**
 * Folder of the compiled command line (compile.js): most of a command's time is the loading of 1,000 files. Compiled at the first start after a source or a
 * package changed (a second). Undefined where that is not possible (node_modules cannot be written, esbuild is missing): tsx runs the sources then.
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
