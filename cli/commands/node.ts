import { Command, Option } from 'commander'
import { readSettings } from '../../api/settings.ts'
import { namesOf } from '../../api/settings-scopes.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { NodeChange, NodeUse, Settings } from '../../domain/settings/settings.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { lookAtNodes } from '../nodes.ts'
import { print, table } from '../output.ts'
import { order, withAuthor } from '../settings.ts'
import { withClient } from '../temporal.ts'

interface Options {
  readonly reason: string
  readonly by?: string
}

/** `portage node …` */
export function nodeCommand(cli: Cli): Command {
  return new Command('node')
    .description("The nodes of the chains: how they are, and changes of the config's list while everything runs.")
    .addCommand(listCommand(cli))
    .addCommand(addCommand(cli))
    .addCommand(removeCommand(cli))
    .addCommand(enableCommand(cli))
    .addCommand(disableCommand(cli))
}

function listCommand({ context, action }: Cli): Command {
  return new Command('list')
    .description('All nodes, configured and added, as this machine reaches them. Connects to each; changes nothing.')
    .option('--chain <name>', 'of this chain only')
    .addHelpText('after', '\nExample:\n  portage node list --chain bsc --json')
    .action(
      action(async (globals, { chain }: { chain?: string }) => {
        const config = await readConfig(context, globals)
        const settings = await withClient(config, (client) => readSettings(client))
        const nodes = await lookAtNodes(config, settings, context.env, chain)
        const rows = nodes.map(({ chain: of, name, origin, use, state, lag, latencyMs, source }) => [
          `${of}/${name}`,
          origin,
          use,
          state,
          lag === undefined ? '-' : String(lag),
          latencyMs === undefined ? '-' : `${Math.round(latencyMs)} ms`,
          source,
        ])
        print(context, globals, { nodes }, table(['node', 'origin', 'use', 'state', 'lag', 'latency', 'from'], rows))
        return exitCodes.ok
      }),
    )
}

function addCommand(cli: Cli): Command {
  return named(new Command('add'), 'of the new node')
    .description('Add a node to a chain. Each worker checks that it serves the right network before it is used.')
    .argument('<url>', 'JSON-RPC over HTTP; a secret in it must be a ${VARIABLE} of the workers, in single quotes')
    .addOption(new Option('--use <use>', 'what it is for').choices(['all', 'read', 'send', 'private']).default('all'))
    .addHelpText('after', addHelp)
    .action(
      cli.action(async (globals, chain: string, name: string, url: string, { use, ...author }: Options & { use: NodeUse }) => {
        const note = { done: `added: ${chain}/${name}; portage node list shows how it is`, same: `${chain}/${name} is there already` }
        return order(cli, globals, author, [{ kind: 'setNode', change: { chain, name, disabled: false, url, use } }], note)
      }),
    )
}

function removeCommand(cli: Cli): Command {
  return named(new Command('remove'), 'of a node that was added')
    .description('Remove a node that was added. One of the config is disabled instead.')
    .addHelpText('after', '\nExample:\n  portage node remove bsc spare --reason "contract ended"')
    .action(
      cli.action(async (globals, chain: string, name: string, options: Options) => {
        const { configured, change } = await look(cli, globals, chain, name)
        if (configured) {
          const detail = `${chain}/${name} is in the config: portage node disable takes it out, and portage node enable back in.`
          throw new RelayerError('INPUT_INVALID', { detail })
        }
        const note = { done: `removed: ${chain}/${name}`, same: `there is no added node ${chain}/${name}` }
        if (!change) throw new RelayerError('INPUT_INVALID', { detail: note.same })
        return order(cli, globals, options, [{ kind: 'clearNode', chain, name }], note)
      }),
    )
}

function enableCommand(cli: Cli): Command {
  return named(new Command('enable'), 'of the node')
    .description('Use a node again that was disabled.')
    .addHelpText('after', '\nExample:\n  portage node enable bsc node-2 --reason "it is in sync again"')
    .action(
      cli.action(async (globals, chain: string, name: string, options: Options) => {
        const { change } = await look(cli, globals, chain, name)
        const note = { done: `enabled: ${chain}/${name}`, same: `${chain}/${name} is enabled already` }
        if (change?.url !== undefined)
          return order(cli, globals, options, [{ kind: 'setNode', change: { ...change, disabled: false } }], note)
        return order(cli, globals, options, [{ kind: 'clearNode', chain, name }], note)
      }),
    )
}

function disableCommand(cli: Cli): Command {
  return named(new Command('disable'), 'of the node')
    .description('Neither read from a node nor send to it, until it is enabled. Every process obeys within some two seconds.')
    .addHelpText('after', '\nExample:\n  portage node disable bsc node-2 --reason "it lies about receipts"')
    .action(
      cli.action(async (globals, chain: string, name: string, options: Options) => {
        const { change, others } = await look(cli, globals, chain, name)
        const last = others ? '' : `; no node of ${chain} is left: nothing is read there, and nothing sent, until one is enabled or added`
        const note = { done: `disabled: ${chain}/${name}${last}`, same: `${chain}/${name} is disabled already` }
        return order(cli, globals, options, [{ kind: 'setNode', change: { ...change, chain, name, disabled: true } }], note)
      }),
    )
}

/** What the config and the settings have of this node. */
async function look(
  { context }: Cli,
  globals: GlobalOptions,
  chain: string,
  name: string,
): Promise<{ configured: boolean; change: NodeChange | undefined; others: boolean }> {
  const config = await readConfig(context, globals)
  const { nodes }: Settings = await withClient(config, (client) => readSettings(client))
  const configured = namesOf(config).nodes[chain] ?? []
  const changes = nodes.filter((one) => one.chain === chain)
  const disabled = new Set(changes.filter((one) => one.disabled).map((one) => one.name))
  const all = new Set([...configured, ...changes.map((one) => one.name)])
  return {
    configured: configured.includes(name),
    change: changes.find((one) => one.name === name),
    others: [...all].some((one) => one !== name && !disabled.has(one)),
  }
}

function named(command: Command, whose: string): Command {
  return withAuthor(command.argument('<chain>', 'name of the chain').argument('<name>', `name ${whose}; portage node list shows all`))
}

const addHelp = `
The URL is kept in Temporal's history, so a key in it is refused. The workers replace \${VARIABLE} from their own environment; its name has
to contain RPC, NODE or URL.

Examples:
  portage node add bsc spare http://10.0.0.7:8545 --reason "more capacity"
  portage node add ethereum provider 'https://eth.example/v3/\${NODE_KEY}' --use read --reason "second source"`
