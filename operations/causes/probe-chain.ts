import { medianOf, votersOf } from '../../chains/heads.ts'
import { type ConfiguredChain, createConfiguredChain } from '../../chains/registry.ts'
import { nodeVariables } from '../../config/chains.ts'
import type { ChainConfig, Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { forms, isOf } from '../../domain/text/forms.ts'
import { resolveNodeUrl } from '../../domain/settings/request.ts'
import type { NodeChange, Settings } from '../../domain/settings/settings.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { type ChainFacts, type NodeFacts, type NodeHead, type Read, tokenKey, valueOf } from './facts.ts'
import { limits, read } from './read.ts'

type Environment = Readonly<Record<string, string | undefined>>

const mostLanes = 50
const settingsMs = 1_500

/** Probes the nodes of the config and those that operators added. Never throws. `settings` may still be loading. */
export async function probeChains(
  { config, environment }: { readonly config: Pick<Config, 'chains'>; readonly environment: Environment },
  settings: Promise<Read<Settings>>,
): Promise<ChainFacts[]> {
  const known = await read(settingsMs, async () => valueOf(await settings))
  const changes = valueOf(known)?.nodes ?? []
  return Promise.all(
    Object.entries(config.chains).map(([name, chain]) =>
      // Anyone with access to Temporal can forge the settings. Without them, the nodes of the config are left.
      probeChain(name, chain, changes, environment).catch(() => probeChain(name, chain, [], environment)),
    ),
  )
}

async function probeChain(
  name: ChainName,
  chain: ChainConfig,
  changes: readonly NodeChange[],
  environment: Environment,
): Promise<ChainFacts> {
  const changesOfChain = changes.filter((change) => change.chain === name)
  const asked = nodesToAsk(chain, changesOfChain, nodeVariables(chain, environment)).map(({ url, authorization, ...facts }) => {
    const nodes = [{ name: facts.node, url, authorization, use: facts.use }]
    const reader = isOf(forms.url, url) ? createConfiguredChain(name, chain, { nodes, timeoutMs: limits.nodeMs }) : undefined
    return { ...facts, reader }
  })
  try {
    const nodes = await Promise.all(
      asked.map(async ({ reader, ...facts }): Promise<NodeFacts> => {
        const head = await read(limits.chainMs - limits.nodeMs, () => headOf(reader, chain))
        return facts.isDisabled ? { ...facts, isBack: 'value' in head } : { ...facts, head }
      }),
    )
    const minutes = chain.finality.kind === 'tag' ? chain.finality.stalledAfterMinutes : undefined
    const voters = votersOf(asked).filter(({ node }) => nodes.some((one) => one.node === node && valueOf(one.head)))
    const readers = voters.flatMap(({ reader }) => reader ?? [])
    const balances = await Promise.all(readers.map((reader) => read(limits.nodeMs, () => readBalances(reader, chain))))
    return {
      ...{ chain: name, blockTimeMs: chain.blockTimeMs, nodes, balances: middleBalances(balances.flatMap((one) => valueOf(one) ?? [])) },
      watchTokens: chain.watchTokens,
      finalityStalledMs: minutes === undefined ? undefined : minutes * 60_000,
    }
  } finally {
    for (const { reader } of asked) reader?.close()
  }
}

interface NodeToAsk extends Omit<NodeFacts, 'head'> {
  readonly url: string
  readonly authorization?: string | undefined
}

function nodesToAsk({ nodes }: ChainConfig, changes: readonly NodeChange[], variables: Environment): NodeToAsk[] {
  const byName = new Map(changes.map((change) => [change.name, change]))
  const configured = nodes.map(({ url, authorization, use, name }, index) => {
    const node = name ?? `node-${index + 1}`
    return { node, url, authorization, use, added: false, isDisabled: byName.get(node)?.disabled ?? false }
  })
  const names = new Set(configured.map(({ node }) => node))
  const added = changes.flatMap(({ name: node, url, use = 'all', disabled }) => {
    if (url === undefined || names.has(node)) return []
    const resolved = resolveNodeUrl(url, variables)
    return [{ node, url: 'url' in resolved ? resolved.url : '', use, added: true, isDisabled: disabled }]
  })
  return [...configured, ...added]
}

async function headOf(reader: ConfiguredChain | undefined, { finality }: ChainConfig): Promise<NodeHead | undefined> {
  if (!reader) throw new RelayerError('CONFIG_INVALID', { detail: 'its URL names a variable that is not set here' })
  const status = () => reader.nodes()[0]
  const reads = status()?.use === 'all' || status()?.use === 'read'
  await reader.connect().catch((error: unknown) => {
    // A node that only takes transactions has no head.
    if (reads || status()?.state !== 'up') throw error
  })
  const head = reader.heads.current
  if (!head) return undefined
  const { height, timestamp, baseFee } = head.latest
  const final = finality.kind === 'tag' ? await reader.block(head.finalized, 'latest').catch(() => undefined) : undefined
  return {
    ...{ height, at: timestamp * 1_000, finalized: head.finalized },
    ...(final && { finalAt: final.timestamp * 1_000 }),
    ...(baseFee !== undefined && { baseFee }),
  }
}

/** The median of the nodes' balances, because one node may lie. */
function middleBalances(all: readonly ChainFacts['balances'][]): ChainFacts['balances'] {
  const keys = new Set(all.flatMap((one) => [...one.keys()]))
  return new Map([...keys].map((key) => [key, String(medianOf(all.flatMap((one) => one.get(key) ?? []).map(BigInt)))]))
}

async function readBalances(reader: ConfiguredChain, { lanes, watchTokens = [] }: ChainConfig): Promise<ChainFacts['balances']> {
  const found = lanes.slice(0, mostLanes).flatMap(({ address }) => [
    reader.account(address).then(({ balance }) => [[address, balance] as const]),
    // An unreadable token (such as a wrong address) does not hide other balances.
    ...watchTokens.map(({ token }) =>
      reader.balanceOf(address, token).then(
        (units) => [[tokenKey(address, token), units] as const],
        () => [],
      ),
    ),
  ])
  return new Map((await Promise.all(found)).flat())
}
