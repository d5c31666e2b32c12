import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Option } from 'commander'
import type { Call, CommandSpec } from '../command.ts'
import { facts, type Outcome, verbatim } from '../output/output.ts'
import { configText, keystoreOf, variablesOf } from '../init/config-text.ts'
import { ended, type KnownChain, knownChains, type Network, networks } from '../init/networks.ts'
import { collect, writing } from '../arguments/options.ts'
import { createInterface } from 'node:readline'
import type { CliContext } from '../context.ts'
import { demandOwnMessages } from '../../bridges/configured-emitters.ts'
import { bridgeNames } from '../../config/chains.ts'
import { configJsonSchema } from '../../config/schema/fields.ts'
import { checkNodeCounts, checkNodeNames } from '../doctor/chains.ts'
import { checkBaseFees } from '../doctor/executor.ts'
import { checkSmallestAmounts } from '../doctor/services.ts'
import { temporalText } from '../doctor/temporal.ts'

type InitOptions = { network?: Network; chain?: string[]; out: string; force?: true }

export const initCommand: CommandSpec = {
  description:
    'Write a config, with comments, for chains with a Wormhole token bridge. The config has the addresses, ids and finality of these chains.',
  options: (command) =>
    command
      .addOption(new Option('--network <name>', 'the networks (default: mainnet)').choices(networks))
      .option('--chain <name>', 'deliver on this chain: its name or its Wormhole chain id (may be repeated)', collect)
      .option('--out <file>', 'the file to write', 'portage.yaml')
      .option('--force', 'overwrite the file if it exists'),
  notes: `Without --chain, the command asks on the terminal. Addresses and ids come from the tables of the Wormhole SDK, finality from
docs/operate/chains.md. The command prints the environment variables that you must set: the URLs of nodes and the password of the key
files. FILL IN marks what you must add to the file: the address of each key, and the fee of each token to deliver.`,
  examples: ['portage init', 'portage init --network mainnet --chain ethereum --chain bsc --out portage.yaml'],
  run: async (call: Call<InitOptions>): Promise<Outcome> => {
    const { network, chains } = await choose(call)
    const { context, options } = call
    const file = resolve(context.cwd(), options.out)
    await writing(options.out, 'The file exists already: --force overwrites it, --out names another.', () =>
      writeFile(file, configText(network, chains), { flag: options.force ? 'w' : 'wx' }),
    )
    const variables = variablesOf(chains)
    const next = [
      ...chains.map((chain) => `portage keystore new --out ${keystoreOf(chain)}`),
      ...['portage config check', 'portage setup temporal', 'portage doctor', 'portage run --role all --pretty'],
    ].map((line) => (options.out === 'portage.yaml' ? line : line.replace(/^portage (?!keystore)/, `portage --config ${options.out} `)))
    const text = [
      `${options.out}: ${network}, ${chains.map(({ name }) => name).join(', ')}`,
      ...chains.flatMap(({ name, networkId }) => {
        const { year, successor } = ended.get(networkId) ?? {}
        if (year === undefined) return []
        const instead = successor === undefined ? '' : `: --chain ${successor} has replaced it`
        return [`! ${name} (EIP-155 chain id ${networkId}) was shut down in ${year}${instead}.`]
      }),
      `! The file has one node per chain: nothing outvotes it if it lies. Add at least two nodes of other providers to each chain (docs/operate/chains.md).`,
      'Set these variables:',
      facts(Object.fromEntries(Object.entries(variables).map(([name, meaning]) => [`  ${name}`, meaning]))),
      'Then run these commands. After `keystore new`, replace each FILL IN in the file: the address of each key, and the fee of each token that you deliver:',
      verbatim(next.map((line) => `  ${line}`).join('\n')),
    ]
    return { json: { file, network, chains: chains.map(({ name }) => name), variables, next }, text }
  },
}

async function choose({ context, options, misuse }: Call<InitOptions>): Promise<Choice> {
  const names = options.chain ?? []
  if (names.length > 0) {
    const network = options.network ?? 'mainnet'
    const chains = chainsNamed(network, names)
    return typeof chains === 'string' ? misuse(chains) : { network, chains }
  }
  if (!context.stdin.isTTY) return misuse("required option '--chain <name>' not specified, and there is no terminal to ask at")
  return (await ask(context, options.network)) ?? misuse('no answer')
}

