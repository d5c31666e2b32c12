import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fromConfig, type PublicKey, readKeys } from './keys.ts'

export interface AccessSource {
  readonly dataFolder: string
  /** `access.publicKeys` of the config. */
  readonly publicKeys: readonly string[]
}

/** ms, until a change of the key file is seen. */
const freshMs = 1_000

export function keyFile({ dataFolder }: Pick<AccessSource, 'dataFolder'>): string {
  return join(dataFolder, 'access-keys.json')
}

/** The public keys of the config, and those of the present key file. */
export interface KeyRing {
  /** Throws ACCESS_KEYS if the key file is unusable. */
  keys(): Promise<readonly PublicKey[]>
}

export function createKeyRing(source: AccessSource, now: () => number = Date.now): KeyRing {
  const file = keyFile(source)
  let known: { readonly stamp: string; readonly keys: readonly PublicKey[] } | undefined
  let checkedAt = -Infinity
  return {
    async keys() {
      if (known && now() - checkedAt < freshMs) return known.keys
      const stamp = await stampOf(file)
      if (stamp !== known?.stamp) {
        const own = (await readKeys(file)) ?? []
        known = { stamp, keys: [...(await fromConfig(source.publicKeys)), ...own.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x }))] }
      }
      checkedAt = now()
      return known.keys
    },
  }
}

function stampOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, mtimeMs, size, mode }) => [ino, mtimeMs, size, mode].join(' '),
    () => 'none',
  )
}
