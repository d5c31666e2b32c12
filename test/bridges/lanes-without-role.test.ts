import { describe, expect, test } from 'vitest'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { LanesWithoutRole, unauthorizedReason } from '../../bridges/gates/lanes-without-role.ts'
import { metricValue } from '../helpers/metrics.ts'

const lane = 'evm-1:0xa'
type Bar = { everywhere: boolean; reason: string } | undefined

function setting({ others = false } = {}) {
  const state = { bar: undefined as Bar, now: 0, status: { lane, open: true } as LaneStatus, orders: [] as string[], looks: 0 }
  const metrics = createMetrics()
  const unauthorized = new LanesWithoutRole({
    endpoints: new Map([
      ['native-bridge', { unauthorized: async () => (state.looks++, state.bar) }],
      ...(others ? ([['wormhole-token-bridge', {}]] as const) : []),
    ]),
    lanes: { status: async () => state.status, statuses: async () => [state.status] },
    pauses: {
      async pause(_, { kind, reason }) {
        state.orders.push(`pause ${reason}`)
        state.status = { lane, open: false, why: 'paused', detail: reason, pause: kind }
      },
      async resume() {
        state.orders.push('resume')
        state.status = { lane, open: true }
      },
    },
    logger: silentLogger(),
    metrics,
    clock: () => state.now,
  })
  const look = async (passMs = 11_000) => {
    state.now += passMs
    await unauthorized.check()
  }
  return { state, unauthorized, look, shown: () => metricValue(metrics, 'portage_lane_unauthorized', { lane, bridge: 'native-bridge' }) }
}

describe('A lane without the role', () => {
  test('a lane without any role is paused with what to do, and resumed once it has a role', async () => {
    const { state, unauthorized, look, shown } = setting()
    state.bar = { everywhere: true, reason: 'grant it' }
    unauthorized.add(lane)
    await look()
    expect([state.orders, await shown()]).toEqual([[`pause ${unauthorizedReason(['grant it'])}`], 1])
    await look()
    expect(state.orders).toHaveLength(1)
    state.bar = undefined
    await look()
    expect([state.orders.at(-1), await shown()]).toEqual(['resume', 0])
    await look()
    const { looks } = state
    await look()
    expect(state.looks).toBe(looks)
  })

  test('a lane without one role goes on with other routes and bridges', async () => {
    for (const others of [false, true]) {
      const { state, unauthorized, look, shown } = setting({ others })
      state.bar = { everywhere: others, reason: 'grant it' }
      unauthorized.add(lane)
      await look()
      expect([state.orders, await shown()]).toEqual([[], 1])
      state.bar = undefined
      await look()
      expect([state.orders, await shown()]).toEqual([[], 0])
    }
  })

  test('a lane without a role that an operator has paused stays paused', async () => {
    const { state, unauthorized, look } = setting()
    state.bar = { everywhere: true, reason: 'grant it' }
    state.status = { lane, open: false, why: 'paused', detail: unauthorizedReason(['typed by an operator']), pause: 'operator' }
    unauthorized.add(lane)
    await look()
    state.bar = undefined
    await look()
    expect(state.orders).toEqual([])
  })

  test('a lane without a role that another process has paused is found, and resumed', async () => {
    const { state, look } = setting()
    state.status = { lane, open: false, why: 'paused', detail: unauthorizedReason(['grant it']), pause: 'unauthorized' }
    await look(0)
    expect(state.orders).toEqual(['resume'])
  })
})
