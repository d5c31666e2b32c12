import { toBeHex } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EvmChain } from '../../chains/evm/index.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { head } from '../helpers/heads.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import type { RpcProxy } from '../helpers/rpc-proxy.ts'
import { evmSetting } from './setting.ts'

const contract = `0x${'44'.repeat(20)}`
const topic = `0x${'55'.repeat(32)}`
const megabyte = 1_000_000
/** Emits a log with as many zeros as the call's first word says. */
const emitter = `0x7f${topic.slice(2)}6000356000a100`
const from = devnetAccount(0).address

describe('a block whose logs are longer than any answer may be', { timeout: 120_000 }, () => {
  const { anvil, connectBehind } = evmSetting(1)
  /** `long`: a block with 13 logs of a megabyte and a short one. `next`: a block with one short log. */
  const heights = { long: 0, next: 0 }
  const sent: string[] = []

  const emit = async (bytes: number) => {
    const data = toBeHex(bytes, 32)
    const gas = toBeHex(12 * bytes + 100_000)
    sent.push(await anvil.rpc<string>('eth_sendTransaction', [{ from, to: contract, data, gas }]))
  }
  const mine = async () => {
    await anvil.mine(1)
    return Number(await anvil.rpc<string>('eth_blockNumber'))
  }
  beforeAll(async () => {
    await anvil.rpc('evm_setBlockGasLimit', ['0x20000000'])
    await anvil.rpc('anvil_setCode', [contract, emitter])
    for (let index = 0; index < 13; index++) await emit(megabyte)
    await emit(1)
    heights.long = await mine()
    await emit(2)
    heights.next = await mine()
    await anvil.mine(3)
  })

  async function connected(nodes: number) {
    const { logger, lines } = recordingLogger()
    const setting = await connectBehind(nodes, { finality: { kind: 'depth', blocks: 1 }, log: logger, timeoutMs: 60_000 })
    await head(setting.chain, ({ finalized }) => finalized >= heights.next)
    return { ...setting, warnings: () => lines.filter(({ level }) => level === 'warn') }
  }
  /**
   * Sizes and places of the logs. Reads again if the nodes are too slow for a majority (NODES_DISAGREE), as streams do.
   */
  const bytesIn = async (chain: EvmChain, height: number, at?: 'agreed' | 'majority'): Promise<number[][]> => {
    const range = { address: contract, topics: [topic], fromBlock: height, toBlock: height }
    try {
      const logs = await chain.logs(range, at)
      return logs.map(({ data, index, block, transactionHash }) => [
        data.length / 2 - 1,
        index,
        block.height,
        sent.indexOf(transactionHash),
      ])
    } catch (error) {
      if (toRelayerError(error).code !== 'NODES_DISAGREE') throw error
      return bytesIn(chain, height, at)
    }
  }
  const all = () => [...Array<number>(13).fill(megabyte), 1].map((bytes, index) => [bytes, index, heights.long, index])
  const statesOf = (chain: EvmChain) => chain.nodes().map(({ state, failures }) => [state, failures])

  test.each([
    [3, 'majority' as const],
    [1, 'agreed' as const],
    [3, undefined],
  ])('%i nodes: at %s it is read by its receipts, and no node counts as failing', async (nodes, at) => {
    const { chain } = await connected(nodes)
    expect(await bytesIn(chain, heights.long, at)).toEqual(all())
    expect(await bytesIn(chain, heights.next, at)).toEqual([[2, 0, heights.next, 14]])
    expect(statesOf(chain)).toEqual(Array.from({ length: nodes }, () => ['up', 0]))
  })

  test('a range with a block of too long logs is refused, so that the caller reads less', async () => {
    const { chain } = await connected(3)
    const range = { address: contract, topics: [topic], fromBlock: heights.long, toBlock: heights.next }
    expect(await codeOfAsync(() => chain.logs(range, 'majority'))).toBe('NODE_REFUSED')
  })

  const longReceipt: RpcProxy['alter'] = (method, result) => {
    const { transactionHash, logs = [] } = (result ?? {}) as { transactionHash?: string; logs?: { data: string }[] }
    if (method !== 'eth_getTransactionReceipt' || transactionHash !== sent[0]) return undefined
    return { ...(result as object), logs: Array.from({ length: 13 }, () => logs[0]) }
  }

  test('most nodes can skip a transaction with even longer logs, and a warning names it', async () => {
    const { chain, first, behind, warnings } = await connected(3)
    for (const one of behind.slice(1)) one.alter = longReceipt
    first.mode = 503
    expect(await bytesIn(chain, heights.long, 'majority')).toEqual(all().slice(1))
    expect(warnings()).toMatchObject([{ code: 'RECEIPT_TOO_LONG', height: heights.long, txHash: sent[0] }])
  })

  test("if no node can send a transaction's receipt, a read of its logs finds none, and a warning names it", async () => {
    const { chain, behind, warnings } = await connected(3)
    for (const one of behind) one.alter = longReceipt
    const range = { address: contract, topics: [topic], fromBlock: heights.long, toBlock: heights.long, transaction: sent[0] }
    expect(await chain.logs(range, 'agreed')).toEqual([])
    expect(warnings()).toMatchObject([{ code: 'RECEIPT_TOO_LONG', height: heights.long, txHash: sent[0] }])
  })

  test('one node alone cannot make a transaction be skipped', async () => {
    const { chain, first, warnings } = await connected(3)
    first.alter = longReceipt
    expect(await bytesIn(chain, heights.long, 'majority')).toEqual(all())
    expect(warnings()).toEqual([])
  })
})
