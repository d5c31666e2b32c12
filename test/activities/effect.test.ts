import { describe, expect, test } from 'vitest'
import { showsEffect } from '../../activities/checks/effect.ts'
import type { Refuse } from '../../activities/transfer/confirm-end.ts'
import { createValidate } from '../../activities/transfer/admit.ts'
import type { Verdict } from '../../bridges/port.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { Mismatch } from '../../intake/submit/halt-route.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

const transfer = nativeTransfer(7)
const refuse: Refuse = async (_, refusal) => refusal

function setting(delivered: (at: At) => boolean, verdict: Verdict = { kind: 'valid' }) {
  const halted: Mismatch[] = []
  const state = { down: false }
  const endpoint = fakeEndpoint({ delivered: async (_, at) => delivered(at), validate: async () => verdict })
  const deps = {
    bridges: bridgesWith(endpoint),
    chains: new Map([[transfer.targetChain, {} as never]]),
    lanes: new Map([[transfer.targetChain, {}]]),
    settings: () => noSettings,
    haltRoute: async (mismatch: Mismatch) => {
      if (state.down) throw new RelayerError('SETTINGS_UNREACHABLE')
      halted.push(mismatch)
    },
  }
  return { deps, halted, state }
}

const mismatch = (): never => {
  throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts: { nonce: '7', completedUnder: '8' } })
}
const route = { bridge: 'native-bridge', sourceChain: 'ethereum', targetChain: 'bsc' }

describe('Contracts that contradict each other', () => {
  test('contracts that contradict each other halt their route when the nodes agree', async () => {
    const { deps, halted } = setting(mismatch)
    expect(await codeOfAsync(() => showsEffect(deps, transfer))).toBe('NATIVE_NONCE_MISMATCH')
    expect(halted).toEqual([{ ...route, code: 'NATIVE_NONCE_MISMATCH', detail: expect.stringContaining('transfer 7') }])
    expect(halted[0]?.detail).toContain('completedUnder=8')
  })

  test('one node alone neither halts a route nor parks a transfer', async () => {
    for (const agreed of [true, false]) {
      const { deps, halted } = setting((at) => (at === 'latest' ? mismatch() : agreed))
      expect(await codeOfAsync(() => showsEffect(deps, transfer))).toBe('NODES_DISAGREE')
      expect(halted).toEqual([])
    }
  })

  test('a step that finds a contradiction fails while the halt of the route cannot be ordered', async () => {
    const { deps, state } = setting(mismatch)
    state.down = true
    expect(await codeOfAsync(() => showsEffect(deps, transfer))).toBe('SETTINGS_UNREACHABLE')
  })

  test.each(['NATIVE_ID_MISMATCH', 'NATIVE_TABLE_MISMATCH'] as const)(
    'bytes that anyone may send halt nothing: %s rejects only the transfer',
    async (code) => {
      const verdict = { kind: 'rejected', code, reason: 'forged' } as const
      const { deps, halted } = setting(() => false, verdict)
      expect(await inItsRun(createValidate(deps as never, refuse))({ transfer })).toEqual(verdict)
      expect(halted).toEqual([])
    },
  )
})
