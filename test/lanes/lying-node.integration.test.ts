import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLaneSteps } from '../../activities/index.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import {
  type OperatorTransactionInput,
  type OperatorTransactionStatus,
  operatorTransactionStatusQuery,
} from '../../temporal/contracts/operator-transaction.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { until } from '../../lab/devnet/until.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { silentLogger } from '../../observability/logger.ts'
import { devnetSigner, payment as paymentOf, startManualAnvil, testChain } from '../helpers/evm.ts'
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
  await anvil?.stop()
  await ledgers?.stop()
})

/** If the ledger counted these nonces as used, it would never grant them, and no later nonce could be mined. */
test('one node that counts a million nonces too many takes no nonce from the lane', async () => {
  const signer = await devnetSigner(20)
  const [first] = nodes
  const chain = testChain(nodes.map(({ url }) => url))
  await chain.connect()
  const config = { lane: laneOf(signer), window: 4, fillAfterBlocks: 20 }
  const agent = new LaneAgent({
    chain,
    signer,
    signedBelow: async () => undefined,
    ledger: ledgers.client(config),
    logger: silentLogger(),
    config,
    bumpAfterBlocks: 3,
  })
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

async function startPayment(signer: Signer, name: string, to: string) {
  const chain = testChain(nodes.map(({ url }) => url))
  await chain.connect()
  const config = { lane: laneOf(signer), window: 4, fillAfterBlocks: 20 }
  const agent = new LaneAgent({
    chain,
    signer,
    signedBelow: async () => undefined,
    ledger: ledgers.client(config),
    logger: silentLogger(),
    config,
    bumpAfterBlocks: 100,
  })
  agent.start()
  await until(() => agent.view?.synced, { ...waitLimit, what: 'the lane to be synced' })
  const { connection, namespace, client } = ledgers.temporal
  const deps = { bridges: new Map(), agent, chain, settings: () => noSettings, fees: () => ({}) }
  const taskQueue = laneQueue(agent.lane)
  const worker = await Worker.create({ connection, namespace, taskQueue, activities: createLaneSteps(deps), shutdownGraceTime: 0 })
  const running = worker.run()
  const input = { lane: agent.lane, intent: { to, data: '0x', value: '23' }, by: 'a test', reason: 'a test' }
  const payment = await client.workflow.start<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>(
    'operatorTransaction',
    {
      taskQueue: ledgerQueue,
      workflowId: `operator-transaction:${agent.lane}:${name}`,
      args: [input],
    },
  )
  await until(async () => (await pooled(anvil, signer.address)).length === 1, { ...waitLimit, what: 'the payment to be in the pool' })
  return {
    chain,
    payment,
    status: () => payment.query(operatorTransactionStatusQuery),
    async stop() {
      worker.shutdown()
      await running
      agent.stop()
      chain.close()
    },
  }
}

const gasLimit = (limit: number) => anvil.rpc('evm_setBlockGasLimit', [`0x${limit.toString(16)}`])
const balance = async (address: string) => BigInt(await anvil.rpc<string>('eth_getBalance', [address, 'latest']))

test('if one node counts one nonce too many at every height, no payment is made twice', async () => {
  const signer = await devnetSigner(21)
  const to = freshAddress()
  const { payment, status, stop } = await startPayment(signer, 'counted', to)
  const [first] = nodes
  try {
    // Leave no room for the payment in blocks.
    await gasLimit(20_000)
    let lies = 0
    first!.alter = (method, result) => {
      if (method !== 'eth_getTransactionCount') return undefined
      lies++
      return `0x${(Number(result) + 1).toString(16)}`
    }
    await until(() => lies > 40 || anvil.mine().then(() => false), { ...waitLimit, everyMs: 300, what: 'the lie to be read' })
    const told = async () => (await status()).state === 'pending' || anvil.mine().then(() => false)
    await until(told, { ...waitLimit, everyMs: 300, what: 'a step to end that saw nothing but the lie' })
    expect((await pooled(anvil, signer.address)).map(({ nonce }) => nonce)).toEqual([0])
    first!.alter = undefined
    await gasLimit(60_000_000)
    const over = async () => (await payment.describe()).status.name !== 'RUNNING'
    await until(async () => (await over()) || anvil.mine().then(() => false), { ...waitLimit, everyMs: 300, what: 'the payment to end' })
    expect(await payment.result()).toMatchObject({ state: 'done', nonce: 0 })
    expect(await balance(to)).toBe(23n)
  } finally {
    first!.alter = undefined
    await gasLimit(60_000_000)
    await stop()
  }
})

test('a payment does not end because one node reports its latest block as final', async () => {
  const signer = await devnetSigner(23)
  const to = freshAddress()
  const { chain, payment, status, stop } = await startPayment(signer, 'early', to)
  const [first] = nodes
  try {
    let newest: { number: string } | undefined
    let lies = 0
    first!.alter = (method, result, [at]) => {
      if (method !== 'eth_getBlockByNumber') return undefined
      const block = result as { number: string } | null
      if (block && Number(block.number) >= Number(newest?.number ?? 0)) newest = block
      if (at !== 'finalized' || newest === block) return undefined
      lies++
      return newest
    }
    await anvil.mine()
    const inBlock = async () => (await status()).detail.includes('not final yet')
    await until(inBlock, { ...waitLimit, everyMs: 300, what: 'a step to end that saw it in a block' })
    expect(lies).toBeGreaterThan(0)
    expect(await chain.agreedNonce(signer.address)).toBe(0)
    const over = async () => (await payment.describe()).status.name !== 'RUNNING'
    await until(async () => (await over()) || anvil.mine().then(() => false), { ...waitLimit, everyMs: 300, what: 'the payment to end' })
    expect(await payment.result()).toMatchObject({ state: 'done', nonce: 0 })
    expect(await balance(to)).toBe(23n)
  } finally {
    first!.alter = undefined
    await stop()
  }
})

test("if a payment's nonce was used and nodes pruned the transaction, the payment ends lost, unrepeated", async () => {
  const signer = await devnetSigner(22)
  const to = freshAddress()
  const { payment, stop } = await startPayment(signer, 'untold', to)
  try {
    // The payment leaves the pool, and then a stranger with the key uses the nonce.
    const [sent] = await pooled(anvil, signer.address)
    await anvil.rpc('anvil_dropTransaction', [sent!.hash])
    const { raw } = await signer.sign(paymentOf(signer, 0, { maxFee: '90000000000', tip: '9000000000' }))
    await anvil.rpc('eth_sendRawTransaction', [raw])
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    for (const node of nodes) {
      node.refuse = (method, [, at]) =>
        method === 'eth_getTransactionCount' && typeof at === 'string' && Number(at) <= height
          ? { code: -32000, message: 'missing trie node' }
          : undefined
    }
    const over = async () => (await payment.describe()).status.name !== 'RUNNING'
    await until(async () => (await over()) || anvil.mine().then(() => false), { ...waitLimit, everyMs: 300, what: 'the payment to end' })
    expect(await payment.result()).toMatchObject({ state: 'lost', detail: expect.stringContaining(sent!.hash) })
    await anvil.mine(3)
    expect(await balance(to)).toBe(0n)
  } finally {
    for (const node of nodes) node.refuse = undefined
    await stop()
  }
})
