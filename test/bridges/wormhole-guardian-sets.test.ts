import { describe, expect, test } from 'vitest'
import { coreAbi, createGuardianSets } from '../../bridges/kit/signed-messages.ts'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

const key = `0x${'ab'.repeat(20)}`

function network() {
  const state = { newest: 0, up: true, calls: 0, now: 0, at: new Set<string>(), keys: [key] }
  const chain: ContractReader = {
    name: 'ethereum',
    async call(_, data, at) {
      state.calls++
      state.at.add(at)
      if (!state.up) throw new RelayerError('NODE_UNAVAILABLE')
      const call = coreAbi.parseTransaction({ data })!
      if (call.name === 'getCurrentGuardianSetIndex') return coreAbi.encodeFunctionResult(call.name, [state.newest])
      return coreAbi.encodeFunctionResult(call.name, [[state.keys, Number(call.args[0]) < state.newest ? 5_000 : 0]])
    },
  }
  return { state, sets: createGuardianSets(chain, key, () => state.now) }
}

describe('guardian sets', () => {
  test('guardian sets are what more than half of the nodes say', async () => {
    const { state, sets } = network()
    await sets.get(0)
    expect(state.at).toEqual(new Set(['majority-latest']))
  })

  test('guardian sets are read once a minute, also for many readers at once', async () => {
    const { state, sets } = network()
    await Promise.all(Array.from({ length: 50 }, () => sets.get(0)))
    expect(state.calls).toBe(2)
    state.now = 59_999
    await sets.get(0)
    expect(state.calls).toBe(2)
    state.now = 60_000
    expect(await sets.get(0)).toEqual({ index: 0, keys: [key], expirationTime: 0, current: true })
    expect(state.calls).toBe(4)
  })

  test('guardian sets count as old within a minute of an upgrade', async () => {
    const { state, sets } = network()
    await sets.get(0)
    state.newest = 1
    state.now = 60_000
    expect(await sets.get(0)).toMatchObject({ current: false, expirationTime: 5_000 })
    expect(await sets.get(1)).toMatchObject({ current: true, expirationTime: 0 })
  })

  test('guardian sets that cannot be the next one are impossible, and cost a read a second at most', async () => {
    const { state, sets } = network()
    const codes = new Set<string>()
    for (let index = 2; index < 1_000; index++) codes.add(await codeOfAsync(() => sets.get(index)))
    expect(await codeOfAsync(() => sets.get(0xffffffff))).toBe('GUARDIAN_SET_IMPOSSIBLE')
    expect([...codes]).toEqual(['GUARDIAN_SET_IMPOSSIBLE'])
    expect(await codeOfAsync(() => sets.get(1))).toBe('GUARDIAN_SET_UNKNOWN')
    expect(state.calls).toBe(1)
  })

  test('guardian sets that were read serve while no node answers; others fail, and are asked for again', async () => {
    const { state, sets } = network()
    state.up = false
    expect(await codeOfAsync(() => sets.get(0))).toBe('NODE_UNAVAILABLE')
    state.up = true
    expect(await codeOfAsync(() => sets.get(0))).toBe('none')
    state.up = false
    state.now = 3_600_000
    expect(await sets.get(0)).toMatchObject({ current: true })
    expect(await codeOfAsync(() => sets.get(1))).toBe('GUARDIAN_SET_UNKNOWN')
  })
})
