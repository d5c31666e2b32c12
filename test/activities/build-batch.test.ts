import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { scriptedChain } from './scripted-chain.ts'
import { type BatchCandidate, createBatchBuilder } from '../../activities/batch/build-batch.ts'
import type { At } from '../../chains/port.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { Losses } from '../../activities/checks/losses.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { laneId } from '../../domain/lane/lane.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)

function candidate(sequence: number, maybeSent = false, trustedMs = 12_000): BatchCandidate {
  const transfer = nativeTransfer(sequence)
  return {
    intentId: `transfer-${sequence}/1`,
    transfer,
    parties: { ...fakeParties, recipient: `0x${sequence}`, token: '' },
    priority: 3,
    source: 'source',
    maybeSent,
    trustedMs,
    intent: { to: '0x', data: '0x', value: '0' },
    first: { kind: 'call', gasLimit: '1', maxFee: '1', tip: '1' },
  }
}

function setting(
  delivered: (number: number, at: At) => boolean,
  options: {
    nodes?: number
    settings?: typeof noSettings
    losses?: Losses
    onGrant?: (head: { hash: string }) => void
    refused?: RelayerError
  } = {},
) {
  const { nodes = 3, settings = noSettings, onGrant } = options
  const left: number[] = []
  const head = { hash: '0xaa' }
  const signed: string[][] = []
  const endpoint = fakeEndpoint({
    delivered: async ({ sequence }, at) => delivered(Number(sequence), at),
    release: ({ sequence }) => void left.push(Number(sequence)),
    explainRevert: () => ({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason: 'a test' }),
  })
  const bridges = bridgesWith(endpoint)
  const checkSigning = () => (options.refused ? Promise.reject(options.refused) : Promise.resolve())
  const batches: Pick<BatchTracker, 'send'> = {
    async send({ members }, { unfit }) {
      onGrant?.(head)
      const out = await unfit()
      if (out.length > 0) return { kind: 'unfit', members: out }
      signed.push([...members])
      return { kind: 'underway', batch: { id: 'batch', members } as Batch }
    },
  }
  const deps: Parameters<typeof createBatchBuilder>[0] = {
    agent: { lane, batchCounts: { split: 0 }, checkSigning } as unknown as LaneAgent,
    endpoint,
    shared: { fitting: (all) => all, intent: async () => ({ to: '0x', data: '0x12345678', value: '0' }) },
    batches: batches as BatchTracker,
    chain: scriptedChain(() => head.hash, nodes),
    fees: () => ({}),
    settings: () => settings,
    ...(options.losses && { losses: options.losses }),
    bridges,
  }
  return { flush: createBatchBuilder(deps), left, signed }
}

