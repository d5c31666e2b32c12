import { MockActivityEnvironment } from '@temporalio/testing'
import { describe, expect, test } from 'vitest'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { createPrepare } from '../../activities/transfer/prepare.ts'
import type { Endpoint } from '../../bridges/port.ts'
import { laneId } from '../../domain/lane/lane-id.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { Losses } from '../../domain/transfer/losses.ts'
import { callHash } from '../../lanes/lane-call.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }

/** Every call simulates well, gets a nonce, and is in a block with this status; transfers below 10 are to one recipient, the others to another. */
function setting({ status = 'reverted', ...own }: Partial<Endpoint> & { status?: 'reverted' | 'success' } = {}) {
  const signed: number[] = []
  const endpoint = fakeEndpoint({
    intent: async () => call,
    delivered: async () => false,
    hasEffect: () => false,
    parties: ({ sequence }) => ({ recipient: Number(sequence) < 10 ? 'eve' : 'bob', token: 'weth' }),
    ...own,
  })
  const chain = { ...scriptedChain(() => '0xaa'), msToFinality: () => 900_000 }
  const agent = {
    find: async () => ({ kind: 'refused', why: 'none', detail: '' }),
    justify: async () => {},
    release: async () => {},
    signAndSend: async ({ nonce }: { nonce: number }) => void signed.push(nonce),
    acquire: async () => {
      const nonce = signed.length
      const receipt = {
        hash: `0x${nonce}`,
        from: '0x11',
        status,
        gasUsed: '100',
        effectiveGasPrice: '2',
        block: { height: 1, hash: '0xaa' },
        logs: [],
      }
      const state = { kind: 'included', final: false, noop: false, receipt }
      return { kind: 'acquired', pending: { nonce, unsigned: true, attempts: 1, tried: [], state, until: async () => true } }
    },
  }
  const losses = new Losses({ firstWaitMs: 60_000, tokenBudget: 10_000n })
  const shared = { bridges: bridgesWith(endpoint), settings: () => noSettings, losses }
  const broadcast = createBroadcast({ ...shared, chain, agents: new Map([[lane, agent]]) } as never)
  const cache = { statuses: async () => [{ lane, open: true }], open: async () => [lane], lanes: [lane] }
  const prepare = createPrepare({
    ...shared,
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', cache]]),
    fees: () => ({}),
    abandonAfterMs: 0,
  } as never)
  return {
    signed,
    prepare: (number: number, retriedAt?: number) =>
      prepare({ transfer: nativeTransfer(number), avoid: [], ...(retriedAt !== undefined && { retriedAt }) }),
    broadcast(number: number, retriedAt?: number): Promise<BroadcastResult> {
      const input: BroadcastInput = {
        ...{ lane, intentId: `transfer-${number}/1`, transfer: nativeTransfer(number), callHash: callHash(call), mode: 'new', priority: 3 },
        ...{ gasLimit: '100000', maxFee: '2', tip: '1', ...(retriedAt !== undefined && { retriedAt }) },
      }
      return new MockActivityEnvironment({ heartbeatTimeoutMs: 10_000 }).run(broadcast, input)
    },
  }
}

describe('A delivery that was simulated well and reverted in a block, final or not', () => {
  test('sets its recipient aside: neither the lane nor the admission lets another go, and nothing is signed; others go on', async () => {
    const { broadcast, prepare, signed } = setting()
    expect(await prepare(1)).toMatchObject({ kind: 'ready' })
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    expect(await broadcast(2)).toMatchObject({ kind: 'no-slot', code: 'SET_ASIDE', reason: expect.stringContaining('tried again at 2') })
    expect(signed).toEqual([0])
    const waiting = await prepare(2)
    expect(waiting).toMatchObject({ kind: 'waiting', code: 'SET_ASIDE', retryInMs: expect.any(Number) })
    if (waiting.kind === 'waiting') expect(Math.ceil(waiting.retryInMs / 60_000)).toBe(1)
    expect([await prepare(10), await broadcast(10)]).toMatchObject([{ kind: 'ready' }, { kind: 'included' }])
  })

  test('lets an operator try again at once', async () => {
    const { broadcast, prepare, signed } = setting()
    await broadcast(1)
    const later = Date.now() + 1
    expect([await prepare(1, later), await broadcast(1, later)]).toMatchObject([{ kind: 'ready' }, { kind: 'included' }])
    expect(signed).toEqual([0, 1])
  })

  test.each<[string, Parameters<typeof setting>[0]]>([
    ['another has delivered', { delivered: async (_, at) => at === 'agreed-latest' }],
    ['it did not revert', { status: 'success' }],
    ['no node can say', { delivered: async (_, at) => (at === 'latest' ? false : Promise.reject(new Error('away'))) }],
  ])('does not count where %s', async (_, own) => {
    const { prepare, broadcast } = setting(own)
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
  })

  test('does not count where the gate of the bridge has closed meanwhile', async () => {
    const gate = { isOpen: true }
    const paused = { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'paused' } as const
    const { prepare, broadcast } = setting({
      reserve: async () => (gate.isOpen ? { kind: 'open' } : paused),
      async delivered(_, at) {
        if (at === 'agreed-latest') gate.isOpen = false
        return false
      },
    })
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    gate.isOpen = true
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
  })
})
