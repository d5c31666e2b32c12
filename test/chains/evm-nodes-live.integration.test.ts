import { describe, expect, test } from 'vitest'
import type { EvmChain, EvmNodeOptions } from '../../chains/evm/index.ts'
import type { NodeStatus } from '../../chains/port.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { processMetrics } from '../../workers/telemetry/process-metrics.ts'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting, unknownHash } from './setting.ts'

const { address } = devnetAccount(7)

describe('nodes while everything runs', () => {
  const { anvil, proxy, connect: connected } = evmSetting(3)

  const status = (chain: EvmChain, name: string) => chain.nodes().find((node) => node.name === name) as NodeStatus
  const methods = (node: RpcProxy) => new Set(node.requests.flat())

  test('each use of a node gets the calls that it is for, and no others', async () => {
    const [all, read, send, hidden] = [await proxy(), await proxy(), await proxy(), await proxy()]
    const nodes: EvmNodeOptions[] = [
      { url: all.url, name: 'all' },
      { url: read.url, use: 'read', name: 'reader' },
      { url: send.url, use: 'send', name: 'sender' },
      { url: hidden.url, use: 'private', name: 'hidden' },
    ]
    const signer = await devnetSigner(20)
    const chain = await connected(nodes)
    expect(chain.nodes().map(({ name, use, state, origin }) => [name, use, state, origin])).toEqual(
      nodes.map(({ name, use = 'all', url }) => [name, use, 'up', url]),
    )
    await chain.pendingNonce(signer.address)
    expect(await chain.send((await signer.sign(payment(signer, 0))).raw)).toEqual({ kind: 'accepted' })
    await expect.poll(() => methods(send)).toEqual(new Set(['eth_chainId', 'eth_sendRawTransaction']))
    await expect.poll(() => methods(all)).toContain('eth_sendRawTransaction')
    expect(methods(read)).toContain('eth_getTransactionCount')
    expect(methods(read)).not.toContain('eth_sendRawTransaction')
    expect(methods(hidden)).toEqual(new Set(['eth_chainId']))
  })

  test('a private transaction is sent to private nodes only, also while none of them answers', async () => {
    const [open, hidden] = [await proxy(), await proxy()]
    const signer = await devnetSigner(21)
    const chain = await connected([{ url: open.url }, { url: hidden.url, use: 'private' }], { send: 'private' })
    expect(await chain.send((await signer.sign(payment(signer, 0))).raw)).toEqual({ kind: 'accepted' })
    hidden.mode = 503
    const { raw } = await signer.sign(payment(signer, 1))
    for (let round = 0; round < 2; round++) expect(await chain.send(raw)).toMatchObject({ kind: 'refused', error: 'ambiguous' })
    hidden.mode = 'pass'
    await expect.poll(async () => (await chain.send(raw)).kind).toMatch(/accepted|known/)
    expect(methods(open)).not.toContain('eth_sendRawTransaction')
    expect(methods(hidden)).toEqual(new Set(['eth_chainId', 'eth_sendRawTransaction']))
  })

  test('a relay that does not name its network still takes transactions', async () => {
    const [open, relay] = [await proxy(), await proxy()]
    relay.refuse = 'eth_chainId'
    const chain = await connected([{ url: open.url }, { url: relay.url, use: 'private', name: 'relay' }], { send: 'private' })
    expect(status(chain, 'relay').state).toBe('up')
    const signer = await devnetSigner(22)
    expect(await chain.send((await signer.sign(payment(signer, 0))).raw)).toEqual({ kind: 'accepted' })
  })

  test('a storm of 429 and 5xx at one node is not seen by callers', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected([{ url: first.url }, { url: second.url }])
    for (const mode of [429, 502] as const) {
      first.mode = mode
      for (let round = 0; round < 3; round++) expect(await chain.transactionSender(unknownHash)).toBeUndefined()
      first.mode = 'pass'
      first.requests.length = 0
      await expect.poll(() => methods(first)).toContain('eth_getBlockByNumber')
    }
    expect(status(chain, 'node-1').failures).toBeGreaterThanOrEqual(2)
    expect(status(chain, 'node-2').failures).toBe(0)
  })

  test.each([429, 503])('errors during a storm of %i at all nodes are retriable, and end within seconds after it', async (mode) => {
    const nodes = [await proxy(), await proxy(), await proxy()]
    const chain = await connected(nodes.map(({ url }) => ({ url })))
    for (const node of nodes) node.mode = mode
    for (let round = 0; round < 6; round++) {
      await expect(chain.transactionSender(unknownHash)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE', retriable: true })
    }
    expect(await chain.send('0x00')).toMatchObject({ kind: 'refused', error: 'ambiguous' })
    for (const node of nodes) node.mode = 'pass'
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    await anvil.mine()
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    expect((await head(chain, ({ latest }) => latest.height >= height)).latest.height).toBe(height)
  })

  test('Retry-After is honoured, also where no other node is left', async () => {
    const node = await proxy()
    const chain = await connected([{ url: node.url }], { blockTimeMs: 60_000 })
    node.mode = 429
    node.retryAfter = '6'
    const before = performance.now()
    await expect(chain.transactionSender(unknownHash)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    node.mode = 'pass'
    node.requests.length = 0
    await expect(chain.transactionSender(unknownHash)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    expect(node.requests).toEqual([])
    await expect.poll(() => chain.transactionSender(unknownHash).catch(() => 'held')).toBeUndefined()
    expect(performance.now() - before).toBeGreaterThanOrEqual(6_000)
  })

  test('a rate limit in a JSON-RPC error counts as one, and the next node serves alone', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected([{ url: first.url }, { url: second.url }], { blockTimeMs: 60_000 })
    first.refuse = () => ({ code: 429, message: 'Your app has exceeded its compute units per second capacity.' })
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(status(chain, 'node-1')).toMatchObject({ state: 'failing', failures: 1 })
    first.requests.length = 0
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    // The chain may probe this node, but does not ask it for the transaction.
    expect(methods(first)).not.toContain('eth_getTransactionByHash')
  })

  test('over the rate of one node the next one is asked; over the rate of all, the call waits', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected(
      [
        { url: first.url, requestsPerSecond: 20 },
        { url: second.url, requestsPerSecond: 20 },
      ],
      { blockTimeMs: 60_000, timeoutMs: 60_000 },
    )
    const started = Date.now()
    await Promise.all(Array.from({ length: 60 }, () => chain.transactionSender(unknownHash)))
    const took = Date.now() - started
    expect(took).toBeGreaterThan(300)
    const served = [first, second].map(({ requests }) => requests.flat().filter((method) => method === 'eth_getTransactionByHash').length)
    expect(served[0]! + served[1]!).toBe(60)
    for (const count of served) expect(count).toBeLessThanOrEqual(20 + (20 * (took + 200)) / 1000)
  })

  test('while a node of the config only waits for its rate limit, an added node gets no read', async () => {
    const [own, spare] = [await proxy(), await proxy()]
    const chain = await connected([{ url: own.url, requestsPerSecond: 20 }], { blockTimeMs: 60_000 })
    chain.adjustNodes([{ chain: 'test', name: 'spare', url: spare.url, disabled: false }])
    await expect.poll(() => status(chain, 'spare').state).toBe('up')
    const reads = (node: RpcProxy) => node.requests.flat().filter((method) => method === 'eth_getTransactionByHash').length
    await Promise.all(Array.from({ length: 60 }, () => chain.transactionSender(unknownHash)))
    expect([own, spare].map(reads)).toEqual([60, 0])
    own.mode = 503
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(reads(spare)).toBe(1)
  })

  test('nodes are added, disabled, enabled and removed while heads continue; a change may come twice', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const url = `${second.url}/v3/\${NODE_KEY}?apikey=\${NODE_KEY}`
    const environment = { NODE_KEY: 's3cretkey99' }
    const chain = await connected([{ url: first.url, name: 'main' }], { environment })
    const follows = async () => {
      await anvil.mine()
      const height = Number(await anvil.rpc<string>('eth_blockNumber'))
      await head(chain, ({ latest }) => latest.height >= height)
    }
    const added = { chain: 'test', name: 'extra', url, disabled: false }
    for (let round = 0; round < 2; round++) chain.adjustNodes([added])
    await expect.poll(() => status(chain, 'extra').state).toBe('up')
    expect(status(chain, 'extra')).toMatchObject({ origin: second.url, use: 'all' })
    await follows()
    const requests = second.requests.length
    chain.adjustNodes([added])
    expect(second.requests.length).toBe(requests)

    const disabled = { chain: 'test', name: 'main', disabled: true }
    chain.adjustNodes([added, disabled])
    expect(status(chain, 'main').state).toBe('disabled')
    // The config's only node is disabled. A node that an operator added does not decide alone.
    const isRefused = () => expect(chain.transactionSender(unknownHash)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    await isRefused()
    // A read of heads that began before the change may still be pending.
    await anvil.rpc('eth_blockNumber')
    first.requests.length = 0
    await isRefused()
    expect(first.requests).toEqual([])

    chain.adjustNodes([added])
    await expect.poll(() => status(chain, 'main').state).toBe('up')
    expect(methods(first)).toContain('eth_chainId')
    await follows()
    chain.adjustNodes([])
    expect(chain.nodes().map(({ name }) => name)).toEqual(['main'])
    await follows()
    expect(JSON.stringify(chain.nodes())).not.toContain('s3cret')
  })

  test('taking out a node while it answers fails no call', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected([{ url: first.url, name: 'main' }])
    chain.adjustNodes([{ chain: 'test', name: 'extra', url: second.url, disabled: false }])
    await expect.poll(() => status(chain, 'extra').state).toBe('up')
    first.mode = 503
    await chain.transactionSender(unknownHash)
    const calls = Array.from({ length: 20 }, () => chain.transactionSender(unknownHash))
    chain.adjustNodes([])
    expect(await Promise.all(calls)).toEqual(calls.map(() => undefined))
  })

  test('an added node of another network is never used; a URL that makes no sense is named, not shown', async () => {
    const [first, stranger] = [await proxy(), await proxy()]
    stranger.alter = (method) => (method === 'eth_chainId' ? '0x1' : undefined)
    const chain = await connected([{ url: first.url, name: 'main' }], { environment: { BAD_URL: 'not a url with s3cret' } })
    chain.adjustNodes([
      { chain: 'test', name: 'stranger', url: stranger.url, disabled: false },
      { chain: 'test', name: 'missing', url: '${NO_SUCH_RPC}/x', disabled: false },
      { chain: 'test', name: 'bad', url: '${BAD_URL}', disabled: false },
    ])
    await expect.poll(() => status(chain, 'stranger').state).toBe('wrong-network')
    expect(status(chain, 'missing').origin).toBe('(the variable NO_SUCH_RPC is not set)')
    expect(status(chain, 'bad').origin).toBe('(not an http URL)')
    await chain.pendingNonce(address).catch(() => undefined)
    await chain.transactionSender(unknownHash)
    await chain.send('0x00')
    expect(methods(stranger)).toEqual(new Set(['eth_chainId']))
  })

  test('metrics have each node by name, and a removed one as down', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected([
      { url: `${first.url}/v3/s3cretkey99`, name: 'main' },
      { url: anvil.url, use: 'send', name: 'relay' },
    ])
    const metrics = processMetrics({ chains: new Map([['test', chain]]) }, [], () => noSettings)
    chain.adjustNodes([{ chain: 'test', name: 'extra', url: second.url, disabled: false }])
    await expect.poll(() => status(chain, 'extra').state).toBe('up')
    expect(await metrics.render()).toContain('portage_node_up{chain="test",node="extra",use="all"} 1')
    chain.adjustNodes([])
    first.mode = 503
    await expect.poll(() => status(chain, 'main').failures).toBeGreaterThan(0)
    // Each poll adds a failure, which may happen between the two reads.
    let text = ''
    const isSo = async () => {
      const { failures } = status(chain, 'main')
      text = await metrics.render()
      return text.includes(`portage_node_failures_total{chain="test",node="main"} ${failures}\n`)
    }
    await expect.poll(isSo).toBe(true)
    expect(text).toContain('portage_node_up{chain="test",node="extra",use="all"} 0')
    expect(text).toContain('portage_node_up{chain="test",node="main",use="all"} 0')
    expect(text).toContain('portage_node_up{chain="test",node="relay",use="send"} 1')
    expect(text).toMatch(/portage_node_latency_seconds\{chain="test",node="main"\} \d/)
    expect(text).not.toMatch(/s3cret|127\.0\.0\.1/)
  })
})
