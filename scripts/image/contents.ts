import { readdir, readFile, lstat } from 'node:fs/promises'
import { join } from 'node:path'

const tools =
  /\/(sh|bash|dash|busybox|apt|apt-get|dpkg|npm|npx|yarn|corepack|gcc|cc|make|perl|python3?|curl|wget|tsx|esbuild|tsc|anvil|vitest)$/

/**
 * Contents of an image. `debian`: packages that /var/lib/dpkg/status.d lists. `npm`: packages in node_modules, as
 * name@version. `unwanted`: tools for an intruder, and files with the setuid or setgid bit. `folders`: bytes of the
 * folders directly below the root, and of /app.
 */
export async function contentsOf(root: string) {
  const found = { bytes: 0, files: 0, npm: new Set<string>(), unwanted: [] as string[], folders: {} as Record<string, number> }
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        await walk(path)
        continue
      }
      const { size, mode } = await lstat(join(root, path))
      found.files++
      found.bytes += size
      const top = path
        .split('/')
        .slice(0, path.startsWith('/app/') ? 3 : 2)
        .join('/')
      found.folders[top] = (found.folders[top] ?? 0) + size
      if (tools.test(path) || (entry.isFile() && (mode & 0o6000) !== 0)) found.unwanted.push(path)
      if (/\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path)) found.npm.add(await packageName(join(root, path)))
    }
  }
  await walk('')
  const debian: string[] = await readdir(join(root, 'var/lib/dpkg/status.d')).catch(() => [])
  return { ...found, npm: [...found.npm].toSorted(), debian: debian.toSorted() }
}

async function packageName(file: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(file, 'utf8')) as { name?: string; version?: string }
  return `${name}@${version}`
}
