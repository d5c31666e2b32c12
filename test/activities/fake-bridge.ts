import type { Bridges, Endpoint } from '../../bridges/port.ts'
import { unused } from '../helpers/unused.ts'

/** An endpoint on bsc of which a test gives what it uses. */
export function fakeEndpoint(own: Partial<Endpoint>): Endpoint {
  return {
    chain: 'bsc',
    calls: {},
    proveCall: unused('proveCall'),
    verify: unused('verify'),
    validate: unused('validate'),
    delivered: unused('delivered'),
    findDelivery: unused('findDelivery'),
    intent: unused('intent'),
    explainRevert: unused('explainRevert'),
    parties: unused('parties'),
    hasEffect: unused('hasEffect'),
    ...own,
  }
}

/** The native bridge, with this endpoint on every chain. */
export function bridgesWith(endpoint: Endpoint): Bridges {
  return new Map([['native-bridge', { name: 'native-bridge', decode: unused('decode'), endpoint: () => endpoint, sources: [] }]])
}
