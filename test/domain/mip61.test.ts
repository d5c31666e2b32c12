import { describe, expect, test } from 'vitest'
import { mip61Of, transferStates } from '../../domain/transfer/transfer.ts'

const bridge = 'native-bridge'

describe("MIP-61's states", () => {
  test('each state of a transfer has a state of MIP-61', () => {
    expect(Object.fromEntries(transferStates.map((state) => [state, mip61Of({ bridge, state })]))).toEqual({
      admitting: 'transfer_initiated',
      waiting: 'transfer_initiated',
      broadcasting: 'transfer_pending',
      pending: 'transfer_pending',
      included: 'transfer_pending_executed',
      parked: 'transfer_initiated',
      delivered: 'transfer_completed',
      rejected: undefined,
      declined: undefined,
      cancelled: undefined,
    })
  })

  test('MIP-61 distinguishes a reverted completion from one that was never sent', () => {
    const of = (state: 'waiting' | 'parked' | 'included', code: 'DELIVERY_REVERTED' | 'BRIDGE_BUDGET') => mip61Of({ bridge, state, code })
    expect([of('waiting', 'DELIVERY_REVERTED'), of('parked', 'DELIVERY_REVERTED')]).toEqual(Array(2).fill('transfer_pending_failed'))
    expect([of('waiting', 'BRIDGE_BUDGET'), of('parked', 'BRIDGE_BUDGET')]).toEqual(Array(2).fill('transfer_initiated'))
    expect(of('included', 'DELIVERY_REVERTED')).toBe('transfer_pending_executed')
  })

  test('transfers of other bridges have no state of MIP-61', () => {
    for (const state of transferStates) expect(mip61Of({ bridge: 'wormhole-token-bridge', state })).toBeUndefined()
  })
})
