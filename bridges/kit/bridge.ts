import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Bridge, Endpoint } from '../port.ts'

/** The parts of a bridge on the chains that this process serves. */
export interface Served extends Pick<Bridge, 'sources'> {
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
}

export function createBridge({ endpoints, ...bridge }: Served & Omit<Bridge, 'endpoint'>): Bridge {
  return {
    ...bridge,
    endpoint(chain) {
      const endpoint = endpoints.get(chain)
      if (endpoint) return endpoint
      const detail = `This process serves ${[...endpoints.keys()].join(', ') || 'no chain'}.`
      throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { detail, facts: { chain } })
    },
  }
}
