import type { Bridges, Endpoint, PlannedDelivery } from '../../bridges/port.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'
import { unused } from '../helpers/unused.ts'

/** An endpoint on bsc with the methods of `own`. Its other required methods throw. */
export function fakeEndpoint(own: Partial<Endpoint>): Endpoint {
  return {
    chain: 'bsc',
    calls: {},
    proveCall: unused('proveCall'),
    verify: unused('verify'),
    validate: unused('validate'),
    delivered: unused('delivered'),
    findDelivery: unused('findDelivery'),
    delivery: unused('delivery'),
    explainRevert: unused('explainRevert'),
    hasEffect: unused('hasEffect'),
    ...own,
  }
}

export const fakeParties = { bridge: 'native-bridge', targetChain: 'bsc', recipient: '0x1', token: 'weth' } as const

/** A `delivery` method that plans the same delivery for every transfer. `own` replaces fields of the plan. */
export function fakeDelivery(own: Partial<PlannedDelivery>): Endpoint['delivery'] {
  return () => ({ call: unused('call'), parties: fakeParties, revertsOnceDelivered: false, ...own })
}

export function bridgesWith(endpoint: Endpoint): Bridges {
  return new Map([
    [
      'native-bridge',
      { name: 'native-bridge', decode: unused('decode'), content: unused('content'), endpoints: onEveryChain(endpoint), sources: [] },
    ],
  ])
}
