import { describe, expect, test } from 'vitest'
import { withReservation } from '../../bridges/gates/with-reservation.ts'
import type { Gate } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'

const transfer = nativeTransfer()
const closed: Gate = { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'paused' }

function setting(gate: Gate = { kind: 'open' }) {
  const calls: string[] = []
  const endpoint = {
    reserve: async (_: Transfer, relayer: string) => {
      calls.push(`reserve for ${relayer}`)
      return gate
    },
    release: () => void calls.push('release'),
  }
  return { endpoint, calls }
}

describe('A reservation', () => {
  test('stays while the transfer goes on, and is released where it does not', async () => {
    for (const goesOn of [true, false]) {
      const { endpoint, calls } = setting()
      const result = await withReservation(
        endpoint,
        transfer,
        (reserve) => reserve('0xa'),
        () => goesOn,
      )
      expect([result, calls]).toEqual([{ kind: 'open' }, goesOn ? ['reserve for 0xa'] : ['reserve for 0xa', 'release']])
    }
  })

  test('of an earlier step is released by a later one that asks for nothing', async () => {
    const { endpoint, calls } = setting(closed)
    const step = async () => 'halted'
    await withReservation(endpoint, transfer, step, (result) => result !== 'halted')
    expect(calls).toEqual(['release'])
  })

  test('stays with a step that throws: it is tried again', async () => {
    const { endpoint, calls } = setting()
    const step = () => Promise.reject(new Error('no node'))
    await expect(withReservation(endpoint, transfer, step, () => false)).rejects.toThrow('no node')
    expect(calls).toEqual([])
  })

  test('is not needed where the bridge has no gates', async () => {
    const gate = await withReservation(
      {},
      transfer,
      (reserve) => reserve('0xa'),
      ({ kind }) => kind === 'open',
    )
    expect(gate).toEqual({ kind: 'open' })
  })
})
