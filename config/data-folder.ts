import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { Config } from './schema/schema.ts'

/**
 * Makes the data folder (`dataFolder` of the config) if it is not there yet: for the user of the process alone (mode 0700), and ignored by git wherever it
 * lies. One that is there keeps its mode. Returns its path. Throws DATA_FOLDER_UNUSABLE.
 */
export async function makeDataFolder(path: string): Promise<string> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 })
    if (made === undefined) return path
    // What `mkdir` is asked for is cut by the process's umask.
    await chmod(path, 0o700)
    await writeFile(join(path, '.gitignore'), '*\n', { mode: 0o600 })
    return path
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new RelayerError('DATA_FOLDER_UNUSABLE', { detail: `${path}: ${code ?? message}`, cause })
  }
}

/** Where checkpoints of streams are kept: as the config says, else in the data folder. Undefined: nowhere. */
export function checkpointPlaceOf({ dataFolder, streams: { checkpoints } }: Pick<Config, 'dataFolder' | 'streams'>) {
  if (checkpoints === undefined) return { kind: 'directory', path: join(dataFolder, 'checkpoints') } as const
  return checkpoints.kind === 'none' ? undefined : checkpoints
}

/** Where the keys of access tokens are. */
export function accessSource({ dataFolder, access }: Pick<Config, 'dataFolder' | 'access'>) {
  return { dataFolder, publicKeys: access.publicKeys }
}
