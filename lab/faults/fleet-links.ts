import type { Devnet } from '../devnet/index.ts'
import { startTcpProxy, type TcpProxy } from '../devnet/fault-proxy/tcp-proxy.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'

type ChainKey = keyof Devnet['nodes']

export interface Links {
  readonly temporal: TcpProxy
  readonly nodes: Readonly<Record<ChainKey, readonly TcpProxy[]>>
  heal(): void
  stop(): Promise<void>
}

export async function startLinks({ temporal, nodes }: Devnet): Promise<Links> {
  const to = (address: string) => startTcpProxy({ host: '127.0.0.1', port: Number(new URL(`tcp://${address}`).port) })
  const toNodes = (chain: ChainKey) => Promise.all(nodes[chain].map(({ url }) => to(new URL(url).host)))
  const links = { temporal: await to(temporal.address), nodes: { ethereum: await toNodes('ethereum'), bsc: await toNodes('bsc') } }
  const all = [links.temporal, ...links.nodes.ethereum, ...links.nodes.bsc]
  return {
    ...links,
    heal: () => all.forEach((one) => one.heal()),
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  }
}

/** Changes the config so that a process reaches Temporal and the nodes only through these links. */
export function withLinks(config: ConfigInput, { temporal, nodes }: Links): ConfigInput {
  const chains = Object.entries(config.chains).map(([name, chain]) => {
    return [name, { ...chain, nodes: nodes[name as ChainKey].map(({ port }) => ({ url: `http://127.0.0.1:${port}` })) }] as const
  })
  return {
    ...config,
    // The server's certificate names `localhost`.
    temporal: { ...config.temporal, address: `localhost:${temporal.port}` },
    chains: Object.fromEntries(chains) as ConfigInput['chains'],
  }
}
