import type { ChainName } from '../transfer/transfer.ts'

/** `token` is `<wormhole chain id>/<64 lower-case hex digits>`: the token on its native chain. */
export type TariffScope =
  | { readonly kind: 'asset'; readonly token: string }
  /** `chain`: the target. */
  | { readonly kind: 'fee'; readonly chain: ChainName; readonly token: string }
  /** Without `source`, the rule applies to every source chain that has no rule of its own. */
  | { readonly kind: 'route'; readonly source?: ChainName | undefined; readonly target: ChainName }

/** Only fields for the kind of the scope are set. Where a field is absent, the config stays in force. */
export interface Tariff {
  /** For `asset`: whether the token is delivered. */
  readonly delivered?: boolean | undefined
  /** For `fee`: decimal, in the token's units in a VAA. */
  readonly minimumFee?: string | undefined
  /** For `fee`: value of one such unit in wei of the target's coin, decimal. */
  readonly price?: string | undefined
  /** For `route`: whether tokens without a minimum fee are delivered. */
  readonly free?: boolean | undefined
}

export interface TariffRule {
  readonly scope: TariffScope
  readonly tariff: Tariff
}

export function lowerTariffScope(scope: TariffScope): TariffScope {
  if (scope.kind !== 'route') return { ...scope, token: scope.token.toLowerCase().replace('/0x', '/') }
  const { kind, source, target } = scope
  return source === undefined ? { kind, target } : { kind, source, target }
}
