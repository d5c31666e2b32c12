import type { Bridges } from '../bridges/port.ts'
import { createBridges, sourcesOf } from '../bridges/registry.ts'
import type { Chain } from '../chains/port.ts'
import { createChain } from '../chains/registry.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import { laneId } from '../domain/lane-id.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { LaneConfig } from '../domain/lane.ts'
import type { ChainName } from '../domain/transfer.ts'
import type { TransferDefaults } from '../intake/start-transfer.ts'
import type { LaneDirectory } from '../lanes/directory.ts'
import { createLaneDirectory } from '../lanes/directory.ts'
import type { Client } from '@temporalio/client'

/** The least time without anybody driving it before a stuck nonce is filled, ms: longer than a crashed worker's tasks take to come back. */
const fillAfterMs = 60_000

/** The networks of a process and the bridges between them. */
export interface World {
  /** All that are connected: also the sources of native routes to the served ones, whose tables are read. */
  readonly chains: ReadonlyMap<ChainName, Chain>
  /** Those that this process delivers to. */
  readonly served: readonly ChainName[]
  readonly bridges: Bridges
}

/**
 * Connects to the chains of the config, or to those that are named and the sources of native routes to them. Throws CHAIN_ID_MISMATCH,
 * NODE_UNAVAILABLE, INPUT_INVALID.
 * @param stopping ends it at once
 */
export async function connectWorld(config: Config, only?: readonly ChainName[], stopping?: AbortSignal): Promise<World> {
  const served = [...new Set(only ?? Object.keys(config.chains))]
  const names = [...new Set([...served, ...sourcesOf(config, served)])]
  const chains = new Map(names.map((name) => [name, buildChain(name, chainOf(config, name))] as const))
  const leave = () => {
    for (const chain of chains.values()) chain.close()
  }
  stopping?.addEventListener('abort', leave)
  try {
    await Promise.all([...chains.values()].map((chain) => chain.connect()))
    return { chains, served, bridges: createBridges(config, chains, served) }
  } catch (error) {
    leave()
    throw error
  } finally {
    stopping?.removeEventListener('abort', leave)
  }
}

function buildChain(name: ChainName, chain: ChainConfig): Chain {
  const { family, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory } = chain
  const environment = nodeVariables(process.env)
  return createChain(family, { name, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory, environment })
}

/**
 * The variables that the URL of a node may name which an operator adds while the workers run. Not all of them: a password would leave with
 * the request to whatever host the URL names.
 */
export function nodeVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /RPC|NODE|URL/i.test(name) && !/pass|secret|private|keystore/i.test(name)),
  )
}

export function closeWorld(world: World): void {
  for (const chain of world.chains.values()) chain.close()
}

/** What the config says of transfers whose senders say nothing. */
export function transferDefaults({ transfers }: Config): TransferDefaults {
  const { priority, deadlineMinutes } = transfers
  return { priority, ...(deadlineMinutes !== undefined && { withinMs: deadlineMinutes * 60_000 }) }
}

/** The lanes of every chain, as the chains' workers choose among them. */
export function laneDirectories(config: Config, client: Client, chains: Iterable<ChainName>): Map<ChainName, LaneDirectory> {
  return new Map(
    [...chains].map((name) => [
      name,
      createLaneDirectory(
        client,
        chainOf(config, name).lanes.map((lane) => idOf(chainOf(config, name), lane.address)),
      ),
    ]),
  )
}

export function idOf(chain: ChainConfig, address: string): LaneId {
  return laneId(chain.family, chain.networkId, address)
}

/** What a lane's ledger is started with. */
export function laneConfig(chain: ChainConfig, lane: ChainConfig['lanes'][number]): LaneConfig {
  const fillAfterBlocks = Math.max(3, Math.ceil(fillAfterMs / chain.blockTimeMs))
  const { minimumBalance } = lane
  return { lane: idOf(chain, lane.address), window: lane.window, fillAfterBlocks, ...(minimumBalance && { minimumBalance }) }
}

/** The lanes of a chain, by id. */
export function laneConfigs(chain: ChainConfig): Map<LaneId, LaneConfig> {
  return new Map(chain.lanes.map((lane) => [idOf(chain, lane.address), laneConfig(chain, lane)]))
}

/** Throws INPUT_INVALID for a name that the config does not have. */
export function chainOf(config: Config, name: ChainName): ChainConfig {
  const chain = config.chains[name]
  if (!chain) {
    throw new RelayerError('INPUT_INVALID', { detail: `no chain is called ${name}; there are: ${Object.keys(config.chains).join(', ')}` })
  }
  return chain
}
