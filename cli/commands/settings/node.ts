import { type Command, Option } from 'commander'
import { ageText } from '../../../domain/text/age.ts'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import { chainOf, namesOf, nodeVariables } from '../../../config/chains.ts'
import type { Config } from '../../../config/schema/schema.ts'
import type { NodeUse, Settings } from '../../../domain/settings/settings.ts'
import { createConfiguredChain } from '../../../chains/registry.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { type Reasoned, invalid, withReason } from '../../arguments/options.ts'
import { sendToSettings } from '../../orders.ts'
import { table, timeText } from '../../output/output.ts'

export const nodeCommand: CommandSpec = {
  description: "The nodes of the chains: how they are, and changes of the config's list while everything runs.",
  commands: {
    list: {
      description: 'All nodes, configured and added, as this machine reaches them. Connects to each; changes nothing.',
      options: (command) => command.option('--chain <name>', 'of this chain only'),
      examples: ['portage node list --chain bsc --json'],
      run: async ({ withTemporal, context, options }: Call<{ chain?: string }>) => {
        const [settings, config] = await withTemporal(async (client, loaded) => [await readSettings(client), loaded] as const)
        const nodes = await lookAtNodes(config, settings, context.env, options.chain)
        const now = Date.now()
        const rows = nodes.map(({ chain, name, origin, use, state, lag, latencyMs, source, asOf }) => {
          const latency = latencyMs === undefined ? undefined : `${Math.round(latencyMs)} ms`
          const age = asOf === undefined ? undefined : ageText(now - Date.parse(asOf))
          return [`${chain}/${name}`, origin, use, state, lag, latency, age, source]
        })
        const asOf = new Date(now).toISOString()
        const headings = ['node', 'origin', 'use', 'state', 'lag', 'latency', 'age', 'from']
        return { json: { asOf, nodes }, text: [`read ${timeText(asOf)}Z`, table(headings, rows)] }
      },
    },
    add: {
      description: 'Add a node to a chain. Each worker checks that it serves the right network before it is used.',
      options: (command) =>
        named(command, 'of the new node')
          .argument('<url>', 'JSON-RPC over HTTP; a secret in it must be a ${VARIABLE} of the workers, in single quotes')
          .addOption(new Option('--use <use>', 'what it is for').choices(['all', 'read', 'send', 'private']).default('all')),
      notes: `The URL is kept in Temporal's history, so a key in it is refused. The workers replace \${VARIABLE} from their own environment, if
the config lists it in urlVariables of the chain. An added node serves while those of the config do not answer. It never counts where nodes are
counted: majorities are of the config's nodes.`,
      examples: [
        'portage node add bsc spare http://10.0.0.7:8545 --reason "more capacity"',
        `portage node add ethereum provider 'https://eth.example/v3/\${NODE_KEY}' --use read --reason "second source"`,
      ],
      run: (call: Call<Reasoned & { use: NodeUse }>, chain: string, name: string, url: string) => {
        const change = { chain, name, disabled: false, url, use: call.options.use }
        const words = { done: `added: ${chain}/${name}; portage node list shows how it is`, same: `${chain}/${name} is there already` }
        return sendToSettings(call, words, [{ kind: 'setNode', change }])
      },
    },
    remove: {
      description: 'Remove a node that was added. One of the config is disabled instead.',
      options: (command) => named(command, 'of a node that was added'),
      examples: ['portage node remove bsc spare --reason "contract ended"'],
      run: (call: Call<Reasoned>, chain: string, name: string) =>
        sendToSettings(call, { done: `removed: ${chain}/${name}` }, (settings, config) => {
          const { configured, change } = look(settings, config, chain, name)
          const detail = configured
            ? `${chain}/${name} is in the config: portage node disable takes it out, and portage node enable back in.`
            : `there is no added node ${chain}/${name}`
          if (configured || !change) throw invalid(detail)
          return { orders: [{ kind: 'clearNode', chain, name }] }
        }),
    },
    enable: {
      description: 'Use a node again that was disabled.',
      options: (command) => named(command, 'of the node'),
      examples: ['portage node enable bsc node-2 --reason "it is in sync again"'],
      run: (call: Call<Reasoned>, chain: string, name: string) => {
        const words = { done: `enabled: ${chain}/${name}`, same: `${chain}/${name} is enabled already` }
        return sendToSettings(call, words, (settings, config) => {
          const { change } = look(settings, config, chain, name)
          const added = change?.url !== undefined
          return { orders: [added ? { kind: 'setNode', change: { ...change, disabled: false } } : { kind: 'clearNode', chain, name }] }
        })
      },
    },
    disable: {
      description:
        'Neither read from a node nor send to it, until it is enabled. It stays counted in majorities, as silent: the answer warns where no majority is left. Every process obeys within some two seconds.',
      options: (command) => named(command, 'of the node'),
      examples: ['portage node disable bsc node-2 --reason "it lies about receipts"'],
      run: (call: Call<Reasoned>, chain: string, name: string) => {
        const words = { done: `disabled: ${chain}/${name}`, same: `${chain}/${name} is disabled already` }
        return sendToSettings(call, words, (settings, config) => {
          const { change } = look(settings, config, chain, name)
          return { orders: [{ kind: 'setNode', change: { ...change, chain, name, disabled: true } }] }
        })
      },
    },
  },
}

/** Longest wait for a node, ms. */
const timeoutMs = 3_000

/** Connects to every node of the config, or of one chain, with the changes of operators applied. Throws INPUT_INVALID for an unknown chain. */
async function lookAtNodes(config: Config, settings: Settings, env: NodeJS.ProcessEnv, only?: string) {
  const names = only === undefined ? Object.keys(config.chains) : [only]
  const found = await Promise.all(
    names.map(async (name) => {
      const chain = createConfiguredChain(name, chainOf(config, name), {
        timeoutMs,
        environment: nodeVariables(chainOf(config, name), env),
      })
      try {
        const changes = settings.nodes.filter((change) => change.chain === name)
        chain.adjustNodes(changes)
        // A node that does not answer has that state in its row.
        await chain.connect().catch(() => {})
        const added = new Set(changes.filter(({ url }) => url !== undefined).map((change) => change.name))
        return chain.nodes().map((node) => {
          const { askedAt, ...status } = node
          const read = askedAt !== undefined && { asOf: new Date(askedAt).toISOString() }
          return { chain: name, ...status, ...read, source: added.has(node.name) ? 'added' : 'config' }
        })
      } finally {
        chain.close()
      }
    }),
  )
  return found.flat()
}

/** What the config and the settings say of this node. */
function look({ nodes }: Settings, config: Config, chain: string, name: string) {
  const configured = namesOf(config).nodes[chain] ?? []
  return {
    configured: configured.includes(name),
    change: nodes.find((one) => one.chain === chain && one.name === name),
  }
}

function named(command: Command, whose: string): Command {
  return withReason(command.argument('<chain>', 'name of the chain').argument('<name>', `name ${whose}; portage node list shows all`))
}
