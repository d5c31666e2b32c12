import { describe, expect, test } from 'vitest'
import { FinalNonces, findForgotten, type Search } from '../../activities/operator-transaction/forgotten-nonces.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { until } from '../../lab/devnet/until.ts'

const minuteMs = 60_000
const orderedAt = 1_000 * minuteMs
const lane = `evm-1:0x${'11'.repeat(20)}`
const intent = { to: `0x${'7e'.repeat(20)}`, data: '0x', value: '7' }
const input = { lane, intent, orderedAt }
const delivery = { to: `0x${'22'.repeat(20)}`, data: '0xabcdef01', value: '0' }

/**
 * `calls`: the calls of the nonces 0, 1, …, one per block. An undefined call is unknown. The last block has the time of
 * the order.
 */
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
const searchOf = (chain: Chain, more: Partial<Search> = {}): Search => ({
  ...{ chain, known: new FinalNonces(), era: 1, signal: new AbortController().signal },
  ...more,
})
const learntAt = (from: number, to: number, at = orderedAt + minuteMs) => [{ from, to, at }]

describe('A payment of an earlier ledger', () => {
  test('a payment of an earlier ledger is found by its call among nonces that this ledger did not grant', async () => {
    const { chain } = chainWith([delivery, intent, delivery])
    expect(await findForgotten(searchOf(chain), input, learntAt(0, 3))).toEqual({
      ...{ kind: 'final', ok: true, nonce: 1, txHash: '0x1', blockHeight: 1, blockHash: '0xb1', gasPaid: '42000' },
    })
    expect(await findForgotten(searchOf(chainWith([intent], { status: 'reverted' }).chain), input, learntAt(0, 1))).toMatchObject({
      ok: false,
    })
  })

  test('a payment waits until the newest foreign nonce is final', async () => {
    const { chain, asked } = chainWith([delivery, intent], { agreed: 1 })
    expect(await findForgotten(searchOf(chain), input, learntAt(0, 2))).toMatchObject({ kind: 'no-slot', code: 'NONCE_NOT_FINAL' })
    expect(asked).toEqual([])
  })

  test('a payment is lost if the nodes no longer have the transaction of a foreign nonce', async () => {
    const { chain } = chainWith([delivery, undefined, delivery])
    const found = await findForgotten(searchOf(chain), input, learntAt(0, 3))
    expect(found).toMatchObject({ kind: 'lost', reason: expect.stringContaining('nonce=1') })
  })

  test('nonces that the ledger learnt of before the order are not read', async () => {
    const { chain, asked } = chainWith([intent])
    expect(await findForgotten(searchOf(chain), input, learntAt(0, 1, orderedAt - 1))).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('the search ends at transactions mined long before the order', async () => {
    const calls = [intent, ...Array.from({ length: 50 }, () => delivery)]
    const { chain, asked } = chainWith(calls)
    expect(await findForgotten(searchOf(chain), input, learntAt(0, 51))).toBeUndefined()
    // The search reads batches of eight calls until a call is ten minutes older than the order: two batches.
    expect(asked).toEqual(Array.from({ length: 16 }, (_, index) => 50 - index))
  })

  test('an equal payment, or a pruned one, from long before the order does not count', async () => {
    const deliveries = Array.from({ length: 12 }, () => delivery)
    expect(await findForgotten(searchOf(chainWith([intent, ...deliveries]).chain), input, learntAt(0, 13))).toBeUndefined()
    expect(await findForgotten(searchOf(chainWith([undefined, ...deliveries]).chain), input, learntAt(0, 13))).toBeUndefined()
  })

  test('the search for a payment begins with the highest nonce', async () => {
    const calls = [delivery, ...Array.from({ length: 49 }, () => delivery), intent]
    const heard = [...learntAt(49, 51), ...learntAt(1, 2, orderedAt + 2 * minuteMs)]
    expect(await findForgotten(searchOf(chainWith(calls).chain), input, heard)).toMatchObject({ kind: 'final', nonce: 50 })
  })

  test('a lost payment names the reason: the ledger began after the key was in use', async () => {
    const { chain } = chainWith([undefined])
    expect(await findForgotten(searchOf(chain), input, learntAt(0, 1))).toMatchObject({
      reason: expect.stringContaining('The ledger began after'),
    })
    expect(await findForgotten(searchOf(chainWith([delivery, undefined]).chain), input, learntAt(1, 2))).toMatchObject({
      reason: expect.stringContaining('Temporal was restored'),
    })
  })

  test('a search that takes too long, or whose step ends, waits; answers are read once', async () => {
    const { chain, asked } = chainWith([intent, ...Array.from({ length: 19 }, () => delivery)], { everyMinutes: 0 })
    const stuck: (() => void)[] = []
    const slow = (isSlow: (nonce: number) => boolean): Chain => ({
      ...chain,
      mined: (address, nonce) => {
        const answer = chain.mined(address, nonce)
        return isSlow(nonce) ? new Promise((resolve) => stuck.push(() => resolve(answer))) : answer
      },
    })
    const known = new FinalNonces()
    const ended = new AbortController()
    const late = slow((nonce) => nonce < 12)
    const first = findForgotten(searchOf(late, { known, signal: ended.signal }), input, learntAt(0, 20))
    await until(() => asked.length === 16, { timeoutMs: 10_000, everyMs: 1, what: 'the second eight to be asked for' })
    ended.abort()
    expect(await first).toMatchObject({ code: 'NONCE_NOT_FINAL' })
    expect(asked).toEqual(Array.from({ length: 16 }, (_, index) => 19 - index))
    expect(await findForgotten(searchOf(late, { known, forMs: 50 }), input, learntAt(0, 20))).toMatchObject({ code: 'NONCE_NOT_FINAL' })
    expect(asked).toHaveLength(16)
    for (const answer of stuck) answer()
    expect(await findForgotten(searchOf(chain, { known }), input, learntAt(0, 20))).toMatchObject({ kind: 'final', nonce: 0 })
    expect(asked).toEqual(Array.from({ length: 20 }, (_, index) => 19 - index))
  })

  test('a nonce is read again in a new era, after a missing answer, and beyond the cache', async () => {
    const { chain, asked } = chainWith([delivery, delivery])
    const known = new FinalNonces(1)
    await known.user({ chain, era: 1 }, lane, 0)
    await known.user({ chain, era: 1 }, lane, 0)
    expect(asked).toEqual([0])
    await known.user({ chain, era: 2 }, lane, 0)
    await known.user({ chain, era: 1 }, lane, 0)
    expect(asked).toEqual([0, 0, 0])
    await known.user({ chain, era: 1 }, lane, 7)
    await known.user({ chain, era: 1 }, lane, 7)
    expect(asked).toEqual([0, 0, 0, 7, 7])
  })

  test('a search waits while the nodes do not agree, and throws their other errors', async () => {
    const failing = (code: 'NODES_DISAGREE' | 'NODE_UNAVAILABLE') =>
      ({ ...chainWith([]).chain, agreedNonce: () => Promise.reject(new RelayerError(code)) }) as Chain
    expect(await findForgotten(searchOf(failing('NODES_DISAGREE')), input, learntAt(0, 1))).toMatchObject({
      kind: 'no-slot',
      code: 'NODES_DISAGREE',
    })
    await expect(findForgotten(searchOf(failing('NODE_UNAVAILABLE')), input, learntAt(0, 1))).rejects.toMatchObject({
      code: 'NODE_UNAVAILABLE',
    })
  })
})
