import type { Bridges } from '../bridges/port.ts'
import { createBridges, sourcesOf } from '../bridges/registry.ts'
import type { Chain } from '../chains/port.ts'
import { createChain } from '../chains/registry.ts'
import { chainOf, nodeVariables } from '../config/chains.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { toRelayerError } from '../domain/errors.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'

/** The chains of a process and the bridges between them. */
export interface Network {
  /** All chains that it reads: those that it serves, and the sources of native routes to them, whose tables it reads. */
  readonly chains: ReadonlyMap<ChainName, Chain>
  /** The chains that this process delivers to. */
  readonly served: readonly ChainName[]
  readonly bridges: Bridges
  close(): void
}

export interface NetworkOptions {
  /** Serve only these. Default: all of the config. */
  readonly only?: readonly ChainName[] | undefined
  /** Ends the connecting. */
  readonly stopping?: AbortSignal
  /**
   * Called with each chain that no node answers for, if another chain is connected: its calls fail until it is connected. Absent: such a chain is an error.
   * @param closing aborted when the network is closed
   */
  readonly onAway?: (chain: Chain, closing: AbortSignal) => void
}

/**
 * Connects to the chains of the config. Throws CHAIN_ID_MISMATCH, INPUT_INVALID, and NODE_UNAVAILABLE: for any chain, or with `onAway` if none is connected.
 */
export async function connectNetwork(config: Config, { only, stopping, onAway }: NetworkOptions = {}): Promise<Network> {
  const served = [...new Set(only ?? Object.keys(config.chains))]
  const names = [...new Set([...served, ...sourcesOf(config, served)])]
  const chains = new Map(names.map((name) => [name, buildChain(name, chainOf(config, name))] as const))
  const closing = new AbortController()
  const close = () => {
    closing.abort()
    for (const chain of chains.values()) chain.close()
  }
  stopping?.addEventListener('abort', close)
  try {
    const away = await connectAll([...chains.values()])
    const first =
      away.find(({ error }) => !onAway || error.code !== 'NODE_UNAVAILABLE') ?? (away.length === chains.size ? away[0] : undefined)
    if (first) throw first.error
    const bridges = createBridges(config, chains, served)
    for (const { chain } of away) onAway?.(chain, closing.signal)
    return { chains, served, bridges, close }
  } catch (error) {
    close()
    throw error
  } finally {
    stopping?.removeEventListener('abort', close)
  }
}

/** The chains that could not be connected, with their errors. */
async function connectAll(chains: readonly Chain[]) {
  const connect = async (chain: Chain) =>
    chain.connect().then(
      () => [],
      (error: unknown) => [{ chain, error: toRelayerError(error) }],
    )
  return (await Promise.all(chains.map(connect))).flat()
}

function buildChain(name: ChainName, chain: ChainConfig): Chain {
  const { family, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory } = chain
  const environment = nodeVariables(process.env)
  return createChain(family, { name, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory, environment })
}
