import type { NodeStatus } from '../chains/port.ts'
import type { Config } from '../config/schema.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { createConfiguredChain } from './chains.ts'
import { chainOf, nodeVariables } from '../config/chains.ts'

/** A node as this machine sees it. */
export interface NodeRow extends NodeStatus {
  readonly chain: string
  readonly source: 'config' | 'added'
}

/** Longest wait for a node, ms. */
const timeoutMs = 3_000

/** Connects to every node of the config, or of one chain, with the changes of operators applied. Throws INPUT_INVALID for an unknown chain. */
export async function lookAtNodes(config: Config, settings: Settings, env: NodeJS.ProcessEnv, only?: string): Promise<NodeRow[]> {
  const names = only === undefined ? Object.keys(config.chains) : [only]
  const found = await Promise.all(
    names.map(async (name) => {
      const chain = createConfiguredChain(name, chainOf(config, name), { timeoutMs, environment: nodeVariables(env) })
      try {
        const changes = settings.nodes.filter((change) => change.chain === name)
        chain.adjustNodes(changes)
        // A node that does not answer has that state in its row.
        await chain.connect().catch(() => {})
        const added = new Set(changes.filter(({ url }) => url !== undefined).map((change) => change.name))
        return chain.nodes().map((node): NodeRow => ({ chain: name, ...node, source: added.has(node.name) ? 'added' : 'config' }))
      } finally {
        chain.close()
      }
    }),
  )
  return found.flat()
}
