import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RelayerError } from '../domain/errors.ts'
import type { ArchiveStore } from './store.ts'

/** A folder, made at the first text, for the user of the process alone. */
export function createDirectoryStore(path: string): ArchiveStore {
  return {
    async get(name) {
      try {
        return await readFile(join(path, name), 'utf8')
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw unavailable(name, cause)
      }
    },
    async put(name, text) {
      const target = join(path, name)
      const temporary = `${target}.${randomBytes(4).toString('hex')}.tmp`
      try {
        await mkdir(dirname(target), { recursive: true, mode: 0o700 })
        const file = await open(temporary, 'w', 0o600)
        try {
          await file.writeFile(text)
          // Else a crash of the machine may leave an empty file under the name.
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(temporary, target)
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => {})
        throw unavailable(name, cause)
      }
    },
  }
}

function unavailable(name: string, cause: unknown): RelayerError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new RelayerError('ARCHIVE_UNAVAILABLE', { detail: code ?? message, facts: { name }, cause })
}
