import { createInterface } from 'node:readline'
import { type WormholeChain, wormholeChains, type WormholeNetworkName, wormholeNetworkNames } from '../../domain/wormhole-networks.ts'
import type { CliContext } from '../context.ts'

export interface Choice {
  readonly network: WormholeNetworkName
  readonly chains: readonly WormholeChain[]
}

/** The chains of a network on which Portage can deliver. */
function servedChains(network: WormholeNetworkName): readonly WormholeChain[] {
  return wormholeChains(network).filter(({ platform }) => platform === 'Evm')
}

/** The chain that a person means: by its name, with or without dashes, or by its Wormhole chain id. Or a sentence that says why there is none. */
function chainNamed(network: WormholeNetworkName, text: string): WormholeChain | string {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_ ]/g, '')
  const found = wormholeChains(network).find(({ name, id }) => plain(name) === plain(text) || String(id) === text)
  const known = servedChains(network).map(({ name }) => name)
  if (!found) return `no chain of ${network} is called ${JSON.stringify(text.slice(0, 40))}; there are: ${known.join(', ')}`
  if (found.platform === 'Evm') return found
  return `${found.name} is no EVM chain, and Portage delivers on EVM chains only`
}

/** Chains by what a person typed, each once; or the first sentence that says what is wrong. */
export function chainsNamed(network: WormholeNetworkName, names: readonly string[]): readonly WormholeChain[] | string {
  const chains = names.map((name) => chainNamed(network, name))
  return chains.find((one) => typeof one === 'string') ?? [...new Set(chains as WormholeChain[])]
}

/** Asks on the terminal which chains, and of which network unless that is known; again after an answer that cannot be. Undefined: the terminal was closed. */
export async function ask({ stdin, stderr }: CliContext, given: WormholeNetworkName | undefined): Promise<Choice | undefined> {
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
    const chosen = given ? { network: given } : await answer(`Network (${wormholeNetworkNames.join(' or ')}) [mainnet]: `, readNetwork)
    if (!chosen) return undefined
    const { network } = chosen
    const known = servedChains(network).map(({ name }) => name)
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
  const network = wormholeNetworkNames.find((name) => name === (text.toLowerCase() || 'mainnet'))
  return network ? { network } : `There are ${wormholeNetworkNames.join(' and ')}.`
}
