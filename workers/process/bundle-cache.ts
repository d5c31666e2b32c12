import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Bundles in the cache. Several checkouts may share one `node_modules`. */
const mostFiles = 8

export interface BundleCache {
  /** Its files are run: only users who may change the code may write here. */
  readonly directory: string
  readonly key: string
}

/** The cached code, or that of `make`. A corrupted file counts as missing. Throws what `make` throws. */
export async function cachedCode({ directory, key }: BundleCache, make: () => Promise<string>): Promise<string> {
  const file = join(directory, `${key}.js`)
  const found = await readKeptCode(file)
  if (found !== undefined) return found
  const code = await make()
  await store(directory, file, code).catch(() => {})
  return code
}

/** Cache file format: a digest, then the code, so a corrupted file is rejected. */
export function keptCode(code: string): string {
  return `${digest(code)}\n${code}`
}

export function readKeptCode(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').then(verified, () => undefined)
}

/** The digest of the paths and contents of these files, and of `facts`. Throws what reading throws. */
export async function keyOf(files: readonly string[], facts: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const file of files.toSorted((a, b) => (a < b ? -1 : 1))) hash.update(JSON.stringify([file, digest(await readFile(file, 'utf8'))]))
  return hash.digest('hex')
}

async function store(directory: string, file: string, code: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  // Processes that start together write the same bytes: the last rename wins.
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
