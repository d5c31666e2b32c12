import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ArchiveStore, StoredText } from './store.ts'

/**
 * Age from which a lock counts as left behind by a crashed process, ms. The clocks of machines that share the folder
 * must differ by less.
 */
const staleMs = 60_000

/** The first write creates the folder, which only the user of this process can read. */
export function createDirectoryStore(path: string): ArchiveStore {
  return {
    get(name) {
      return read(join(path, name)).catch((cause: unknown) => {
        throw unavailable(name, cause)
      })
    },
    async put(name, text, was) {
      const target = join(path, name)
      const temporary = `${target}.${randomBytes(4).toString('hex')}.tmp`
      try {
        await mkdir(dirname(target), { recursive: true, mode: 0o700 })
        await writeSynced(temporary, text)
        return await locked(`${target}.lock`, async (isMine) => {
          if ((await read(target))?.version !== was?.version) return false
          // If this process was suspended for longer than `staleMs`, another process may have taken the lock.
          if (!(await isMine())) return false
          await rename(temporary, target)
          return true
        })
      } catch (cause) {
        throw unavailable(name, cause)
      } finally {
        await rm(temporary, { force: true }).catch(() => {})
      }
    },
  }
}

async function read(target: string): Promise<StoredText | undefined> {
  const text = await unlessMissing(readFile(target, 'utf8'))
  return text === undefined ? undefined : { text, version: createHash('sha256').update(text).digest('hex') }
}

async function writeSynced(temporary: string, text: string): Promise<void> {
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    // Without `sync`, a crash could leave an empty file.
    await file.sync()
  } finally {
    await file.close()
  }
}

async function locked(lock: string, use: (isMine: () => Promise<boolean>) => Promise<boolean>): Promise<boolean> {
  const mine = randomBytes(16).toString('hex')
  try {
    await writeFile(lock, mine, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const held = await unlessMissing(stat(lock))
    if (held && Date.now() - held.mtimeMs > staleMs) await rm(lock, { force: true })
    return false
  }
  const isMine = async () => (await unlessMissing(readFile(lock, 'utf8'))) === mine
  try {
    return await use(isMine)
  } finally {
    if (await isMine()) await rm(lock, { force: true })
  }
}

async function unlessMissing<Value>(value: Promise<Value>): Promise<Value | undefined> {
  return value.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
}

function unavailable(name: string, cause: unknown): RelayerError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new RelayerError('ARCHIVE_UNAVAILABLE', { detail: code ?? message, facts: { name }, cause })
}
