import type { FeeScope } from '../../domain/fees/fees.ts'
import type { HaltScope, SettingsOrder } from '../../domain/settings/settings.ts'
import type { Tariff, TariffScope } from '../../domain/settings/tariff.ts'

/** `global`, `chain:bsc`, `call:bsc/0x…` or `call:bsc/0x…/0x12345678`, `lane:evm-56:0x…`, `transfer:<id>` */
export function feeScopeText(scope: FeeScope): string {
  switch (scope.kind) {
    case 'global':
      return 'global'
    case 'chain':
      return `chain:${scope.chain}`
    case 'call':
      return `call:${[scope.chain, scope.contract, scope.selector].filter(Boolean).join('/')}`
    case 'lane':
      return `lane:${scope.lane}`
    case 'transfer':
      return `transfer:${scope.id}`
  }
}

/** `asset 2/00…`, `fee of 2/00… to bsc`, `route from ethereum to bsc` */
export function tariffScopeText(scope: TariffScope): string {
  switch (scope.kind) {
    case 'asset':
      return `asset ${scope.token}`
    case 'fee':
      return `fee of ${scope.token} to ${scope.chain}`
    case 'route':
      return `route from ${scope.source ?? 'any chain'} to ${scope.target}`
  }
}

export function tariffText({ delivered, minimumFee, price, free }: Tariff): string {
  const parts = [
    delivered === undefined ? '' : delivered ? 'delivered' : 'declined',
    minimumFee === undefined ? '' : `minimum ${minimumFee}`,
    price === undefined ? '' : `price ${price} wei`,
    free === undefined ? '' : free ? 'free' : 'not free',
  ]
  return parts.filter(Boolean).join(', ') || 'as in the config'
}

export function haltScopeText({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  const parts = [
    bridge && `bridge ${bridge}`,
    chain && `chain ${chain}`,
    sourceChain && `from ${sourceChain}`,
    targetChain && `to ${targetChain}`,
  ]
  return parts.filter(Boolean).join(', ') || 'everything'
}

/** `halt from ethereum`, `fees of chain:bsc`, `node bsc/node-2` */
export function orderName(order: SettingsOrder): string {
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return `${order.kind} ${haltScopeText(order.scope)}`
    case 'deny':
    case 'allow':
      return `${order.kind} ${order.what} ${order.value}`
    case 'setFees':
      return `fees of ${feeScopeText(order.scope)}`
    case 'setTariff':
      return tariffScopeText(order.scope)
    case 'setNode':
      return `node ${order.change.chain}/${order.change.name}`
    case 'clearNode':
      return `node ${order.chain}/${order.name}`
    case 'addToken':
      return `token ${order.token.jti}`
    case 'revokeToken':
      return `token ${order.jti}`
  }
}

const mostNamed = 20

/** Undefined if no order is given. */
export function unfittingText(orders: readonly { readonly order: SettingsOrder; readonly why: string }[]): string | undefined {
  if (orders.length === 0) return undefined
  const named = orders.slice(0, mostNamed).map(({ order, why }) => `${orderName(order)} (${why})`)
  const more = orders.length > mostNamed ? ` and ${orders.length - mostNamed} more` : ''
  return `The config lacks names of ${orders.length} orders in force: ${named.join(', ')}${more}`
}
