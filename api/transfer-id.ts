import { sourceIdsOf } from '../config/chains.ts'
import { placesOfTransaction } from '../intake/streams/source-transactions.ts'
import { resolveTransfer } from '../temporal/client/transfers/resolve-transfer.ts'
import type { ApiDeps } from './deps.ts'
import { createReadGates, type ReadFor } from './read-gate.ts'

/** What is no whole id is looked for in lists, and at the nodes: a stranger may ask for any text. */
const gates = createReadGates({ atOnce: 2, waiting: 16 })

/** The transfer that a path names in any form that a person has at hand. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, API_BUSY, TEMPORAL_UNAVAILABLE. */
export function resolveGiven(
  { client, config, network }: Pick<ApiDeps, 'client' | 'config' | 'network'>,
  given: string,
  readFor: ReadFor,
): Promise<string> {
  return resolveTransfer(client, given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    gate: gates[readFor],
    placesOf: (hash) => placesOfTransaction(network.bridges, network.chains, hash),
  })
}
