import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Principal } from '../../domain/access.ts'

/** Contents of the file. The token's signature is missing, so nobody can give an order with the file. */
const unlistedSchema = z.strictObject({
  name: z.string().min(1).max(64),
  level: z.literal('admin'),
  jti: z.uuid(),
  kid: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  issuedAt: z.int().positive(),
  expiresAt: z.int().positive(),
})

export type UnlistedToken = ReturnType<typeof unlistedToken>

/**
 * Keeps the contents of the first token in a file until the settings list the token, so that the next start can repeat
 * a failed listing.
 */
export function unlistedToken(dataFolder: string, now: () => number = Date.now) {
  const file = join(dataFolder, 'first-token.json')
  const forget = () => rm(file, { force: true })
  return {
    /** Undefined without a valid token. Removes a file whose token is malformed or has expired. */
    async read(): Promise<Principal | undefined> {
      const text = await readFile(file, 'utf8').catch(() => undefined)
      if (text === undefined) return undefined
      try {
        const token = unlistedSchema.parse(JSON.parse(text))
        if (token.expiresAt > now()) return token
      } catch {
        // A malformed file is removed, like the file of an expired token.
      }
      await forget().catch(() => {})
      return undefined
    },
    keep: (token: Principal) => writeFile(file, `${JSON.stringify(token, null, 2)}\n`, { mode: 0o600 }),
    forget,
  }
}
