import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
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
/** The target; what is measured is 4.1: one call at admission and one at the end, an estimate, a send, and a share of its block's receipts. */
const mostPerTransfer = 5
/** The head with the finalized tag twice (a block may be skipped and filled), three reads of one lane, the market. */
const mostPerBlock = 8

const blockMs = 500

let stage: Stage
let portage: PortageProcess

beforeAll(async () => {
  // Audits of streams come at fixed times: their calls are no part of a transfer.
  stage = await startStage({ worker: {}, blockTimeSeconds: blockMs / 1_000, consistencyLevel: 200, window: 128, auditMinutes: 60 })
  portage = await stage.portage()
})

afterAll(() => stage?.close())

interface Reading {
  readonly at: number
  readonly height: number
  readonly calls: ReadonlyMap<string, number>
}

async function reading(): Promise<Reading> {
  const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
  const calls = new Map(
    [...text.matchAll(/^portage_rpc_calls_total\{chain="bsc",method="(\w+)"\} (\d+)/gm)].map(([, m = '', n]) => [m, Number(n)]),
  )
  return { at: Date.now(), calls, height: Number(/^portage_head_height\{chain="bsc"\} (\d+)/m.exec(text)?.[1]) }
}

/** Delivers so many at once, so many times; what the target chain was asked meanwhile. */
async function cost(count: number, rounds = 1) {
  const before = await reading()
  for (let round = 0; round < rounds; round++) {
    await sendCoins(stage, count)
    await untilListed(stage, stage.sent, 'delivered')
  }
  const after = await reading()
  // The head is asked for so often in a block's time, whether there is a block or not: a node that is busy is late with its own.
  const blocks = Math.max(after.height - before.height, (after.at - before.at) / blockMs)
  const spent = [...after.calls].map(([method, calls]) => [method, calls - (before.calls.get(method) ?? 0)] as const)
  const sum = (perBlock: boolean) =>
    spent.filter(([method]) => perBlockMethods.includes(method) === perBlock).reduce((total, [, calls]) => total + calls, 0)
  const breakdown = spent.filter(([, calls]) => calls > 0).map(([method, calls]) => `${method} ${calls}`)
  const transfers = count * rounds
  const figures = { transfers, blocks, perTransfer: sum(false) / transfers, perBlock: sum(true) / blocks }
  console.info(`RPC calls: ${JSON.stringify(figures)}; ${breakdown.join(', ')}`)
  return figures
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
  }
  expect(many.perTransfer).toBeLessThanOrEqual(few.perTransfer + 0.5)
}, 400_000)
