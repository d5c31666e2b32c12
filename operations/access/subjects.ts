import { forms, isOf } from '../../domain/text/forms.ts'
import type { OrderSubject } from '../../domain/access.ts'
import type { SettingsOrder } from '../../domain/settings/settings.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'

/** An order about a transfer whose target is not known concerns all chains. */
export function aboutTransfer(targetChain: ChainName | undefined): OrderSubject {
  return targetChain === undefined ? {} : { chains: [targetChain] }
}

/**
 * An order about a stream concerns its source chain and, if all its transfers have the same target chain, that chain
 * too.
 */
export function aboutStream(stream: string): OrderSubject {
  const [, source, third] = stream.split(':')
  const chains = [source, third].filter((part): part is string => isOf(forms.name, part))
  return chains.length === 0 ? {} : { chains }
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
    case 'unhalt': {
      const { chain, sourceChain, targetChain } = order.scope
      const chains = [chain, sourceChain, targetChain].filter((one) => one !== undefined)
      return chains.length === 0 ? {} : { chains }
    }
    case 'deny':
    case 'allow': {
      const [chain, address] = order.value.split('/')
      return order.what === 'recipient' && chain !== undefined && address !== undefined ? { chains: [chain] } : {}
    }
    case 'setFees': {
      const { scope } = order
      if (scope.kind === 'lane') return { lane: scope.lane.toLowerCase() }
      return scope.kind === 'chain' || scope.kind === 'call' ? { chains: [scope.chain] } : {}
    }
    case 'setTariff': {
      const { scope } = order
      if (scope.kind === 'asset') return {}
      return { chains: scope.kind === 'fee' ? [scope.chain] : [scope.source, scope.target].filter((one) => one !== undefined) }
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
