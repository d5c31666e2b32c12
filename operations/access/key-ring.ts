import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fromConfig, type PublicKey, readKeys } from './keys.ts'

/** Where the keys of access tokens come from. */
export interface AccessSource {
  readonly dataFolder: string
  /** `access.publicKeys` of the config. */
  readonly publicKeys: readonly string[]
}

/** A change of the key file is seen after at most so long, ms. */
const freshMs = 1_000

/** The key file of a data folder. */
export function keyFile({ dataFolder }: Pick<AccessSource, 'dataFolder'>): string {
  return join(dataFolder, 'access-keys.json')
}

/** The public keys that tokens are verified with: those of the config, and those of the key file as it is now. */
export interface KeyRing {
  /** Throws ACCESS_KEYS if the key file cannot be used. */
  keys(): Promise<readonly PublicKey[]>
}

export function createKeyRing(source: AccessSource, now: () => number = Date.now): KeyRing {
  const file = keyFile(source)
  let known: { readonly stamp: string; readonly keys: readonly PublicKey[] } | undefined
  let lookedAt = -Infinity
  return {
    async keys() {
      if (known && now() - lookedAt < freshMs) return known.keys
      const stamp = await stampOf(file)
      if (stamp !== known?.stamp) {
        const own = (await readKeys(file)) ?? []
        known = { stamp, keys: [...(await fromConfig(source.publicKeys)), ...own.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x }))] }
      }
      lookedAt = now()
      return known.keys
    },
  }
}

/** Changes with every change of the file. */
function stampOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, mtimeMs, size, mode }) => [ino, mtimeMs, size, mode].join(' '),
    () => 'none',
  )
}
