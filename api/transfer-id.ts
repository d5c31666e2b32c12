import { sourceIdsOf } from '../config/transfer-sources.ts'
import { placesOfTransaction } from '../streams/source-transactions.ts'
import { resolveTransfer } from '../temporal/client/resolve-transfer.ts'
import type { ApiDeps } from './deps.ts'

/** The transfer that a path names in any form that a person has at hand. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, TEMPORAL_UNAVAILABLE. */
export function resolveGiven({ client, config, network }: ApiDeps, given: string): Promise<string> {
  return resolveTransfer(client, given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    placesOf: (hash) => placesOfTransaction(network.bridges, network.chains, hash),
  })
}
