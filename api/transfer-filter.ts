import { filterFields, toFilter, type TransferSelection } from '../operations/orders/transfer-filter.ts'
import type { TransferFilter } from '../temporal/client/transfers/transfer-list.ts'
import type { ApiDeps } from './deps.ts'
import { createReadGates, type ReadFor } from './read-gate.ts'

/** Finding the block of a nonce takes more reads of the nodes than any other filter. */
const nonceGates = createReadGates({ atOnce: 2, waiting: 16 })

/** As `toFilter` of all orders, with the chains of this process. */
export function filterOf({ client, config, network }: ApiDeps, given: TransferSelection, readFor: ReadFor): Promise<TransferFilter> {
  const mined = (chain: string, address: string, nonce: number) =>
    nonceGates[readFor](async () => (await network.chains.get(chain)?.mined(address, nonce))?.hash)
  return toFilter({ client, config, mined }, given)
}

type Schemas = { readonly [Name in keyof typeof filterFields]: (typeof filterFields)[Name]['schema'] }

/** The schemas of the fields of a filter, for a query or a body. */
export const filterSchemas = Object.fromEntries(
  Object.entries(filterFields).map(([name, { schema, help }]) => [name, schema.describe(help)]),
) as unknown as Schemas
