import { expect, test } from 'vitest'
import { type BacklogMeasurement, fetches } from '../../../lab/bench/backlog.ts'
import { shapeOf } from '../../../lab/bench/history-shape.ts'
import type { Measurement } from '../../../lab/bench/measure.ts'
import { readOptions } from '../../../lab/bench/options.ts'
import { sumByMethod } from '../../../lab/bench/rpc-calls.ts'
import { type Round, summarize } from '../../../lab/bench/summary.ts'
import { benchTable } from '../../../lab/bench/table.ts'

const threadMs = { main: 100, workflow: 50, core: 20, gcJit: 20, pool: 10 }

function measurement(perSecond: number, cpuMs: number): Measurement {
  const closed = [{ closedAt: 1, stateTransitions: 7, historyEvents: 14, historyBytes: 9_000, workflowId: 'a' }]
  const usage = { temporal: { cpuMs, threadMs, rssPeakMiB: 90 }, worker: { cpuMs, threadMs, rssPeakMiB: 300 } }
  return { count: 10, begin: 0, closed, usage, perSecond, sustainedPerSecond: 2 * perSecond }
}

function round(perSecond: number, one: number): Round {
  const check = {
    delivered: 10,
    lost: 0,
    duplicates: 0,
    revertedTransactions: 0,
    maxPerLanePerBlock: perSecond,
    gasPerTransaction: 200_000,
  }
  const portage: BacklogMeasurement = {
    ...measurement(perSecond, 400),
    ...{ check, rpcCalls: [['eth_call', 30]], fetchedAgain: 1, startMs: 5_000, firstCloseMs: 2_500 },
  }
  return { portage, oneActivity: measurement(one, 100), empty: measurement(2 * one, 50), load: 4 }
}

const summary = summarize([round(10, 40), round(30, 60), round(20, 50)], { form: 'queue', keys: 4, shape: { timerStarted: 1 } })

test('the ratios are those of each round, not of the medians', () => {
  expect(summary.ratio).toEqual({ min: 0.25, median: 0.4, max: 0.5 })
  expect(summary.ratioSustained).toEqual(summary.ratio)
  expect(summary.ratioCpu).toEqual({ min: 4, median: 4, max: 4 })
})

test('each kind has its rates, and its CPU time per workflow, by process and by thread', () => {
  const { portage, oneActivity, empty } = summary
  expect(portage.perSecond).toEqual({ min: 10, median: 20, max: 30 })
  expect(oneActivity.sustainedPerSecond).toEqual({ min: 80, median: 100, max: 120 })
  expect(empty.cpuMs.median).toBe(10)
  expect(portage.cpuMs.median).toBe(80)
  expect(portage.cpuMsByProcess['worker']?.median).toBe(40)
  expect(portage.cpuMsByThread.main.median).toBe(10)
  expect(portage.rssPeakMiB).toEqual({ temporal: 90, worker: 300 })
  expect([portage.historyBytes, portage.gasPerTransaction]).toEqual([9_000, 200_000])
  expect(portage.rpcCalls).toEqual({ perTransfer: 3, byMethod: { eth_call: 3 } })
})

test('the findings of the checker are added up over the rounds', () => {
  expect(summary).toMatchObject({
    delivered: 30,
    of: 30,
    lost: 0,
    duplicates: 0,
    fetchedAgain: 3,
    maxPerLanePerBlock: 30,
    rounds: 3,
    transfers: 10,
  })
})

test('the table of a bench has all figures', () => {
  const table = benchTable(summary)
  expect(table).toContain('20 (10–30)')
  expect(table).toContain('Portage to one activity: 0.4 (0.25–0.5)')
  expect(table).toContain('Ready after 5000 ms; first close 2500 ms after the block of the first delivery')
  expect(table).not.toMatch(/undefined|NaN/)
})

test('histories are counted by type, per workflow', () => {
  expect(shapeOf([['a', 'b', 'a'], ['a']])).toEqual({ a: 1.5, b: 0.5 })
})

test('RPC calls are added up over the chains', () => {
  const metrics = [
    'portage_rpc_calls_total{chain="bsc",method="eth_call"} 3',
    'portage_rpc_calls_total{chain="ethereum",method="eth_call"} 4',
    'portage_rpc_calls_total{chain="bsc",method="eth_chainId"} 9',
    'portage_other{method="eth_call"} 100',
  ]
  expect(sumByMethod(metrics.join('\n'))).toEqual([
    ['eth_chainId', 9],
    ['eth_call', 7],
  ])
})

test('the bench sends 2,000 transfers in three rounds, or 800 in one with --quick', () => {
  expect(readOptions([])).toMatchObject({ transfers: 2_000, rounds: 3, keys: 4, form: 'queue', json: false })
  expect(readOptions(['--quick'])).toMatchObject({ transfers: 800, rounds: 1 })
  expect(readOptions(['--quick', '--transfers', '50'])).toMatchObject({ transfers: 50, rounds: 1 })
})

test('a message fetched again is counted if the run sent it, and not if another sender of the emitter did', () => {
  const sent = [5n, 6n].map((sequence) => ({ emitterChain: 2, emitter: 'ab', sequence }))
  const requests = ['/v1/signed_vaa/2/ab/5', '/v1/signed_vaa/2/ab/1', '/v1/signed_vaa/4/ab/6', '/v1/governor/is_vaa_enqueued/2/ab/6']
  expect(fetches(requests, sent)).toBe(1)
})
