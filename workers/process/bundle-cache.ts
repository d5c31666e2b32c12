import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Bundles in the cache: several checkouts may share one `node_modules`. */
const mostFiles = 8

export interface BundleCache {
  /** Files in it are run: only users who may change the code may write here. */
  readonly directory: string
  /** A digest of everything that the code is made of. */
  readonly key: string
}

/**
 * The code in the cache under this key; otherwise the result of `make`, which is written to the cache if possible. A damaged file counts as missing. Throws
 * what `make` throws.
 */
export async function cachedCode({ directory, key }: BundleCache, make: () => Promise<string>): Promise<string> {
  const file = join(directory, `${key}.js`)
  const found = await readKeptCode(file)
  if (found !== undefined) return found
  const code = await make()
  await store(directory, file, code).catch(() => {})
  return code
}

/** What is written of code, so that a damaged file is not run. */
export function keptCode(code: string): string {
  return `${digest(code)}\n${code}`
}

/** The code in a file, if there is one that `keptCode` made. */
export function readKeptCode(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').then(verified, () => undefined)
}

/** A key: the digest of the paths and contents of these files, and of `facts`. Throws what reading them throws. */
export async function keyOf(files: readonly string[], facts: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const file of files.toSorted((a, b) => (a < b ? -1 : 1))) hash.update(JSON.stringify([file, digest(await readFile(file, 'utf8'))]))
  return hash.digest('hex')
}

async function store(directory: string, file: string, code: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  // Processes that start together write the same; the last rename wins.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, keptCode(code))
  await rename(draft, file)
  await prune(directory)
}

async function prune(directory: string): Promise<void> {
  const names = await readdir(directory)
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(directory, name))).mtimeMs })))
  const old = dated.toSorted((a, b) => b.at - a.at).slice(mostFiles)
  await Promise.all(old.map(({ name }) => rm(join(directory, name), { force: true })))
}

function verified(text: string): string | undefined {
  const end = text.indexOf('\n')
  const code = text.slice(end + 1)
  return text.slice(0, end) === digest(code) ? code : undefined
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
