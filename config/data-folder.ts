import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { Config } from './schema/schema.ts'

/** Creates the data folder if it is missing (mode 0700, ignored by git). Throws DATA_FOLDER_UNUSABLE. */
export async function makeDataFolder(path: string): Promise<string> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 })
    if (made === undefined) return path
    // Sets the mode again, because the umask reduces the mode of `mkdir`.
    await chmod(path, 0o700)
    await writeFile(join(path, '.gitignore'), '*\n', { mode: 0o600 })
    return path
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new RelayerError('DATA_FOLDER_UNUSABLE', { detail: `${path}: ${code ?? message}`, cause })
  }
}

export function checkpointPlaceOf({ dataFolder, streams: { checkpoints } }: Pick<Config, 'dataFolder' | 'streams'>) {
  if (checkpoints === undefined) return { kind: 'directory', path: join(dataFolder, 'checkpoints') } as const
  return checkpoints.kind === 'none' ? undefined : checkpoints
}

/**
 * A process without streams uses its data folder instead of an HTTP store, because with access to that store it could
 * change the streams' checkpoints.
 */
export function settingsPlaceOf(config: Pick<Config, 'dataFolder' | 'streams'>, handlesStreams: boolean) {
  const place = checkpointPlaceOf(config)
  if (place?.kind !== 'http' || handlesStreams) return place
  return checkpointPlaceOf({ ...config, streams: { ...config.streams, checkpoints: undefined } })
}

export function accessSource({ dataFolder, access }: Pick<Config, 'dataFolder' | 'access'>) {
  return { dataFolder, publicKeys: access.publicKeys }
}
