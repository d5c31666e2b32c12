import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Bundles that are kept: some checkouts that share one `node_modules`, with and without interceptors. */
const kept = 8

export interface BundleCache {
  /** Only who may write the code that runs may write here: what is found is run. */
  readonly directory: string
  /** Says everything that the code is made of. */
  readonly key: string
}

/**
 * The code that is in the cache under this key; otherwise what `make` makes, which is put there if that is possible: a cache that cannot be
 * written costs the time only. A file that is not whole counts as none. Throws what `make` throws.
 */
export async function cachedCode({ directory, key }: BundleCache, make: () => Promise<string>): Promise<string> {
  const file = join(directory, `${key}.js`)
  const found = await readFile(file, 'utf8').then(unsealed, () => undefined)
  if (found !== undefined) return found
  const code = await make()
  await keep(directory, file, code).catch(() => {})
  return code
}

/** Digest of these files, by path and contents, and of `facts`: a key. Throws what reading them throws. */
export async function keyOf(files: readonly string[], facts: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const file of files.toSorted((a, b) => (a < b ? -1 : 1))) hash.update(JSON.stringify([file, digest(await readFile(file, 'utf8'))]))
  return hash.digest('hex')
}

async function keep(directory: string, file: string, code: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  // Processes that start together each write their own, and the last one stays: they are the same.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${digest(code)}\n${code}`)
  await rename(draft, file)
  await prune(directory)
}

async function prune(directory: string): Promise<void> {
  const names = await readdir(directory)
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(directory, name))).mtimeMs })))
  const old = dated.toSorted((a, b) => b.at - a.at).slice(kept)
  await Promise.all(old.map(({ name }) => rm(join(directory, name), { force: true })))
}

function unsealed(text: string): string | undefined {
  const end = text.indexOf('\n')
  const code = text.slice(end + 1)
  return text.slice(0, end) === digest(code) ? code : undefined
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
