import type { Command } from 'commander'
import { chainOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { filterFields, isNarrowed, toFilter, type TransferSelection } from '../../operations/orders/transfer-filter.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { withChain } from './chains.ts'
import { addField, valuesOf } from './fields.ts'

export type FilterOptions = Readonly<Record<string, unknown>>

export function withFilter(command: Command): Command {
  for (const one of Object.values(filterFields)) addField(command, one)
  return command
}

/** Undefined: no option narrows the selection. */
export function selectionOf(options: FilterOptions): TransferSelection | undefined {
  const given = valuesOf(filterFields, options) as TransferSelection
  return isNarrowed(given) ? given : undefined
}

/** `toFilter` with the nodes of the config. */
export function filterOf(client: TemporalClient, config: Config, given: TransferSelection = {}): Promise<TransferFilter> {
  const mined = async (name: string, address: string, nonce: number) => {
    chainOf(config, name)
    return withChain(config, name, async (chain) => (await chain.mined(address, nonce))?.hash)
  }
  return toFilter({ client, config, mined }, given)
}
