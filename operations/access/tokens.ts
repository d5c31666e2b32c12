import { randomUUID } from 'node:crypto'
import { errors, importJWK, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { accessLevels, type AccessScope, longestTokenMs, type Principal } from '../../domain/access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { AccessKey, PublicKey } from './keys.ts'

const algorithm = 'EdDSA'
const issuer = 'portage'
const clockSkewMs = 60_000
const longestToken = 4_096

/** Authors of orders without a token: Portage itself, the holder of the key file, and people without a name. */
const reserved = new Set(['portage', 'key-file', 'unnamed', 'automatic', 'checkpoint'])

export const principalName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, 'must be a name: letters, digits and . _ @ -, at most 64')
  .refine((name) => !reserved.has(name.toLowerCase()), 'must be a name that is not reserved')

const claimsSchema = z.object({
  sub: principalName,
  jti: z.string().min(1).max(64),
  iat: z.number(),
  exp: z.number(),
  level: z.enum(accessLevels),
  chains: z.array(z.string().min(1).max(64)).min(1).max(100).optional(),
  lanes: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
})

export interface TokenRequest extends AccessScope, Pick<Principal, 'name' | 'level' | 'expiresAt'> {}

/** Signs a token. The token's text is not stored anywhere. Throws INPUT_INVALID for an invalid name. */
export async function signToken(key: AccessKey, audience: string, request: TokenRequest, now = Date.now()) {
  const name = principalName.safeParse(request.name)
  if (!name.success) throw new RelayerError('INPUT_INVALID', { detail: `name: ${name.error.issues[0]?.message ?? 'is not valid'}` })
  const { chains, lanes, level, expiresAt } = request
  const [iat, exp] = [Math.floor(now / 1000), Math.floor(expiresAt / 1000)]
  const jti = randomUUID()
  const scope = { ...(chains && { chains: [...chains] }), ...(lanes && { lanes: [...lanes] }) }
  const { kid, kty, crv, x, d } = key
  const token = await new SignJWT({ level, ...scope })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
    .setIssuer(issuer)
    .setAudience(audienceOf(audience))
    .setSubject(name.data)
    .setJti(jti)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(await importJWK({ kty, crv, x, d }, algorithm))
  const principal: Principal = { name: name.data, level, jti, kid, issuedAt: iat * 1000, expiresAt: exp * 1000, ...scope }
  return { token, principal }
}

/** Throws ACCESS_TOKEN_EXPIRED and ACCESS_TOKEN_INVALID. */
export async function verifyToken(keys: readonly PublicKey[], audience: string, token: string): Promise<Principal> {
  try {
    if (token.length > longestToken) throw new Error('too long')
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = keys.find((one) => one.kid === kid)
        if (!key) throw new errors.JWKSNoMatchingKey()
        const { kty, crv, x } = key
        return importJWK({ kty, crv, x }, algorithm)
      },
      { algorithms: [algorithm], issuer, audience: audienceOf(audience), typ: 'JWT' },
    )
    const { sub, iat, exp, jti, level, chains, lanes } = claimsSchema.parse(payload)
    // A token may not be valid for longer than `longestTokenMs`, because the settings forget a revocation after this
    // time.
    if ((exp - iat) * 1000 > longestTokenMs || exp * 1000 - Date.now() > longestTokenMs + clockSkewMs) throw new Error('good for too long')
    const scope = { ...(chains && { chains }), ...(lanes && { lanes }) }
    return { name: sub, level, jti, kid: protectedHeader.kid ?? '', issuedAt: iat * 1000, expiresAt: exp * 1000, ...scope }
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new RelayerError('ACCESS_TOKEN_EXPIRED')
    // The name of the failed check would help an attacker, and the caught error may quote the token.
    throw new RelayerError('ACCESS_TOKEN_INVALID')
  }
}

function audienceOf(deployment: string): string {
  return `portage/${deployment}`
}
