import { describe, expect, test } from 'vitest'
import type { Endpoint, Gate } from '../../bridges/port.ts'
import type { HeadEvent } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { GateWatcher } from '../../bridges/gates/gate-watcher.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { metricValue } from '../helpers/metrics.ts'

const closed = { kind: 'route', code: 'BRIDGE_BUDGET', reason: 'spent' } as const
const id = (sequence: number) => transferId(nativeTransfer(sequence))

function setting({ earlier = [] as (number | Transfer)[], lanes = ['evm-1:0xa'] } = {}) {
  const state = {
    gate: (_: Transfer, __: string): Gate => closed,
    asked: [] as [string, string][],
    released: [] as string[],
    woken: [] as string[],
    gone: new Set<string>(),
    down: false,
    bars: 0,
  }
  let listener: (event: HeadEvent) => void = () => {}
  const endpoint: Pick<Endpoint, 'reserve' | 'release'> = {
    reserve: async (one, account) => {
      state.asked.push([one.sequence, account])
      return state.gate(one, account)
    },
    release: (one) => void state.released.push(one.sequence),
  }
  const metrics = createMetrics()
  const watcher = new GateWatcher({
    chain: {
      name: 'bsc',
      heads: {
        start: async () => {},
        stop: () => {},
        current: undefined,
        subscribe(to) {
          listener = to
          return () => (listener = () => {})
        },
      },
    },
    endpoints: new Map([['native-bridge', endpoint]]),
    lanes,
    waitingTransfers: {
      async wake(one) {
        if (state.down) throw new Error('down')
        state.woken.push(one)
        return !state.gone.has(one)
      },
      async *waiting() {
        yield* earlier.map((one) => (typeof one === 'number' ? nativeTransfer(one) : one))
      },
    },
    unauthorized: { add: () => {}, check: async () => void state.bars++ },
    logger: silentLogger(),
    metrics,
  })
  const head = () => listener({} as HeadEvent)
  return {
    state,
    watcher,
    head,
    async block() {
      const blocks = state.bars
      head()
      await until(() => state.bars > blocks, { timeoutMs: 40_000, what: 'a look' })
      // Lets the watcher finish its work for this block.
      await new Promise(setImmediate)
      await new Promise(setImmediate)
    },
    waiting: (code = 'BRIDGE_BUDGET') => metricValue(metrics, 'portage_gate_waiting', { route: 'native-bridge:ethereum:bsc', code }),
  }
}

describe('Transfers that wait at a gate', () => {
  test('waiting transfers are counted by route and reason, polled once per block, and woken by number', async () => {
    const { watcher, state, block, waiting } = setting()
    for (const sequence of [10, 9, 100, 2]) watcher.wait(nativeTransfer(sequence), closed)
    watcher.wait(nativeTransfer(9), closed)
    expect(await waiting()).toBe(4)
    await block()
    expect(state.asked.map(([sequence]) => sequence)).toEqual(['2', '9', '10', '100'])
    expect(state.woken).toEqual([])
    let room = 2
    state.gate = () => (room-- > 0 ? { kind: 'open' } : closed)
    await block()
    expect(state.woken).toEqual([id(2), id(9)])
    expect(await waiting()).toBe(2)
    state.gate = () => ({ kind: 'open' })
    await block()
    expect([state.woken.slice(2), await waiting()]).toEqual([[id(10), id(100)], 0])
    state.asked = []
    await block()
    expect(state.asked).toEqual([])
    await watcher.stop()
  })

  test('a run without a number or with an unreadable message does not delay other transfers', async () => {
    const unreadable = { ...nativeTransfer(2), message: 'junk' }
    const { watcher, state, block } = setting({ earlier: [{ ...nativeTransfer(1), sequence: 'x' }, unreadable, 5, 6] })
    state.gate = ({ message }) => {
      if (message === 'junk') throw new RelayerError('MESSAGE_ENCODING')
      return { kind: 'open' }
    }
    await until(() => block().then(() => state.woken.length > 0), { timeoutMs: 40_000, what: 'earlier transfers to be woken' })
    expect(state.woken).toEqual([id(5), id(6)])
    await watcher.stop()
  })

  test('transfers that wait at a gate are woken in bounded bursts', async () => {
    const { watcher, state, block } = setting()
    for (let sequence = 1; sequence <= 450; sequence++) watcher.wait(nativeTransfer(sequence), closed)
    state.gate = () => ({ kind: 'open' })
    const woken: number[] = []
    for (let count = 0; count < 3; count++) {
      await block()
      await until(() => state.woken.length >= Math.min(450, (count + 1) * 200), { timeoutMs: 40_000, what: 'a burst' })
      woken.push(state.woken.length)
    }
    expect(woken).toEqual([200, 400, 450])
    await watcher.stop()
  })

  test('a waiting transfer that can only be parked is woken, unless only one lane is unauthorized', async () => {
    const unauthorized = { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'no role' } as const
    const { watcher, state, block, waiting } = setting({ lanes: ['evm-1:0xa', 'evm-1:0xb'] })
    watcher.wait(nativeTransfer(1), unauthorized)
    state.gate = () => unauthorized
    await block()
    expect([state.asked, state.woken, await waiting('BRIDGE_ROLE_MISSING')]).toEqual([
      [
        ['1', '0xa'],
        ['1', '0xb'],
      ],
      [],
      1,
    ])
    state.gate = (_, account) => (account === '0xb' ? closed : unauthorized)
    await block()
    expect([await waiting('BRIDGE_ROLE_MISSING'), await waiting()]).toEqual([0, 1])
    state.gate = (_, account) => (account === '0xb' ? { kind: 'transfer', code: 'BRIDGE_CAP', reason: 'cap' } : unauthorized)
    await block()
    expect(state.woken).toEqual([id(1)])
    await watcher.stop()
  })

  test('a transfer that cannot be woken stays listed; an ended one is removed with its reservation', async () => {
    const { watcher, state, block } = setting()
    watcher.wait(nativeTransfer(1), closed)
    watcher.wait(nativeTransfer(2), closed)
    state.gate = () => ({ kind: 'open' })
    state.down = true
    await block()
    expect(state.woken).toEqual([])
    state.down = false
    state.gone.add(id(2))
    await block()
    expect([state.woken, state.released]).toEqual([[id(1), id(2)], ['2']])
    await watcher.stop()
  })

  test('a check that fails is repeated at the next block', async () => {
    const { watcher, state, block } = setting()
    watcher.wait(nativeTransfer(1), closed)
    state.gate = () => {
      throw new Error('no node')
    }
    await block()
    state.gate = () => ({ kind: 'open' })
    await block()
    expect(state.woken).toEqual([id(1)])
    await watcher.stop()
  })

  test('a transfer that waited before the process began is found by the server, and counted at its gate', async () => {
    const { watcher, state, block, head, waiting } = setting({ earlier: [7, 3] })
    await new Promise(setImmediate)
    expect(await waiting()).toBe(0)
    await block()
    expect([state.asked.map(([sequence]) => sequence), state.woken, await waiting()]).toEqual([['3', '7'], [], 2])
    await watcher.stop()
    const { bars } = state
    head()
    await new Promise(setImmediate)
    expect(state.bars).toBe(bars)
  })
})
