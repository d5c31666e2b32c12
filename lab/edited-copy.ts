import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'

export interface Change {
  readonly file: string
  /** Replacements. Each `from` must occur exactly once in the file. */
  readonly edits: readonly (readonly [from: string, to: string])[]
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** Copies the sources except the folders in `without`, then applies the change to the copy. */
export async function copyEdited(change: Change, dir: string, without: readonly string[]): Promise<void> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 2 ** 24,
  })
  const files = stdout.split('\n').filter((file) => file !== '' && !without.some((folder) => file.startsWith(`${folder}/`)))
  for (const file of files) await cp(join(root, file), join(dir, file))
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'))
  await writeFile(join(dir, change.file), edited(await readFile(join(root, change.file), 'utf8'), change))
}

/** Applies the edits to a text. Throws Error if a `from` does not occur in the text exactly once. */
export function edited(text: string, { file, edits }: Change): string {
  return edits.reduce((before, [from, to]) => {
    if (before.split(from).length !== 2) throw new Error(`${file} does not contain this text exactly once: ${from.trim()}`)
    return before.replace(from, () => to)
  }, text)
}
