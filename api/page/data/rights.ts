/** The server alone checks a token; these claims only warn the reader. */
export interface Claims {
  readonly name: string
  readonly level: string
  readonly expiresAt: number
  readonly chains?: readonly string[]
  readonly lanes?: readonly string[]
}

const levels = ['read', 'write', 'sign', 'admin']

/** For many transfers. @param chain undefined: any, which a token with a scope may not order */
export function missingForMany(claims: Claims | undefined, chain: string | undefined, now: number): string | undefined {
  const missing = missingFor(claims, 'write', chain, now)
  if (missing !== undefined || chain !== undefined || !claims?.chains) return missing
  return `The token of ${claims.name} is only for ${claims.chains.join(', ')}: choose that target above the list.`
}

/** The rights that a token lacks, as far as the claims show. @param chain the transfer's target */
export function missingFor(
  claims: Claims | undefined,
  needed: 'write' | 'sign' | 'admin',
  chain: string | undefined,
  now: number,
): string | undefined {
  if (!claims) return `This needs an access token of level ${needed}, and none was entered.`
  if (claims.expiresAt <= now) return `This needs an access token of level ${needed}, and that of ${claims.name} has expired.`
  if (levels.indexOf(claims.level) < levels.indexOf(needed))
    return `This needs an access token of level ${needed}, and that of ${claims.name} is of level ${claims.level}.`
  if (chain !== undefined && claims.chains && !claims.chains.includes(chain))
    return `This is about ${chain}, and the token of ${claims.name} is only for ${claims.chains.join(', ')}.`
  return undefined
}
