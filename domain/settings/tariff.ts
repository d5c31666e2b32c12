import type { ChainName } from '../transfer/transfer.ts'

/**
 * `token`: the Wormhole id of its native chain, then its address there: `<wormhole chain id>/<64 lower-case hex
 * digits>`.
 */
export type TariffScope =
  | { readonly kind: 'asset'; readonly token: string }
  | { readonly kind: 'fee'; readonly chain: ChainName; readonly token: string }
  /** Without `source`, the rule covers every source chain that has no rule of its own. */
  | { readonly kind: 'route'; readonly source?: ChainName | undefined; readonly target: ChainName }

/** Only the fields for the rule's kind are set. For absent fields, the config decides. */
export interface Tariff {
  /** For `asset`: whether Portage delivers the token. */
  readonly delivered?: boolean | undefined
  /** For `fee`: decimal, in the units of a VAA. */
  readonly minimumFee?: string | undefined
  /** For `fee`: value of one unit of a VAA in wei of the target's coin, decimal. */
  readonly price?: string | undefined
  /** For `route`: whether Portage delivers tokens without a minimum fee. */
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
