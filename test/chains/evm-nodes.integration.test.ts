import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { callsOf } from '../helpers/node-calls.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { accepts } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { createNodes, type Nodes } from '../../chains/evm/nodes/nodes.ts'
import { devnetSigner, networkId, payment, testChain } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { evmSetting, unknownHash } from './setting.ts'

describe('nodes', () => {
  const { anvil, proxy, connect: connected } = evmSetting(3)

  function testNodes(...urls: string[]): Nodes {
    const nodes = urls.map((url, index) => ({ name: `node-${index + 1}`, url, use: 'all' as const }))
    return createNodes({ name: 'test', networkId: String(networkId), nodes })
  }

  test('twenty accounts and a quote at once are one HTTP request, and calls to contracts are another', async () => {
    const node = await proxy()
    const chain = await connected(node.url, { timeoutMs: 120_000 })
    // Only the requests of this test may count: the polls are stopped, and the long time-out prevents retries.
    chain.heads.stop()
    node.requests.length = 0
    const addresses = Array.from({ length: 20 }, (_, index) => devnetAccount(index).address)
    const from = devnetAccount(0).address
    const accounts = Promise.all(addresses.map((address) => chain.account(address)))
    await Promise.all([
      accounts,
      chain.quote(),
      chain.simulate({ to: from, data: '0x', value: '1' }, from),
      chain.call(from, '0x', 'finalized'),
    ])
    expect(node.requests.map(({ length }) => length)).toEqual([20 * 3 + 1, 2])
    await Promise.all([...addresses.map((address) => chain.account(address)), chain.quote()])
    expect(node.requests).toHaveLength(2)
  })

  test('receipts and logs, whose length strangers choose, have their own HTTP requests', async () => {
    const node = await proxy()
    const nodes = testNodes(node.url)
    await nodes.verify()
    node.requests.length = 0
    const read = () => undefined
    await Promise.all([
      nodes.request('eth_blockNumber', [], read),
      nodes.request('eth_getTransactionReceipt', [unknownHash], read),
      nodes.request('eth_getBlockByNumber', ['latest', false], read),
      nodes.request('eth_getLogs', [{}], read),
    ])
    const apart = [
      ['eth_blockNumber', 'eth_getBlockByNumber'],
      ['eth_getTransactionReceipt', 'eth_getLogs'],
    ]
    expect(new Set(node.requests)).toEqual(new Set(apart))
    nodes.close()
  })

  test('a batch is bounded, and further calls go into the next one', async () => {
    const node = await proxy()
    const nodes = testNodes(node.url)
    await nodes.verify()
    node.requests.length = 0
    await Promise.all(Array.from({ length: 250 }, () => nodes.request('eth_blockNumber', [], String)))
    expect(node.requests.map((methods) => methods.length).sort((a, b) => a - b)).toEqual([50, 100, 100])
    expect(callsOf(nodes, 'eth_blockNumber')).toBe(250)
    nodes.close()
  })

  test('a node that takes only small batches gets small ones, from then on', async () => {
    const node = await proxy()
    node.largestBatch = 3
    const nodes = testNodes(node.url)
    await nodes.verify()
    const ask = () => Promise.all(Array.from({ length: 10 }, () => nodes.request('eth_blockNumber', [], String)))
    expect(new Set(await ask()).size).toBe(1)
    node.requests.length = 0
    await ask()
    expect(Math.max(...node.requests.map((methods) => methods.length))).toBeLessThanOrEqual(3)
    nodes.close()
  })

  test.each(['hang', 'cut', 503, 429] as const)('a node that does "%s" costs one time-out, then the next serves alone', async (mode) => {
    const [first, second] = [await proxy(), await proxy()]
    const chain = await connected([first.url, second.url], { timeoutMs: 2_000, blockTimeMs: 60_000 })
    const asked = () => first.requests.flat().filter((method) => method === 'eth_getTransactionByHash').length
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(asked()).toBe(1)
    first.mode = mode
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(asked()).toBe(2)
    // The chain may probe this node, but sends no calls to it.
    for (let round = 0; round < 3; round++) expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(asked()).toBe(2)
  })

  test('a node that was down is probed besides the calls, and is first again', async () => {
    const [first, second] = [await proxy(), await proxy()]
    const nodes = testNodes(first.url, second.url)
    await nodes.verify()
    first.mode = 503
    await nodes.request('eth_blockNumber', [], String)
    first.mode = 'pass'
    await expect
      .poll(async () => {
        second.requests.length = 0
        await nodes.request('eth_blockNumber', [], String)
        return second.requests.length
      })
      .toBe(0)
    expect(first.requests.flat()).toContain('eth_chainId')
    nodes.close()
  })

  test('calls that wait for a failed node send one probe, and follow once the node answers it', async () => {
    const node = await proxy()
    const nodes = testNodes(node.url)
    await nodes.verify()
    const ask = () => Promise.allSettled(Array.from({ length: 20 }, () => nodes.request('eth_blockNumber', [], String)))
    node.mode = 503
    await ask()
    await expect.poll(() => nodes.status()[0]?.state).toBe('failing')
    node.requests.length = 0
    await ask()
    expect(new Set(node.requests.flat())).toEqual(new Set(['eth_chainId']))
    expect(node.requests.length).toBeLessThanOrEqual(2)
    node.mode = 'pass'
    node.requests.length = 0
    expect((await ask()).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(node.requests.map((methods) => methods[0])).toEqual(['eth_chainId', 'eth_blockNumber'])
    nodes.close()
  })

  test('a chain starts and sends with one dead node of two, but has no majority', async () => {
    const chain = await connected(['http://127.0.0.1:9', anvil.url])
    const signer = await devnetSigner(20)
    const { raw } = await signer.sign(payment(signer, 0))
    expect(await chain.send(raw)).toEqual({ kind: 'accepted' })
    // One of two nodes is not more than half.
    await expect(chain.pendingNonce(signer.address)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE', facts: { nodes: 2, answered: 1 } })
    await anvil.mine()
  })

  test('a node that hangs from the start delays calls to all nodes once, not twice', async () => {
    const node = await proxy()
    const chain = await connected([anvil.url, (await proxy()).url, node.url], { timeoutMs: 2_000 })
    node.mode = 'hang'
    const { address } = devnetAccount(7)
    expect(await chain.pendingNonce(address)).toBe(0)
    node.requests.length = 0
    expect(await chain.pendingNonce(address)).toBe(0)
    expect(node.requests.flat()).not.toContain('eth_getTransactionCount')
  })

  test('one cut connection fails no call, also with a single node', async () => {
    const node = await proxy()
    const chain = await connected(node.url, { blockTimeMs: 60_000 })
    node.mode = 'cut'
    const answer = chain.transactionSender(unknownHash)
    await expect.poll(() => node.requests.flat()).toContain('eth_getTransactionByHash')
    node.mode = 'pass'
    expect(await answer).toBeUndefined()
  })

  test('a node of another network that appears later is never used', async () => {
    const [first, second] = [await proxy(), await proxy()]
    first.alter = (method) => (method === 'eth_chainId' ? '0x1' : undefined)
    first.mode = 503
    const nodes = testNodes(first.url, second.url)
    await nodes.verify()
    first.mode = 'pass'
    await expect
      .poll(async () => {
        await nodes.request('eth_blockNumber', [], String)
        return first.requests.flat().filter((method) => method === 'eth_chainId').length
      })
      .toBeGreaterThan(1)
    for (let round = 0; round < 3; round++) await nodes.request('eth_blockNumber', [], String)
    expect(first.requests.flat()).not.toContain('eth_blockNumber')
    nodes.close()
  })

  test('a node that lags far behind is asked last', async () => {
    const [first, second] = [await proxy(), await proxy()]
    await anvil.mine(10)
    first.alter = (method) => (method === 'eth_blockNumber' ? '0x1' : undefined)
    const nodes = testNodes(first.url, second.url)
    await nodes.verify()
    await nodes.rank()
    expect(Number(await nodes.request('eth_blockNumber', [], String))).toBeGreaterThan(10)
    first.alter = undefined
    await nodes.rank()
    second.requests.length = 0
    await nodes.request('eth_blockNumber', [], String)
    expect(second.requests).toHaveLength(0)
    nodes.close()
  })

  test('a send is taken if one node takes it, whatever the others say', async () => {
    const node = await proxy()
    const chain = await connected([node.url, anvil.url], { timeoutMs: 120_000, blockTimeMs: 60_000 })
    const signer = await devnetSigner(21)
    node.mode = 'hang'
    expect(await chain.send((await signer.sign(payment(signer, 0))).raw)).toEqual({ kind: 'accepted' })
    // The first node has not answered, and the send did not wait for its time-out.
    expect(chain.nodes().map(({ failures }) => failures)).toEqual([0, 0])
    await anvil.mine()
  })

  test('a silent node keeps a refusal from being final; a node that was not reached does not', async () => {
    const silent = await proxy()
    const signer = await devnetSigner(22)
    const { raw } = await signer.sign(payment(signer, 0, { gasLimit: '20000' }))
    const withSilent = await connected([silent.url, anvil.url], { timeoutMs: 2_000 })
    silent.mode = 'hang'
    expect(await withSilent.send(raw)).toMatchObject({ error: 'ambiguous' })
    const gone = await proxy()
    const withGone = await connected([gone.url, anvil.url], { blockTimeMs: 60_000 })
    gone.stop()
    // The port must refuse connections first. If a connection broke later, the node might have received the request.
    await until(async () => !(await accepts(Number(new URL(gone.url).port))), { timeoutMs: 60_000, what: 'the node to be gone' })
    expect(await withGone.send(raw)).toMatchObject({ error: 'fatal', message: 'intrinsic gas too low' })
  })

  test('no error contains credentials, path or query of a URL', async () => {
    const node = await proxy()
    const { host } = new URL(node.url)
    const url = `http://someone:hunter22@${host}/v3/4f5e6d7c8b9a0011?apikey=s3cret%2Bkey99`
    const chain = await connected(url, { timeoutMs: 3_000 })
    const secrets = /hunter22|someone|4f5e6d7c8b9a0011|s3cret|v3\//
    const texts: string[] = []
    const collect = async (work: Promise<unknown>) => {
      const error = await work.then(
        () => undefined,
        (reason: Error) => reason,
      )
      expect(error).toBeInstanceOf(Error)
      for (let one: unknown = error; one instanceof Error; one = one.cause)
        texts.push(one.message, one.stack ?? '', JSON.stringify(one), inspect(one, { depth: 9 }))
    }
    for (const mode of [401, 'cut', 'hang'] as const) {
      node.mode = mode
      await collect(chain.transactionSender(unknownHash))
      texts.push(JSON.stringify(await chain.send('0x00')))
    }
    await collect(testChain('http://someone:hunter22@127.0.0.1:9/v3/4f5e6d7c8b9a0011?apikey=s3cretkey99').connect())
    node.mode = 'pass'
    await collect(testChain(url, { networkId: 5 }).connect())
    // Errors like those of a gateway that quotes the request in the message and in the data, also with decoded secrets.
    node.refuse = (method) => ({
      code: -32000,
      message: `${method}: POST ${url} failed (key s3cret+key99, s3cret%2Bkey99)`,
      data: { request: { url, path: '/v3/4f5e6d7c8b9a0011', headers: ['someone:hunter22'] } },
    })
    await collect(chain.transactionSender(unknownHash))
    await collect(chain.pendingNonce(devnetAccount(7).address))
    await collect(chain.call(devnetAccount(7).address, '0x', 'agreed'))
    await collect(chain.mined(devnetAccount(7).address, 0))
    texts.push(JSON.stringify(await chain.send('0x00')), JSON.stringify(chain.nodes()))
    expect(texts.join('\n')).toContain(host)
    expect(texts.join('\n')).not.toMatch(secrets)
  })

  test('closing a chain ends its timers and pending calls', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const node = await proxy()
    const before = timers()
    const chain = await connected(node.url, { timeoutMs: 600_000 })
    node.mode = 'hang'
    const pending = chain.transactionSender(unknownHash)
    await until(() => node.requests.flat().includes('eth_getTransactionByHash'), { timeoutMs: 60_000, what: 'the call' })
    chain.close()
    await expect(pending).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    await until(() => timers() <= before, { timeoutMs: 60_000, what: 'the timers to end' })
  })

  test('the chain follows the head again after an outage of all nodes', async () => {
    const node = await proxy()
    const chain = await connected(node.url)
    node.mode = 503
    const before = chain.heads.current?.latest.height ?? 0
    await anvil.mine(4)
    await expect(chain.transactionSender(unknownHash)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE', retriable: true })
    node.mode = 'pass'
    const event = await head(chain, ({ latest }) => latest.height >= before + 4)
    expect(event.rolledBack).toEqual([])
  })
})
