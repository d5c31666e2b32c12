import { keyFile, makeKeys, readKeys, signingKey } from '../../operations/access/keys.ts'
import { signToken, type TokenRequest } from '../../operations/access/tokens.ts'
import { makeDataFolder } from '../../config/data-folder.ts'
import type { ConfigInput } from './relayer-config.ts'

const hourMs = 3_600_000

interface TokenHome {
  readonly dataFolder: string
  readonly temporal?: ConfigInput['temporal']
}

/** Makes an access token with the keys of a data folder, which are made if absent. Default: level admin, all scopes. */
export async function makeToken(home: TokenHome, request: Partial<TokenRequest> = {}): Promise<string> {
  return (await signedToken(home, request)).token
}

/** Like `makeToken`, but also returns the principal that the settings list for the token. */
export async function signedToken(
  { dataFolder, temporal: { namespace = 'default' } = {} }: TokenHome,
  request: Partial<TokenRequest> = {},
) {
  const file = keyFile({ dataFolder: await makeDataFolder(dataFolder) })
  await makeKeys(file)
  const wanted = { name: 'night-shift', level: 'admin', expiresAt: Date.now() + hourMs, ...request } as const
  return signToken(signingKey(await readKeys(file)), namespace, wanted)
}

/** A header that carries the token. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
