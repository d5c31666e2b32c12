import { filterFields, toFilter, type TransferSelection } from '../operations/orders/transfer-filter.ts'
import type { TransferFilter } from '../temporal/client/transfers/transfer-list.ts'
import type { ApiDeps } from './deps.ts'
import { createReadGates, type ReadFor } from './read-gate.ts'
import { sourceIdsOf } from '../config/chains.ts'
import { placesOfTransaction } from '../intake/streams/source-transactions.ts'
import { resolveTransfer } from '../temporal/client/transfers/resolve-transfer.ts'

/** Finding the block of a nonce takes more reads of the nodes than any other filter. */
const nonceGates = createReadGates({ atOnce: 2, waiting: 16 })

export function filterOf({ client, config, network }: ApiDeps, given: TransferSelection, readFor: ReadFor): Promise<TransferFilter> {
  const mined = (chain: string, address: string, nonce: number) =>
    nonceGates[readFor](async () => (await network.chains.get(chain)?.mined(address, nonce))?.hash)
  return toFilter({ client, config, mined }, given)
}

type Schemas = { readonly [Name in keyof typeof filterFields]: (typeof filterFields)[Name]['schema'] }

export const filterSchemas = Object.fromEntries(
  Object.entries(filterFields).map(([name, { schema, help }]) => [name, schema.describe(help)]),
) as unknown as Schemas

/** Searches lists and nodes, and a stranger may send any text. */
const gates = createReadGates({ atOnce: 2, waiting: 16 })

/** Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, API_BUSY, TEMPORAL_UNAVAILABLE. */
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
