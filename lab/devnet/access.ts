import { keyFile } from '../../operations/access/key-ring.ts'
import { makeKeys, readKeys, signingKey } from '../../operations/access/keys.ts'
import { signToken, type TokenRequest } from '../../operations/access/tokens.ts'
import { makeDataFolder } from '../../config/data-folder.ts'
import type { ConfigInput } from './relayer-config.ts'

const hourMs = 3_600_000

/** An access token of a data folder's keys, which are made if absent. Default: level admin, all scopes. */
export async function makeToken(
  { dataFolder, temporal: { namespace = 'default' } = {} }: { readonly dataFolder: string; readonly temporal?: ConfigInput['temporal'] },
  request: Partial<TokenRequest> = {},
): Promise<string> {
  const file = keyFile({ dataFolder: await makeDataFolder(dataFolder) })
  await makeKeys(file)
  const wanted = { name: 'night-shift', level: 'admin', expiresAt: Date.now() + hourMs, ...request } as const
  return (await signToken(signingKey(await readKeys(file)), namespace, wanted)).token
}

/** The header of a request that carries the token. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
