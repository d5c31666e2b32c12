import { keyFile, makeKeys, readKeys, signingKey } from '../../operations/access/keys.ts'
import { signToken, type TokenRequest } from '../../operations/access/tokens.ts'
import { makeDataFolder } from '../../config/data-folder.ts'
import type { ConfigInput } from './relayer-config.ts'

const hourMs = 3_600_000

interface TokenHome {
  readonly dataFolder: string
  readonly temporal?: ConfigInput['temporal']
}

export async function makeToken(home: TokenHome, request: Partial<TokenRequest> = {}): Promise<string> {
  return (await signedToken(home, request)).token
}

/** Returns a signed token, and the principal with which the settings list this token. */
export async function signedToken(
  { dataFolder, temporal: { namespace = 'default' } = {} }: TokenHome,
  request: Partial<TokenRequest> = {},
) {
  const file = keyFile({ dataFolder: await makeDataFolder(dataFolder) })
  await makeKeys(file)
  const wanted = { name: 'night-shift', level: 'admin', expiresAt: Date.now() + hourMs, ...request } as const
  return signToken(signingKey(await readKeys(file)), namespace, wanted)
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
