import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Mismatch } from '../../../intake/submit/halt-route.ts'
import { haltOnMismatch } from '../../../intake/streams/scanned/halt-on-mismatch.ts'
import { fakeChain, fakeContext } from './fake-context.ts'

const chain = fakeChain(1)
const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', maxOpen: 10 }

function setting() {
  const halts: Mismatch[] = []
  const context = fakeContext(config, { haltRoute: async (mismatch) => void halts.push(mismatch) })
  return { halts, context }
}

const mismatch = () => new RelayerError('NATIVE_TABLE_MISMATCH', { facts: { nonce: '7' } })

describe('a reading that contradicts the contracts of its route', () => {
  test('a contradiction of one node alone halts nothing, and the scan goes on', async () => {
    const { halts, context } = setting()
    const looks: (string | undefined)[] = []
    const read = async (at?: 'agreed') => {
      looks.push(at)
      if (at === undefined) throw mismatch()
      return 'as it is'
    }
    expect(await haltOnMismatch(context, chain, read)).toBe('as it is')
    expect([looks, halts]).toEqual([[undefined, 'agreed'], []])
  })

  test('a contradiction of the majority halts the route, and the scan stops', async () => {
    const { halts, context } = setting()
    const read = () => Promise.reject(mismatch())
    await expect(haltOnMismatch(context, chain, read)).rejects.toMatchObject({ code: 'NATIVE_TABLE_MISMATCH' })
    expect(halts).toMatchObject([{ sourceChain: 'a', targetChain: 'b', code: 'NATIVE_TABLE_MISMATCH' }])
  })

  test('disagreeing nodes halt no route', async () => {
    const { halts, context } = setting()
    const read = (at?: 'agreed') => Promise.reject(at ? new RelayerError('NODES_DISAGREE') : mismatch())
    await expect(haltOnMismatch(context, chain, read)).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
    expect(halts).toEqual([])
  })

  test('a contradicting range is first read in smaller parts', async () => {
    const { halts, context } = setting()
    let looks = 0
    const read = () => {
      looks++
      return Promise.reject(mismatch())
    }
    expect(await haltOnMismatch(context, chain, read, () => true)).toBeUndefined()
    expect([looks, halts]).toEqual([1, []])
  })
})
