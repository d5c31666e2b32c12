import { createBridges } from '../../bridges/registry.ts'
import { type ConfiguredChain, type ConfiguredChainOptions, createConfiguredChain } from '../../chains/registry.ts'
import { chainOf, sourceIdsOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { findTransfer as find } from '../../intake/streams/find-transfer.ts'
import { placesOfTransaction } from '../../intake/streams/source-transactions.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Command } from 'commander'
import { filterFields, isNarrowed, toFilter, type TransferSelection } from '../../operations/orders/transfer-filter.ts'
import type { TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { addField, valuesOf } from './options.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { findLane } from '../../operations/orders/subjects.ts'
import type { Call } from '../command.ts'
import { type Heights, sourceOf } from '../../intake/streams/reports.ts'

export const transferForms =
  'id, the end of the id as lists show it, transaction hash on either chain, digest, signed VAA, chain/emitter/sequence, source:target:nonce or chain/nonce'

const nodeTimeoutMs = 5_000

/** Returns the id of the named transfer. Throws TRANSFER_*, TEMPORAL_UNAVAILABLE and the errors of decoding a VAA. */
export async function findTransfer(client: TemporalClient, config: Config, given: string): Promise<string> {
  const signed = await idInMessage(config, given)
  return find(client, signed ?? given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    // Called only for a hash that Temporal does not know.
    placesOf: (hash) =>
      withChains(config, async (chains) => {
        await Promise.allSettled([...chains.values()].map((chain) => chain.connect()))
        return placesOfTransaction(createBridges(config, chains), chains, hash)
      }),
  })
}

/** Length (bytes) of the shortest VAA: header, one signature, header of the body. An id or a hash is shorter. */
const leastBytes = 6 + 66 + 51

async function idInMessage(config: Config, given: string): Promise<string | undefined> {
  const bytes = bytesOf(given)
  if (!bytes || bytes.length < leastBytes) return undefined
  return withChains(config, (chains) => {
    const failures: unknown[] = []
    for (const bridge of createBridges(config, chains).values()) {
      try {
        return transferId(bridge.decode(bytes))
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return undefined
  })
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return messageBytes(text)
  } catch {
    return undefined
  }
}

/** Calls `use` with all chains of the config, without connecting the chains first. Closes them afterwards. */
export async function withChains<Result>(
  config: Config,
  use: (chains: ReadonlyMap<string, ConfiguredChain>) => Result | Promise<Result>,
): Promise<Result> {
  const chains = new Map(
    Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain, { timeoutMs: nodeTimeoutMs })]),
  )
  try {
    return await use(chains)
  } finally {
    for (const chain of chains.values()) chain.close()
  }
}

export type FilterOptions = Readonly<Record<string, unknown>>

export function withFilter(command: Command): Command {
  for (const one of Object.values(filterFields)) addField(command, one)
  return command
}

export function selectionOf(options: FilterOptions): TransferSelection | undefined {
  const given = valuesOf(filterFields, options) as TransferSelection
  return isNarrowed(given) ? given : undefined
}

export function filterOf(client: TemporalClient, config: Config, given: TransferSelection = {}): Promise<TransferFilter> {
  const mined = (name: string, address: string, nonce: number) =>
    withChain(config, name, async (chain) => (await chain.mined(address, nonce))?.hash)
  return toFilter({ client, config, mined }, given)
}

/** Connects a chain for `use`. Throws INPUT_INVALID for an unknown chain, NODE_UNAVAILABLE, CHAIN_ID_MISMATCH. */
export async function withChain<Result>(
  config: Config,
  name: ChainName,
  use: (chain: ConfiguredChain) => Promise<Result>,
  options?: ConfiguredChainOptions,
): Promise<Result> {
  const chain = createConfiguredChain(name, chainOf(config, name), options)
  try {
    await chain.connect()
    return await use(chain)
  } finally {
    chain.close()
  }
}

export type LaneOptions = { readonly chain?: string }

export function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…) or the address of a configured lane, in full or as portage lane list shortens it')
    .option('--chain <name>', 'the chain, if several chains have a lane with this address')
}

/** Calls `use` with the id of the lane that `name` means. Throws LANE_NOT_FOUND and the errors of `use`. */
export function withLane<Result>(
  { withTemporal, options }: Call<LaneOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config) => Promise<Result>,
): Promise<Result> {
  return withTemporal(async (client, config) => use(await findLane(client, config, name, options.chain), client, config))
}

const headTimeoutMs = 3_000

export function streamArgument(command: Command): Command {
  return command.argument('<stream>', 'stream id (native-bridge:ethereum:bsc), in full or as portage stream list shortens it')
}

/** Reads the heads of the streams' source chains. A chain whose nodes do not answer has no head in the result. */
export async function finalizedHeights(config: Config, streams: readonly string[]): Promise<Heights> {
  const sources = [...new Set(streams.map(sourceOf))].filter((name) => config.chains[name])
  const read = async (name: string): Promise<[string, ReturnType<Heights>]> => {
    const head = withChain(config, name, async ({ heads }) => heads.current, { timeoutMs: headTimeoutMs })
    return [name, await head.catch(() => undefined)]
  }
  const known = new Map<string, ReturnType<Heights>>(await Promise.all(sources.map(read)))
  return (chain) => known.get(chain)
}
