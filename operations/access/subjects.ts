import { forms, isOf } from '../../domain/text/forms.ts'
import type { OrderSubject } from '../../domain/access.ts'
import type { SettingsOrder } from '../../domain/settings/settings.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'

/** Subject of an order about the named chains. Without a name, the order concerns all chains. */
function aboutChains(...names: readonly (ChainName | undefined)[]): OrderSubject {
  const chains = names.filter((name) => name !== undefined)
  return chains.length === 0 ? {} : { chains }
}

/** An order about a transfer whose target is not known concerns all chains. */
export function aboutTransfer(targetChain: ChainName | undefined): OrderSubject {
  return aboutChains(targetChain)
}

/**
 * An order about a stream concerns the stream's source and, if all its transfers have one target (native bridges), the
 * target.
 */
export function aboutStream(stream: string): OrderSubject {
  const [, source, third] = stream.split(':')
  return aboutChains(...[source, third].filter((part) => isOf(forms.name, part)))
}

export function aboutSettings(orders: readonly SettingsOrder[]): OrderSubject {
  const each = orders.map(aboutOne)
  const [first] = each
  if (first && each.length === 1) return first
  const chains = each.map((one) => one.chains)
  return chains.every((one) => one !== undefined) ? { chains: [...new Set(chains.flat())] } : {}
}

function aboutOne(order: SettingsOrder): OrderSubject {
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return aboutChains(order.scope.chain, order.scope.sourceChain, order.scope.targetChain)
    case 'deny':
    case 'allow': {
      const [chain, address] = order.value.split('/')
      return order.what === 'recipient' && address !== undefined ? aboutChains(chain) : {}
    }
    case 'setFees': {
      const { scope } = order
      if (scope.kind === 'lane') return { lane: scope.lane.toLowerCase() }
      return scope.kind === 'chain' || scope.kind === 'call' ? aboutChains(scope.chain) : {}
    }
    case 'setTariff': {
      const { scope } = order
      if (scope.kind === 'route') return aboutChains(scope.source, scope.target)
      return scope.kind === 'fee' ? aboutChains(scope.chain) : {}
    }
    case 'setNode':
      return { chains: [order.change.chain] }
    case 'clearNode':
      return { chains: [order.chain] }
    case 'addToken':
    case 'revokeToken':
      return {}
  }
}
