import { describe, expect, test } from 'vitest'
import { trafficOf, type TransferTraffic, trafficWindow } from '../../domain/transfer/traffic.ts'

const minute = 60_000
const now = 100 * minute + 30_000
const window = trafficWindow(60, now)

function sample(part: Partial<TransferTraffic>): TransferTraffic {
  return { bridge: 'native-bridge', source: 'ethereum', target: 'bsc', state: 'delivered', startedAt: now - 5_000, ...part }
}

describe('traffic', () => {
  test('a window has 60 steps that begin at fixed times, and the last one contains now', () => {
    expect(window).toEqual({ from: 41 * minute, stepMs: minute, steps: 60 })
    expect(trafficWindow(60, now + 29_000)).toEqual(window)
    expect(trafficWindow(60, now + 30_000).from).toBe(42 * minute)
  })

  test('each route has its open transfers by state, and its ended ones by outcome', () => {
    const flow = trafficOf(
      [
        sample({ state: 'pending', startedAt: now - 9_000 }),
        sample({ state: 'parked', startedAt: now - 90 * minute }),
        sample({ closedAt: now - 1_000 }),
        sample({ state: 'rejected', closedAt: now - 1_000 }),
        sample({ closedAt: window.from - 1 }),
        sample({ source: 'bsc', target: 'ethereum', state: 'undone', closedAt: now }),
      ],
      window,
    )
    const names = { bridge: 'native-bridge', source: 'ethereum', target: 'bsc' }
    expect(flow.routes).toEqual([
      { ...names, source: 'bsc', target: 'ethereum', open: {}, ended: { undone: 1 } },
      {
        ...names,
        open: { pending: 1, parked: 1 },
        ended: { delivered: 1, rejected: 1 },
        oldestOpenAt: now - 90 * minute,
        ...{ medianMs: 4_000, p95Ms: 4_000 },
      },
    ])
    expect(flow).toMatchObject({ delivered: 1, medianMs: 4_000, p95Ms: 4_000 })
  })

  test('each delivery counts in its step, one of the future in the last, with times that occurred', () => {
    const times = [1_000, 2_000, 3_000, 40_000]
    const closedAt = 50 * minute
    const flow = trafficOf(
      [
        ...times.map((ms) => sample({ startedAt: closedAt - ms, closedAt })),
        sample({ closedAt: now + 10 * minute, startedAt: now + 9 * minute }),
      ],
      window,
    )
    expect(flow.steps).toHaveLength(60)
    expect(flow.steps[9]).toEqual({ at: closedAt, delivered: 4, medianMs: 2_000, p95Ms: 40_000 })
    expect(flow.steps[59]).toEqual({ at: 100 * minute, delivered: 1, medianMs: minute, p95Ms: minute })
    expect(flow.steps[0]).toEqual({ at: window.from, delivered: 0 })
  })

  test('a clock that went back makes no negative time', () => {
    expect(trafficOf([sample({ startedAt: now, closedAt: now - 1 })], window).medianMs).toBe(0)
  })

  test('invented routes do not fill the answer', () => {
    const flow = trafficOf(
      Array.from({ length: 500 }, (_, index) => sample({ bridge: `b${index}`, state: 'pending' })).concat(
        sample({}),
        sample({}),
        sample({ state: 'waiting' }),
      ),
      window,
    )
    expect(flow.routes.length).toBe(100)
    expect(flow.routes.map(({ bridge }) => bridge)).toContain('native-bridge')
  })
})
