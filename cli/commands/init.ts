import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Option } from 'commander'
import type { Call, CommandSpec, Outcome } from '../command.ts'
import { configText, keystoreOf, variablesOf } from '../init/config-text.ts'
import { ask, chainsNamed, type Choice } from '../init/choose.ts'
import { type Network, networks, successorOf } from '../init/networks.ts'
import { invalid } from '../arguments/options.ts'
import { facts, verbatim } from '../output/output.ts'

interface InitOptions {
  readonly network?: Network
  readonly chain?: string[]
  readonly out: string
  readonly force?: true
}

export const initCommand: CommandSpec = {
  description: 'Write a config, with comments, for chains with a Wormhole token bridge: addresses, ids and finality are filled in.',
  options: (command) =>
    command
      .addOption(new Option('--network <name>', 'the networks (default: mainnet)').choices(networks))
      .option('--chain <name>', 'deliver on this chain: its name or its Wormhole chain id (may be repeated)', collect)
      .option('--out <file>', 'the file to write', 'portage.yaml')
      .option('--force', 'overwrite the file if it exists'),
  notes: `Asks on the terminal where no --chain is given. Addresses and ids come from the tables of the Wormhole SDK, finality from
docs/operate/chains.md. FILL IN marks the rest, which is printed, too: the URLs of nodes, as environment variables;
the key of each chain; the fee of each token that is delivered.`,
  examples: ['portage init', 'portage init --network mainnet --chain ethereum --chain bsc --out portage.yaml'],
  run: async (call: Call<InitOptions>): Promise<Outcome> => {
    const { network, chains } = await choose(call)
    const { context, options } = call
    const file = resolve(context.cwd(), options.out)
    await write(file, configText(network, chains), options)
    const variables = variablesOf(chains)
    const next = [
      ...chains.map((chain) => `portage keystore new --out ${keystoreOf(chain)}`),
      ...['portage config check', 'portage setup temporal', 'portage doctor', 'portage run --role all --pretty'],
    ].map((line) => (options.out === 'portage.yaml' ? line : line.replace(/^portage (?!keystore)/, `portage --config ${options.out} `)))
    const text = [
      `${options.out}: ${network}, ${chains.map(({ name }) => name).join(', ')}`,
      ...chains.flatMap((chain) => {
        const successor = successorOf(chain)
        const ids = `EIP-155 chain id ${chain.networkId}`
        return successor === undefined ? [] : [`! ${chain.name} (${ids}) was shut down in 2024: --chain ${successor} has replaced it.`]
      }),
      'Set these variables:',
      facts(Object.fromEntries(Object.entries(variables).map(([name, meaning]) => [`  ${name}`, meaning]))),
      'Then, in this order. Fill in (FILL IN in the file) the address of each key, and the fee of each token that you deliver:',
      // Not wrapped: the lines can be copied.
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

/** Throws INPUT_INVALID for a file that exists or cannot be written. */
async function write(file: string, text: string, { out, force }: InitOptions): Promise<void> {
  try {
    await writeFile(file, text, { flag: force ? 'w' : 'wx' })
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const detail = exists ? 'The file exists already: --force overwrites it, --out names another.' : 'The file cannot be written.'
    throw invalid(detail, { file: out }, cause)
  }
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}
