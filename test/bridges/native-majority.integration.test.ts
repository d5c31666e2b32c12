import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { batchIntent } from '../../bridges/native-bridge/calls.ts'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { createVerifiedMessages } from '../../bridges/kit/verified-messages.ts'
import { readMessage } from '../../bridges/native-bridge/message.ts'
import { createNativeSource } from '../../bridges/native-bridge/streams.ts'
import type { ScannedSource } from '../../bridges/port.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { testChain } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { type RpcProxy, startRpcProxy } from '../helpers/rpc-proxy.ts'

const count = 4

describe('a source of the native bridge one of whose nodes is wrong', () => {
  let network: NativeBridgeNetwork
  let source: ScannedSource
  let transfers: readonly Transfer[]
  const ends = new Map<'source' | 'target', { chain: EvmChain; liar: RpcProxy }>()

  async function connect(name: 'source' | 'target') {
    const { anvil, chain: alone } = network[name]
    const proxies = await Promise.all([1, 2, 3].map(() => startRpcProxy(anvil.url)))
    const chain = testChain(
      proxies.map(({ url }) => url),
      { name, networkId: Number(alone.networkId) },
    )
    await chain.connect()
    const [liar] = proxies
    if (!liar) throw new Error('there are no proxies')
    const end = { chain, liar }
    ends.set(name, end)
    return end
  }

  function lie(name: 'source' | 'target', method: string, values: readonly unknown[]) {
    const { liar } = ends.get(name) ?? {}
    if (!liar) throw new Error('not connected')
    const selector = nativeBridgeAbi.getFunction(method)?.selector ?? ''
    const answer = nativeBridgeAbi.encodeFunctionResult(method, values)
    let answered = 0
    liar.alter = (rpc, _result, [call]) => {
      const { data = '', input = data } = (call ?? {}) as { data?: string; input?: string }
      if (rpc !== 'eth_call' || !input.startsWith(selector)) return undefined
      answered++
      return answer
    }
    return { answered: () => answered, end: () => (liar.alter = undefined) }
  }

  beforeAll(async () => {
    network = await startNativeBridge('fixed')
    transfers = await network.transfers(1n, 2n, 3n, 4n)
    const [{ chain: from }, { chain: to }] = await Promise.all([connect('source'), connect('target')])
    source = createNativeSource({
      route: network.route,
      source: from,
      target: to,
      startBlock: 0,
      maxOpen: 10,
      verified: createVerifiedMessages(),
    })
  })
  afterAll(async () => {
    for (const { chain } of ends.values()) chain.close()
    await network?.stop()
  })

  test('a source does not believe a delivery that one node alone shows, because it would never start it', async () => {
    const [first] = transfers
    const liar = lie('target', 'idsToInboundNonces', [first?.sequence])
    expect(await source.delivered(transfers)).toEqual(transfers.map(() => false))
    expect(liar.answered()).toBeGreaterThan(0)
    liar.end()
  })

  test('a source believes a delivery that most nodes show', async () => {
    const done = transfers.slice(0, 2)
    await network.deliver(
      batchIntent(
        network.route.targetBridge,
        done.map(({ message }) => readMessage(Buffer.from(message, 'base64'))),
      ),
    )
    const height = network.target.chain.heads.current?.latest.height ?? 0
    await network.target.finalise()
    const { chain } = ends.get('target') ?? {}
    if (chain) await head(chain, ({ finalized }) => finalized >= height)
    expect(await source.delivered(transfers)).toEqual(transfers.map((transfer) => done.includes(transfer)))
  })

  test('a source finds a transfer that one node hides in the table of the other nodes', async () => {
    const zero = `0x${'0'.repeat(64)}`
    const liar = lie('source', 'noncesToOutboundTransfers', [zero, `0x${'0'.repeat(40)}`, zero, 0n])
    const numbers = [...transfers.map(({ sequence }) => sequence), String(count + 1)]
    expect(await source.recorded(numbers, 'finalized')).toEqual([...transfers, undefined])
    expect(liar.answered()).toBeGreaterThan(0)
    liar.end()
  })

  test('a source asks the other nodes if the entry of one node contradicts itself', async () => {
    const liar = lie('source', 'noncesToOutboundTransfers', [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(40)}`, `0x${'3'.repeat(64)}`, 5n])
    expect(
      await source.recorded(
        transfers.map(({ sequence }) => sequence),
        'finalized',
      ),
    ).toEqual(transfers)
    expect(liar.answered()).toBeGreaterThan(0)
    liar.end()
  })

  test('a source reads the logs that most nodes show, and not those that one node makes up', async () => {
    const toBlock = ends.get('source')?.chain.heads.current?.finalized ?? 0
    const { liar } = ends.get('source') ?? {}
    if (!liar) throw new Error('not connected')
    liar.alter = (rpc) => (rpc === 'eth_getLogs' ? [] : undefined)
    expect(await source.initiated({ fromBlock: 0, toBlock })).toEqual([])
    const agreed = await source.initiated({ fromBlock: 0, toBlock }, 'agreed')
    expect(agreed.map(({ transfer }) => transfer)).toEqual(transfers)
    liar.alter = undefined
  })
})
