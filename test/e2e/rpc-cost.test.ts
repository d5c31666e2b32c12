import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { sendCoins } from '../faults/processes.ts'
import { untilListed } from '../helpers/e2e-runs.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

/** Calls that come once per block, or once per block and lane with work, however many transfers there are. */
const perBlockMethods = [
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_blockNumber',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
  'eth_getBlockReceipts',
]
/**
 * What is measured is 4.7 to 5, and 5.9 on a busy machine, where prices are looked at again: an estimate, a send, the effect at the end, a share of its block's receipts, and one or two looks of the stream at the
 * effect, since it believes no run that says that it delivered.
 */
const mostPerTransfer = 8
/** The head with the finalized tag twice (a block may be skipped and filled, which costs two more), three reads of one lane, the market, the block's receipts. */
const mostPerBlock = 10
/** The same of both chains; the source's lane has no work. */
const mostPerBlockOfAll = 16
/** What is measured is 4.6 to 5.7: the source's table, which a lone node is asked for twice, and the three of above. */
const mostPerNativeTransfer = 8
/** Those of above, six reads of the target's limits, and the logs and blocks that both directions' streams and the reservations read. */
const mostPerNativeBlock = 28

const blockMs = 500
const withoutNative: PortageOptions['configure'] = ({ bridges, ...config }) => ({
  ...config,
  bridges: { 'wormhole-token-bridge': bridges['wormhole-token-bridge'] },
})
const nativeOnly: PortageOptions['configure'] = ({ bridges, ...config }) => ({
  ...config,
  bridges: { 'native-bridge': bridges['native-bridge'] },
})

let stage: Stage
let portage: PortageProcess

beforeAll(async () => {
  // Audits of streams come at fixed times: their calls are no part of a transfer.
  const pace = { blockTimeSeconds: blockMs / 1_000, consistencyLevel: 200, window: 128, auditMinutes: 60 }
  stage = await startStage({ worker: {}, native: 'fixed', ...pace })
  portage = await stage.portage({ configure: withoutNative })
})

afterAll(() => stage?.close())

interface Reading {
  readonly at: number
  readonly height: number
  /** By `chain method`. */
  readonly calls: ReadonlyMap<string, number>
}

async function reading(): Promise<Reading> {
  const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
  const lines = text.matchAll(/^portage_rpc_calls_total\{chain="(\w+)",method="(\w+)"\} (\d+)/gm)
  const calls = new Map([...lines].map(([, chain = '', method = '', n]) => [`${chain} ${method}`, Number(n)]))
  return { at: Date.now(), calls, height: Number(/^portage_head_height\{chain="bsc"\} (\d+)/m.exec(text)?.[1]) }
}

/** What the chains were asked while so many transfers were delivered. `perTransfer` and `perBlock`: of the target; `all…`: of both chains. */
async function costOf(transfers: number, deliver: () => Promise<unknown>) {
  const before = await reading()
  await deliver()
  const after = await reading()
  // The head is asked for so often in a block's time, whether there is a block or not: a node that is busy is late with its own.
  const blocks = Math.max(after.height - before.height, (after.at - before.at) / blockMs)
  const spent = [...after.calls].map(
    ([key, calls]) => [...key.split(' '), calls - (before.calls.get(key) ?? 0)] as [string, string, number],
  )
  const sum = (those: (chain: string, isPerBlock: boolean) => boolean) =>
    spent.filter(([chain, method]) => those(chain, perBlockMethods.includes(method))).reduce((total, [, , calls]) => total + calls, 0)
  const figures = {
    ...{ transfers, blocks, all: sum(() => true), allInAll: sum(() => true) / transfers },
    perTransfer: sum((chain, isPerBlock) => chain === 'bsc' && !isPerBlock) / transfers,
    perBlock: sum((chain, isPerBlock) => chain === 'bsc' && isPerBlock) / blocks,
    allPerBlock: sum((_, isPerBlock) => isPerBlock) / blocks,
  }
  const breakdown = spent.filter(([, , calls]) => calls > 0).map((row) => row.join(' '))
  console.info(`RPC calls: ${JSON.stringify(figures)}; ${breakdown.join(', ')}`)
  return figures
}

/** Delivers so many at once, so many times. */
function cost(count: number, rounds = 1) {
  return costOf(count * rounds, async () => {
    for (let round = 0; round < rounds; round++) {
      await sendCoins(stage, count)
      await untilListed(stage, stage.sent, 'delivered')
    }
  })
}

async function nativeCost(count: number) {
  const amounts = Array.from({ length: count }, (_, index) => ({ amount: BigInt(index + 1) }))
  return costOf(count, async () => {
    const sent = await stage.devnet.native!.users.ethereum.send(amounts)
    const ends = await stage.outcomes(sent.map(nativeTransferId), 120_000)
    expect(new Set(ends.map(({ state }) => state))).toEqual(new Set(['delivered']))
  })
}

test('RPC calls per transfer and per block are the same with 10 and with 200 transfers in flight', async () => {
  // What never changes is read once: guardian sets, emitters, the wrapped coin.
  await cost(1)
  // Several times, so that calls at fixed times do not count as theirs.
  const few = await cost(10, 5)
  const many = await cost(200)
  for (const one of [few, many]) {
    expect(one.perTransfer).toBeLessThanOrEqual(mostPerTransfer)
    expect(one.perBlock).toBeLessThanOrEqual(mostPerBlock)
    expect(one.allPerBlock).toBeLessThanOrEqual(mostPerBlockOfAll)
  }
  // Prices are looked at again where a transfer waits long for its nonce.
  expect(many.perTransfer).toBeLessThanOrEqual(few.perTransfer + 1.5)
  // All in all: the source's part of a transfer is nothing.
  expect(many.all).toBeLessThanOrEqual(mostPerTransfer * many.transfers + mostPerBlockOfAll * many.blocks)
}, 400_000)

test('a native transfer costs five calls and its share of what comes once per block, with 100 in flight', async () => {
  await stage.end(portage)
  portage = await stage.portage({ configure: nativeOnly })
  await nativeCost(1)
  const { all, transfers, blocks } = await nativeCost(100)
  expect(all).toBeLessThanOrEqual(mostPerNativeTransfer * transfers + mostPerNativeBlock * blocks)
}, 400_000)
