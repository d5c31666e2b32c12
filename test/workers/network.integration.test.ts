import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMessage, writeMessage } from '../../bridges/native-bridge/message.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import { connectNetwork, demandSources, type Network } from '../../workers/roles/network.ts'
import { type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { codeOf } from '../helpers/refusals.ts'
import { ofChain } from '../../domain/transfer/transfer.ts'

describe('the network of a process that serves one end of a native bridge', () => {
  let anvils: NativeBridgeNetwork
  const networks: Network[] = []
  beforeAll(async () => {
    anvils = await startNativeBridge('fixed')
  })
  afterAll(async () => {
    for (const network of networks) network.close()
    await anvils?.stop()
  })

  const configs: Config[] = []

  async function connect(only?: readonly string[]): Promise<Network> {
    const { source, target } = anvils
    const chain = ({ anvil }: typeof source) => ({ family: 'evm', networkId: anvil.chainId, nodes: [{ url: anvil.url }], blockTimeMs: 200 })
    const [one, other] = [
      { source: 'source', sourceContract: source.bridge },
      { source: 'target', sourceContract: target.bridge },
    ]
    const routes = [
      { ...one, target: 'target', targetContract: target.bridge, startBlock: 7, maxOpen: 11 },
      { ...other, target: 'source', targetContract: source.bridge },
    ]
    const config = configSchema.parse({
      chains: { source: chain(source), target: chain(target) },
      bridges: { 'native-bridge': { routes } },
    })
    configs.push(config)
    const network = await connectNetwork(config, { only })
    networks.push(network)
    return network
  }

  test('a process reads the source of its transfers and delivers nothing there', async () => {
    const { chains, served, bridges } = await connect(['target'])
    expect([[...chains.keys()], served]).toEqual([['target', 'source'], ['target']])
    const bridge = bridges.get('native-bridge')!
    expect(bridge.sources.map(({ config }) => config)).toEqual([
      { stream: 'native-bridge:source:target', origin: expect.stringMatching(/^1337\/0x[0-9a-f]{40}$/), first: '1', start: 7, maxOpen: 11 },
    ])
    expect(codeOf(() => ofChain(bridge.endpoints, { chain: 'source' }))).toBe('TARGET_CHAIN_UNSUPPORTED')
    const [transfer] = await anvils.transfers(5n)
    const message = Buffer.from(transfer!.message, 'base64')
    expect(await bridge.endpoints.get('target')!.verify(message)).toMatchObject({ kind: 'valid' })
    const { bridge: sourceBridge, anvil } = anvils.target
    const back = writeMessage({ ...readMessage(message), sourceBridge, sourceNetworkId: BigInt(anvil.chainId) })
    expect(bridge.decode(back)).toMatchObject({ sourceChain: 'target', targetChain: 'source' })
  })

  test('a lane starts only where the sources of the transfers to its chain are read: its key proves by them', async () => {
    const network = await connect(['target'])
    const config = configs.at(-1)!
    demandSources({ config, network }, 'target')
    const alone = { chains: new Map([...network.chains].filter(([name]) => name === 'target')) }
    expect(codeOf(() => demandSources({ config, network: alone }, 'target'))).toBe('CONFIG_INVALID')
  })

  test('a chain that is only read for its oracle neither prevents nor allows the start of a process', async () => {
    const { anvil } = anvils.source
    const chain = (networkId: number, url: string) => ({ family: 'evm', networkId, nodes: [{ url }], blockTimeMs: 200 })
    const sources = [{ kind: 'oracle', chain: 'oracle', feeds: { served: `0x${'11'.repeat(20)}` } }]
    const start = async (served: string, networkId: number) => {
      const away: string[] = []
      const chains = { served: chain(anvil.chainId, served), oracle: chain(networkId, anvil.url) }
      const config = configSchema.parse({ chains, bridges: {}, priceFeed: { sources } })
      networks.push(await connectNetwork(config, { only: ['served'], onAway: ({ name }) => void away.push(name) }))
      return away
    }
    expect(await start(anvil.url, anvil.chainId)).toEqual([])
    expect(await start(anvil.url, 5)).toEqual(['oracle'])
    await expect(start('http://127.0.0.1:1', anvil.chainId)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test('an audit needs all chains of its route, but not the chain of an oracle', async () => {
    const { anvil } = anvils.source
    const chain = (url: string) => ({ family: 'evm', networkId: anvil.chainId, nodes: [{ url }], blockTimeMs: 200 })
    const sources = [{ kind: 'oracle', chain: 'oracle', feeds: { served: `0x${'11'.repeat(20)}` } }]
    const connectAll = (served: string, oracle: string) =>
      connectNetwork(
        configSchema.parse({ chains: { served: chain(served), oracle: chain(oracle) }, bridges: {}, priceFeed: { sources } }),
        {
          only: ['served'],
        },
      )
    const network = await connectAll(anvil.url, 'http://127.0.0.1:1')
    networks.push(network)
    expect([network.served, [...network.chains.keys()]]).toEqual([['served'], ['served', 'oracle']])
    await expect(connectAll('http://127.0.0.1:1', anvil.url)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test('a process that serves both chains of a route delivers in both directions', async () => {
    const { served, bridges } = await connect()
    expect(served).toEqual(['source', 'target'])
    expect(bridges.get('native-bridge')!.sources.map(({ config: { stream } }) => stream)).toEqual([
      'native-bridge:source:target',
      'native-bridge:target:source',
    ])
  })
})
