import { RelayerError } from '../../domain/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { Bridge, Endpoint } from '../port.ts'

/** `Bridge.endpoint` over the chains that this process is connected to. Throws TARGET_CHAIN_UNSUPPORTED. */
export function endpointIn(endpoints: ReadonlyMap<ChainName, Endpoint>): Bridge['endpoint'] {
  return (chain) => {
    const endpoint = endpoints.get(chain)
    if (endpoint) return endpoint
    const detail = `This process serves ${[...endpoints.keys()].join(', ') || 'no chain'}.`
    throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { detail, facts: { chain } })
  }
}
