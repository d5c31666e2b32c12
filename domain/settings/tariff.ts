import type { ChainName } from '../transfer/transfer.ts'

/** Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of their native chain. */
export type TariffScope =
  | { readonly kind: 'asset'; readonly token: string }
  /** `chain`: the target. */
  | { readonly kind: 'fee'; readonly chain: ChainName; readonly token: string }
  /** Without `source`, from every chain that has no rule of its own. */
  | { readonly kind: 'route'; readonly source?: ChainName | undefined; readonly target: ChainName }

/** Fields for the kind of the scope. An absent field leaves the config in force. */
export interface Tariff {
  /** Of an asset. */
  readonly delivered?: boolean | undefined
  /** Of a fee: in the VAA's units of the token, decimal. */
  readonly minimumFee?: string | undefined
  /** Of a fee: value of one VAA unit, wei of the target's coin, decimal. */
  readonly price?: string | undefined
  /** Of a route: tokens without a minimum fee are delivered. */
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
