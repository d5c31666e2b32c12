import { type ConfiguredChain, createConfiguredChain } from '../../chains/registry.ts'
import { nodeVariables } from '../../config/chains.ts'
import type { ChainConfig, Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { NodeChange, NodeUse, Settings } from '../../domain/settings/settings.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { ChainFacts, NodeFacts, NodeHead, Read } from './facts.ts'
import { limits, read, valueOf } from './read.ts'

/** Most lanes of a chain whose balances are read. */
const mostLanes = 50

interface NodeToAsk {
  readonly name: string
  readonly url: string
  readonly use: NodeUse
  readonly isAdded: boolean
  readonly isDisabled: boolean
}

/** How long the changes of operators are waited for, ms: then the nodes of the config are asked. */
const settingsMs = 1_500

/** The chains of a config as their nodes are now, with the changes of operators, as far as those come in time. Never throws. @param settings as they are being read */
export async function probeChains(
  { config, environment }: { readonly config: Pick<Config, 'chains'>; readonly environment: Readonly<Record<string, string | undefined>> },
  settings: Promise<Read<Settings>>,
): Promise<ChainFacts[]> {
  const known = await read(settingsMs, async () => valueOf(await settings))
  const changes = valueOf(known)?.nodes ?? []
  return Promise.all(
    Object.entries(config.chains).map(([name, chain]) =>
      probeChain(
        name,
        chain,
        changes.filter((change) => change.chain === name),
        environment,
      ),
    ),
  )
}

/**
 * Asks every node of a chain by itself, and the best of them for the balances of the lanes. At most four calls for each node, three for each lane, and one. Never
 * throws, and ends within `limits.chainMs`.
 * @param changes of operators, of this chain
 * @param environment for the URLs of added nodes
 */
async function probeChain(
  name: ChainName,
  chain: ChainConfig,
  changes: readonly NodeChange[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ChainFacts> {
  const asked = nodesToAsk(chain, changes, nodeVariables(chain, environment)).map((node) => ({
    ...node,
    reader: readerOf(name, chain, node),
  }))
  try {
    const nodes = await Promise.all(
      asked.map(async ({ name: node, use, isAdded, isDisabled, reader }): Promise<NodeFacts> => {
        const facts = { node, use, isAdded, isDisabled }
        if (isDisabled) return facts
        const head = await read(limits.chainMs - limits.nodeMs, () => headOf(reader))
        return { ...facts, head }
      }),
    )
    const best = bestOf(nodes)
    const reader = best === undefined ? undefined : asked[best]?.reader
    const found = reader && (await read(limits.nodeMs, () => readState(reader, chain)))
    return {
      ...{ chain: name, blockTimeMs: chain.blockTimeMs, nodes, balances: new Map() },
      ...standsAfter(chain.finality),
      ...(found && valueOf(found)),
    }
  } finally {
    for (const { reader } of asked) reader?.close()
  }
}

function standsAfter(finality: ChainConfig['finality']): Pick<ChainFacts, 'finalityStalledMs'> {
  if (finality.kind !== 'tag' || finality.standsAfterMinutes === undefined) return {}
  return { finalityStalledMs: finality.standsAfterMinutes * 60_000 }
}

function nodesToAsk(
  { nodes }: ChainConfig,
  changes: readonly NodeChange[],
  variables: Readonly<Record<string, string | undefined>>,
): NodeToAsk[] {
  const byName = new Map(changes.map((change) => [change.name, change]))
  const configured = nodes.map(({ url, use, name }, index) => {
    const known = name ?? `node-${index + 1}`
    return { name: known, url, use, isAdded: false, isDisabled: byName.get(known)?.disabled ?? false }
  })
  const names = new Set(configured.map(({ name }) => name))
  const added = changes.flatMap(({ name, url, use = 'all', disabled }) => {
    if (url === undefined || names.has(name)) return []
    const resolved = url.replaceAll(/\$\{([^}]*)\}/g, (_, variable: string) => variables[variable] ?? '')
    return [{ name, url: resolved, use, isAdded: true, isDisabled: disabled }]
  })
  return [...configured, ...added]
}

/** Undefined: its URL lacks a variable of the environment, and cannot be called. */
function readerOf(name: ChainName, chain: ChainConfig, { name: node, url, use }: NodeToAsk): ConfiguredChain | undefined {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return undefined
  return createConfiguredChain(name, chain, { nodes: [{ name: node, url, use }], timeoutMs: limits.nodeMs })
}

/** Throws NODE_UNAVAILABLE, CHAIN_ID_MISMATCH, NODE_REFUSED. */
async function headOf(reader: ConfiguredChain | undefined): Promise<NodeHead | undefined> {
  if (!reader) throw new RelayerError('CONFIG_INVALID', { detail: 'its URL names a variable that is not set here' })
  const status = () => reader.nodes()[0]
  const reads = status()?.use === 'all' || status()?.use === 'read'
  await reader.connect().catch((error: unknown) => {
    // One that only takes transactions shows no head.
    if (reads || status()?.state !== 'up') throw error
  })
  const head = reader.heads.current
  if (!head) return undefined
  const { latest, finalized } = head
  const { latencyMs } = status() ?? {}
  return {
    height: latest.height,
    at: latest.timestamp * 1_000,
    finalized,
    ...(latest.baseFee !== undefined && { baseFee: latest.baseFee }),
    ...(latencyMs !== undefined && { latencyMs }),
  }
}

/** The place of the highest node that reads. */
function bestOf(nodes: readonly NodeFacts[]): number | undefined {
  const heights = nodes.map(({ head }) => head && valueOf(head)?.height)
  const highest = Math.max(...heights.map((height) => height ?? -1))
  return highest < 0 ? undefined : heights.indexOf(highest)
}

async function readState(reader: ConfiguredChain, { finality, lanes }: ChainConfig): Promise<Pick<ChainFacts, 'balances' | 'finalAt'>> {
  const finalized = reader.heads.current?.finalized ?? 0
  const [final, ...balances] = await Promise.all([
    finality.kind === 'tag' ? reader.block(finalized, 'latest') : undefined,
    ...lanes.slice(0, mostLanes).map(async ({ address }) => [address, (await reader.account(address)).balance] as const),
  ])
  return { balances: new Map(balances), ...(final && { finalAt: final.timestamp * 1_000 }) }
}
