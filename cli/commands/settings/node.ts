import { ageText } from '../../../domain/text/age.ts'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import { chainOf, nodeVariables } from '../../../config/chains.ts'
import type { Config } from '../../../config/schema/schema.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import { createConfiguredChain } from '../../../chains/registry.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { orderCommands } from '../../orders.ts'
import { table, timeText } from '../../output/output.ts'

export const nodeCommand: CommandSpec = {
  description: 'The nodes of the chains: their state, and nodes added or disabled at runtime.',
  commands: {
    list: {
      description:
        'All configured and added nodes, and whether this machine reaches them. The command connects to each node and changes nothing.',
      options: (command) => command.option('--chain <name>', 'only nodes of this chain'),
      examples: ['portage node list --chain bsc --json'],
      run: async ({ withTemporal, context, options }: Call<{ chain?: string }>) => {
        const [settings, config] = await withTemporal(async (client, loaded) => [await readSettings(client), loaded] as const)
        const nodes = await readNodes(config, settings, context.env, options.chain)
        const now = Date.now()
        const rows = nodes.map(({ chain, name, origin, use, state, lag, latencyMs, source, asOf }) => ({
          ...{ node: `${chain}/${name}`, origin, use, state, lag },
          latency: latencyMs === undefined ? undefined : `${Math.round(latencyMs)} ms`,
          age: asOf === undefined ? undefined : ageText(now - Date.parse(asOf)),
          from: source,
        }))
        const asOf = new Date(now).toISOString()
        return { json: { asOf, nodes }, text: [`read ${timeText(asOf)}Z`, table(rows)] }
      },
    },
    ...orderCommands('node'),
  },
}

const timeoutMs = 3_000

async function readNodes(config: Config, settings: Settings, env: NodeJS.ProcessEnv, only?: string) {
  const names = only === undefined ? Object.keys(config.chains) : [only]
  const read = async (name: string) => {
    const configured = chainOf(config, name)
    const chain = createConfiguredChain(name, configured, { timeoutMs, environment: nodeVariables(configured, env) })
    try {
      chain.adjustNodes(settings.nodes.filter((change) => change.chain === name))
      await chain.connect().catch(() => {})
      return chain.nodes().map(({ askedAt, ...node }) => {
        const asOf = askedAt !== undefined && { asOf: new Date(askedAt).toISOString() }
        return { chain: name, ...node, ...asOf, source: node.added ? 'added' : 'config' }
      })
    } finally {
      chain.close()
    }
  }
  return (await Promise.all(names.map(read))).flat()
}
