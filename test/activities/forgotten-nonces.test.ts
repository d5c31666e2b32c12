import { describe, expect, test } from 'vitest'
import { findForgotten } from '../../activities/forgotten-nonces.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'

const minuteMs = 60_000
const orderedAt = 1_000 * minuteMs
const lane = `evm-1:0x${'11'.repeat(20)}`
const intent = { to: `0x${'7e'.repeat(20)}`, data: '0x', value: '7' }
const input = { lane, intent, orderedAt }
const delivery = { to: `0x${'22'.repeat(20)}`, data: '0xabcdef01', value: '0' }

/** A chain whose account has used these nonces for these calls: a block each, the last at the time of the order. @param agreed nonces that are final */
function chainWith(calls: readonly (typeof intent | undefined)[], { agreed = calls.length, status = 'success', everyMinutes = 1 } = {}) {
  const asked: number[] = []
  const chain = {
    agreedNonce: async () => agreed,
    async mined(_: string, nonce: number) {
      asked.push(nonce)
      const call = calls[nonce]
      return call && { hash: `0x${nonce}`, signingHash: '0x', call, block: { height: nonce, hash: `0xb${nonce}` } }
    },
    block: async (height: number) => ({
      ...{ height, hash: `0xb${height}`, parentHash: '0x' },
      timestamp: (orderedAt - (calls.length - 1 - height) * everyMinutes * minuteMs) / 1000,
    }),
    receipt: async (hash: string) => {
      const block = { height: Number(hash), hash: `0xb${Number(hash)}` }
      return { hash, status, block, from: '0x', gasUsed: '21000', effectiveGasPrice: '2', logs: [] }
    },
  } as Partial<Chain> as Chain
  return { chain, asked }
}
const heardAt = (from: number, to: number, at = orderedAt + minuteMs) => [{ from, to, at }]

describe('a payment that a ledger made which is gone', () => {
  test('is found by its call among the nonces that this ledger did not give', async () => {
    const { chain } = chainWith([delivery, intent, delivery])
    expect(await findForgotten(chain, input, heardAt(0, 3))).toEqual({
      ...{ kind: 'final', ok: true, nonce: 1, txHash: '0x1', blockHeight: 1, blockHash: '0xb1', gasPaid: '42000' },
    })
    expect(await findForgotten(chainWith([intent], { status: 'reverted' }).chain, input, heardAt(0, 1))).toMatchObject({ ok: false })
  })

  test('waits until the newest of them is final', async () => {
    const { chain, asked } = chainWith([delivery, intent], { agreed: 1 })
    expect(await findForgotten(chain, input, heardAt(0, 2))).toMatchObject({ kind: 'no-slot', code: 'NONCE_NOT_FINAL' })
    expect(asked).toEqual([])
  })

  test('is lost where the nodes no longer tell what used one of them', async () => {
    const { chain } = chainWith([delivery, undefined, delivery])
    const found = await findForgotten(chain, input, heardAt(0, 3))
    expect(found).toMatchObject({ kind: 'lost', reason: expect.stringContaining('nonce=1') })
  })

  test('is none of what was heard of before it was ordered', async () => {
    const { chain, asked } = chainWith([intent])
    expect(await findForgotten(chain, input, heardAt(0, 1, orderedAt - 1))).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('is none of what was mined long before it was ordered: no further back is looked', async () => {
    const calls = [intent, ...Array.from({ length: 50 }, () => delivery)]
    const { chain, asked } = chainWith(calls)
    expect(await findForgotten(chain, input, heardAt(0, 51))).toBeUndefined()
    // A minute apart, and ten minutes of slack between the clocks.
    expect(asked).toEqual(Array.from({ length: 12 }, (_, index) => 50 - index))
  })

  test('waits while the nodes do not agree, and throws what else they throw', async () => {
    const failing = (code: 'NODES_DISAGREE' | 'NODE_UNAVAILABLE') =>
      ({ ...chainWith([]).chain, agreedNonce: () => Promise.reject(new RelayerError(code)) }) as Chain
    expect(await findForgotten(failing('NODES_DISAGREE'), input, heardAt(0, 1))).toMatchObject({ kind: 'no-slot', code: 'NODES_DISAGREE' })
    await expect(findForgotten(failing('NODE_UNAVAILABLE'), input, heardAt(0, 1))).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })
})