type Choice = { readonly network: Network; readonly chains: readonly KnownChain[] }

/** Returns the chains, or the problem as text. Dashes in names are optional, and Wormhole chain ids are accepted. */
function chainsNamed(network: Network, names: readonly string[]): readonly KnownChain[] | string {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_ ]/g, '')
  const known = knownChains(network)
  const find = (text: string) => known.find(({ name, wormholeChainId: id }) => plain(name) === plain(text) || String(id) === text)
  const unknown = names.find((text) => !find(text))
  if (unknown === undefined) return [...new Set(names.flatMap((text) => find(text) ?? []))]
  const all = known.map(({ name }) => name).join(', ')
  return `no EVM chain of ${network} with a token bridge is called ${JSON.stringify(unknown.slice(0, 40))}; there are: ${all}`
}

async function ask({ stdin, stderr }: CliContext, given: Network | undefined): Promise<Choice | undefined> {
  const terminal = createInterface({ input: stdin, terminal: false })
  const lines = terminal[Symbol.asyncIterator]()
  const answer = async <Value extends object>(question: string, read: (text: string) => Value | string): Promise<Value | undefined> => {
    for (;;) {
      stderr.write(question)
      const line = await lines.next()
      if (line.done) return undefined
      const value = read(line.value.trim())
      if (typeof value !== 'string') return value
      stderr.write(`${value}\n`)
    }
  }
  try {
    const chosen = given ? { network: given } : await answer(`Network (${networks.join(' or ')}) [mainnet]: `, readNetwork)
    if (!chosen) return undefined
    const { network } = chosen
    const known = knownChains(network).map(({ name }) => name)
    const chains = await answer(`Chains: ${known.join(', ')}\nWhich of them, with spaces between: `, (text) => {
      const names = text.split(/[\s,]+/).filter(Boolean)
      return names.length === 0 ? 'Name at least one.' : chainsNamed(network, names)
    })
    return chains && { network, chains }
  } finally {
    terminal.close()
  }
}

function readNetwork(text: string): Pick<Choice, 'network'> | string {
  const network = networks.find((name) => name === (text.toLowerCase() || 'mainnet'))
  return network ? { network } : `There are ${networks.join(' and ')}.`
}

export const configCommand: CommandSpec = {
  description: 'The config file.',
  commands: {
    check: {
      description: 'Read the config and list all its problems at once, each with its field and a remedy.',
      examples: ['portage config check --config portage.yaml'],
      run: async ({ config, temporalOf, configFile: file }) => {
        const loaded = await config()
        demandOwnMessages(loaded)
        const { chains, bridges } = loaded
        const temporal = temporalOf(loaded).settings
        const lanes = Object.values(chains).reduce((count, chain) => count + chain.lanes.length, 0)
        const found = { chains: Object.keys(chains), lanes, bridges: bridgeNames(bridges) }
        const warnings = [checkNodeCounts, checkNodeNames, checkSmallestAmounts, checkBaseFees]
          .flatMap((check) => check(loaded))
          .map(({ area, detail, remedy }) => `${area}: ${detail}. ${remedy}`)
        const text = facts({
          config: 'valid',
          chains: found.chains.join(', '),
          lanes,
          bridges: found.bridges.join(', '),
          ...temporalText(temporal),
        })
        return { json: { valid: true, file, ...found, temporal, warnings }, text: [text, ...warnings.map((line) => `! ${line}`)] }
      },
    },
    schema: {
      description: 'Print the JSON Schema of the config file, with which editors complete and check the file.',
      notes: `An editor with the YAML language server uses the schema if the first line of the config is
  # yaml-language-server: $schema=portage.schema.json`,
      examples: ['portage config schema > portage.schema.json'],
      run: async () => {
        const json = configJsonSchema()
        return { json, text: verbatim(JSON.stringify(json, null, 2)) }
      },
    },
  },
}