describe('The candidates of a batch', () => {
  const candidates = [1, 2, 3].map((number) => candidate(number))
  const all = candidates.map(({ intentId }) => intentId)

  test('a batch that the signer refuses is tried in halves, and at last each transfer alone', async () => {
    const refused = new RelayerError('SIGNING_REFUSED', { facts: { limit: 'maxGasPerTransaction' } })
    const { flush, signed } = setting(() => false, { refused })
    expect(await flush(candidates, false)).toMatchObject({ together: false })
    const alone = await flush(candidates.slice(0, 1), true)
    expect([...alone.answers.values()]).toEqual([{ kind: 'alone' }])
    expect(signed).toEqual([])
    const away = setting(() => false, { refused: new RelayerError('NODE_UNAVAILABLE') })
    await expect(away.flush(candidates, false)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test.each([
    [true, '0xbb', []],
    [true, '0xaa', [[...all]]],
    [false, '0xbb', [[...all]]],
  ])('a batch is read again if a member may have been sent (%s) and the block changed (0xaa, then %s)', async (maybeSent, hash, calls) => {
    let granted = false
    const onGrant = (head: { hash: string }) => {
      granted = true
      head.hash = hash
    }
    const { flush, signed } = setting((number) => granted && number === 2, { nodes: 1, onGrant })
    const { answers } = await flush(
      [1, 2, 3].map((number) => candidate(number, maybeSent)),
      false,
    )
    expect(signed).toEqual(calls)
    expect([...answers.values()].map(({ kind }) => kind)).toEqual(calls.length > 0 ? ['member', 'member', 'member'] : ['seen'])
  })

  test('a batch is read again if the last read is older than a member trusts', async () => {
    let granted = false
    const { flush, signed } = setting((number) => granted && number === 2, { nodes: 1, onGrant: () => void (granted = true) })
    const { answers } = await flush([candidate(1), candidate(2), candidate(3, false, -1)], false)
    expect([signed, [...answers.values()].map(({ kind }) => kind)]).toEqual([[], ['seen']])
  })

  test('a batch is read again if its last read is old, although the clock was set back', async () => {
    let granted = false
    const onGrant = () => {
      granted = true
      const [passed, wall] = [performance.now() + 12_001, Date.now() - 86_400_000]
      vi.spyOn(performance, 'now').mockReturnValue(passed)
      vi.spyOn(Date, 'now').mockReturnValue(wall)
    }
    onTestFinished(() => void vi.restoreAllMocks())
    const { flush, signed } = setting((number) => granted && number === 2, { nodes: 1, onGrant })
    await flush(candidates, false)
    expect(signed).toEqual([])
  })

  test('a batch includes a transfer that only one of several nodes shows as delivered', async () => {
    const { flush, signed } = setting((number, at) => number === 2 && at === 'latest')
    const { answers } = await flush(candidates, false)
    expect(signed).toEqual([all])
    expect([...answers.values()].map(({ kind }) => kind)).toEqual(['member', 'member', 'member'])
  })

  test('a batch leaves out a transfer that most nodes, or the only one, show as delivered', async () => {
    for (const nodes of [1, 3]) {
      const { flush, signed, left } = setting((number) => number === 2, { nodes })
      const { answers } = await flush(candidates, false)
      expect([signed, left]).toEqual([[[all[0], all[2]]], [2]])
      expect(answers.get(candidates[1]!)).toEqual({ kind: 'seen' })
    }
  })

  test('a permanent error of one transfer does not affect the rest of its batch', async () => {
    const { flush, signed } = setting((number) => {
      if (number === 2) throw new RelayerError('NATIVE_NONCE_MISMATCH')
      return false
    })
    const { answers } = await flush(candidates, false)
    expect(signed).toEqual([[all[0], all[2]]])
    expect(answers.get(candidates[1]!)).toMatchObject({ kind: 'no-slot', code: 'NATIVE_NONCE_MISMATCH' })
  })

  test('a whole batch waits for a node that does not answer', async () => {
    const { flush } = setting(() => {
      throw new RelayerError('NODE_UNAVAILABLE')
    })
    await expect(flush(candidates, false)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test('halted candidates of a batch release their reservations', async () => {
    const halts = [{ scope: { bridge: 'native-bridge' }, by: 'an operator', reason: 'a test', at: 0 }]
    const { flush, left, signed } = setting(() => false, { settings: { ...noSettings, halts } })
    const { answers } = await flush(candidates, false)
    expect([...answers.values()].map((each) => each.kind === 'no-slot' && each.code)).toEqual(['HALTED', 'HALTED', 'HALTED'])
    expect([left, signed]).toEqual([[1, 2, 3], []])
  })

  test('a batch leaves out a transfer whose recipient was denied after its admission', async () => {
    const denied = [{ kind: 'recipient' as const, value: '0x2', by: 'an operator', reason: 'a test', at: 0 }]
    const { flush, left, signed } = setting(() => false, { settings: { ...noSettings, denied } })
    const { answers } = await flush(candidates, false)
    expect(answers.get(candidates[1]!)).toMatchObject({ kind: 'no-slot', code: 'RECIPIENT_DENIED' })
    expect([signed, left]).toEqual([[[all[0], all[2]]], [2]])
  })

  test.each([
    ['after its losses', 1_000, [[all[0], all[1], all[2]]], 'member'],
    ['before its losses', -1_000, [[all[0], all[2]]], 'no-slot'],
  ])('a batch and a quarantined recipient whose retry was ordered %s', async (_, after, calls, kind) => {
    const losses = new Losses(60_000, 10_000n)
    losses.add({ ...fakeParties, recipient: '0x2', token: '' }, { txHash: '0xff', paid: 1n, now: performance.now() })
    const { flush, signed } = setting(() => false, { losses })
    const [first, second, third] = candidates
    const retried: BatchCandidate = { ...second!, retriedAt: Date.now() + after }
    const { answers } = await flush([first!, retried, third!], false)
    expect(signed).toEqual(calls)
    expect(answers.get(retried)).toMatchObject({ kind, ...(kind === 'no-slot' && { code: 'QUARANTINED' }) })
  })
})
