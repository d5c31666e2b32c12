import { createInterface } from 'node:readline'
import type { CliContext } from '../context.ts'
import { type KnownChain, knownChains, type Network, networks } from './networks.ts'

export interface Choice {
  readonly network: Network
  readonly chains: readonly KnownChain[]
}

/** By name, with or without dashes, or Wormhole chain id. A string says why there is none. */
function chainNamed(network: Network, text: string): KnownChain | string {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_ ]/g, '')
  const known = knownChains(network)
  const found = known.find(({ name, wormholeChainId }) => plain(name) === plain(text) || String(wormholeChainId) === text)
  const names = known.map(({ name }) => name).join(', ')
  return found ?? `no EVM chain of ${network} with a token bridge is called ${JSON.stringify(text.slice(0, 40))}; there are: ${names}`
}

/** Each once, or a sentence that says why there is none. */
export function chainsNamed(network: Network, names: readonly string[]): readonly KnownChain[] | string {
  const chains = names.map((name) => chainNamed(network, name))
  return chains.find((one) => typeof one === 'string') ?? [...new Set(chains as KnownChain[])]
}

/** Asks on the terminal, again after an invalid answer. Undefined: it was closed. */
export async function ask({ stdin, stderr }: CliContext, given: Network | undefined): Promise<Choice | undefined> {
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
