import { createHash, generateKeyPairSync, sign } from 'node:crypto'

export interface TokenIssuer {
  /** A JSON Web Key. */
  readonly publicKey: object
  /** Permissions: `<namespace>:read`, `:write`, `:worker`, `:admin`, or `temporal-system:admin`. */
  issue(permissions: readonly string[], options?: TokenOptions): string
}

export interface TokenOptions {
  /** Seconds until the token expires. Negative: already expired. Default: a day. */
  readonly endsInSeconds?: number
  readonly subject?: string
}

export function keySetOf(...issuers: readonly TokenIssuer[]): string {
  return JSON.stringify({ keys: issuers.map(({ publicKey }) => publicKey) })
}

export function createTokenIssuer(): TokenIssuer {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { n, e } = publicKey.export({ format: 'jwk' })
  const kid = createHash('sha256').update(String(n)).digest('hex').slice(0, 16)
  return {
    publicKey: { kty: 'RSA', use: 'sig', alg: 'RS256', kid, n, e },
    issue(permissions, { endsInSeconds = 86_400, subject = 'portage-test' } = {}) {
      const now = Math.floor(Date.now() / 1000)
      const claims = { sub: subject, iat: now, exp: now + endsInSeconds, permissions }
      const signed = [{ alg: 'RS256', typ: 'JWT', kid }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
      return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
    },
  }
}
