import { expect, test } from 'vitest'
import { toRow } from '../../lanes/reports.ts'
import { newLane } from '../../domain/lane/lane.ts'

const lane = 'evm-1:0x52908400098527886e0f7030069857d2e4169ee7'

test('a lane whose window is 0 says why it gives no nonces; a paused one says that it is paused', () => {
  const state = { ...newLane({ lane, window: 8, fillAfterBlocks: 60 }), synced: true }
  const shut = { ...state, config: { ...state.config, window: 0 } }
  expect(toRow(lane, 'ethereum', true, state)).toMatchObject({ status: 'active', window: 8 })
  expect(toRow(lane, 'ethereum', true, state)).not.toHaveProperty('reason')
  expect(toRow(lane, 'ethereum', true, shut)).toMatchObject({ status: 'active', reason: expect.stringContaining('its window is 0') })
  expect(toRow(lane, 'ethereum', true, { ...shut, paused: { kind: 'operator' as const, reason: 'a look', by: 'ops' } })).toMatchObject({
    status: 'paused',
    reason: 'a look',
  })
})
