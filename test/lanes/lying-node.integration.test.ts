import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { until } from '../../lab/devnet/until.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { silentLogger } from '../../observability/logger.ts'
import { devnetSigner, startManualAnvil, testChain } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { startRpcProxy, type RpcProxy } from '../helpers/rpc-proxy.ts'
import { laneOf, signedAndSent, startLedgers, request, type Ledgers } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }
const nonsense = 1_000_000

let ledgers: Ledgers
let anvil: Anvil & { mine(blocks?: number): Promise<void> }
let nodes: RpcProxy[]

beforeAll(async () => {
  ;[ledgers, anvil] = await Promise.all([startLedgers(), startManualAnvil()])
  nodes = await Promise.all([1, 2, 3].map(() => startRpcProxy(anvil.url)))
  await anvil.mine()
})

afterAll(async () => {
  for (const node of nodes ?? []) await node.stop()
  await anvil?.stop()
  await ledgers?.stop()
})

/** What a ledger once counted as used it never gives again: nonces above it could not be mined for ever. */
test('a node that counts a million nonces too many, alone, takes none from the lane', async () => {
  const signer = await devnetSigner(20)
  const [first] = nodes
  const chain = testChain(nodes.map(({ url }) => url))
  await chain.connect()
  const config = { lane: laneOf(signer), window: 4, fillAfterBlocks: 20 }
  const agent = new LaneAgent({ chain, signer, ledger: ledgers.client(config), logger: silentLogger(), config, bumpAfterBlocks: 3 })
  try {
    agent.start()
    await until(() => agent.view?.synced, { ...waitLimit, what: 'the lane to be synced' })
    const pending = await signedAndSent(agent, request('before'))
    let lies = 0
    if (first) {
      first.alter = (method) => {
        if (method !== 'eth_getTransactionCount') return undefined
        lies++
        return `0x${nonsense.toString(16)}`
      }
    }
    await until(() => lies > 2 || anvil.mine().then(() => false), { ...waitLimit, everyMs: 300, what: 'the lie to be read' })
    if (first) first.alter = undefined
    expect(await pending.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
    const later = await signedAndSent(agent, request('after'))
    expect(later.nonce).toBe(1)
    await anvil.mine()
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, ({ latest }) => latest.height >= height)
    expect(await later.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
    const corrected = async () => (await ledgers.state(config.lane)).observed?.latest === 2
    await until(async () => (await corrected()) || anvil.mine().then(() => false), {
      ...waitLimit,
      everyMs: 300,
      what: 'the ledger to have the true count',
    })
    expect(await ledgers.state(config.lane)).toMatchObject({ next: 2, counts: { external: 0 } })
  } finally {
    agent.stop()
    chain.close()
  }
})
