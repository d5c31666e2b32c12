import { describe, expect, test } from 'vitest'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createGapFiller } from '../../../intake/streams/signed/gaps/fill-gaps.ts'
import { createProvedTransfers } from '../../../intake/streams/signed/audit/proved-transfers.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { unused } from '../../helpers/unused.ts'
import { fakeChain } from './fake-context.ts'
import { type ListedRun, listingClient } from './listing-client.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'

const emitter = '33'.padStart(64, '0')
const of = { bridge: 'wormhole-token-bridge' as const, sourceChain: 's', emitter }

/** The transfer of a number. Only variant 0 is the message that the guardians have signed. */
function transferOf(number: number, variant = 0): Transfer {
  const digest = `0x${String(variant).padStart(16, '0')}${String(number).padStart(48, '0')}`
  const message = Buffer.from(`${number}/${variant}`).toString('base64')
  return { ...of, sourceId: '2', targetChain: 't', sequence: String(number), digest, message }
}
function decode(message: Uint8Array): Transfer {
  const [number = 0, variant] = Buffer.from(message).toString().split('/').map(Number)
  return transferOf(number, variant)
}
const runOf = (number: number, variant = 0): ListedRun => {
  const transfer = transferOf(number, variant)
  return { id: transferId(transfer), state: 'admitting', input: () => ({ transfer }) }
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** A gap of the numbers 1 to `upTo`. No server has their messages. */
function gapsWith(upTo: number, runs: readonly ListedRun[], isReceived?: (number: string) => boolean) {
  const { client, read, lists } = listingClient(runs)
  const [fetched, recorded]: [string[], string[]] = [[], []]
  const gap = { from: '1', to: String(upTo), state: 'unobserved' as const, at: 0 }
  const state: StreamState = {
    ...initialStream({ stream: 's', origin: '1/0xaa', first: '1', maxOpen: 360 }),
    ...{ next: String(upTo + 1), gaps: [gap] },
  }
  const source = { ...of, kind: 'signed', emitterChain: 2, config: state.config, delivered: async () => [], published: async () => [] }
  const bridge = {
    ...{ name: of.bridge, decode },
    endpoints: onEveryChain({
      verify: async (vaa: Uint8Array) =>
        decode(vaa).digest === transferOf(Number(decode(vaa).sequence)).digest
          ? { kind: 'valid' }
          : { kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: '' },
    }),
  }
  const deps = {
    ...{ source, bridge, client, chain: fakeChain(9), logger: silentLogger(), rangeBlocks: 100, lookBackMs: 0, freshMs: 0, isReceived },
    streamClient: {
      view: undefined,
      state: async () => state,
      apply: async (some: readonly StreamRequest[]) => {
        for (const one of some) if (one.kind === 'seen') recorded.push(...one.numbers.map(([number]) => number))
        return { answers: some.map(() => ({ kind: 'done' as const })), view: viewStream(state) }
      },
    },
    submitter: { submit: unused('submit') },
    lookup: {
      find: async ({ sequence }: { sequence: string }) => (fetched.push(sequence), { kind: 'absent' as const, againInMs: 60_000 }),
      held: async () => false,
    },
  } as unknown as Parameters<typeof createGapFiller>[0]
  const gaps = createGapFiller({ ...deps, proved: createProvedTransfers(deps) }, 60_000)
  return { look: () => gaps.fillGaps(state, String(upTo)), fetched, recorded, read, lists }
}

describe('missing numbers whose transfers run', () => {
  test('missing numbers with running transfers are recorded, not fetched, and read once', async () => {
    const numbers = range(1, 1_500)
    // The visibility store lists the newest run first.
    const { look, fetched, recorded, read, lists } = gapsWith(
      1_500,
      numbers.toReversed().map((number) => runOf(number)),
    )
    await look()
    expect(fetched).toEqual([])
    expect(recorded).toEqual(numbers.map(String))
    expect(read).toHaveLength(1_500)
    expect(lists.count).toBe(1)
  })

  test("running transfers are found among strangers' runs, whose messages are fetched", async () => {
    const strangers = range(1, 1_200).map((variant) => runOf(1, variant))
    const { look, fetched, recorded, read } = gapsWith(40, [...strangers, ...range(2, 39).map((number) => runOf(number))])
    await look()
    expect(fetched).toEqual(['1', '40'])
    expect(recorded).toEqual(range(2, 39).map(String))
    // The search reads only a few of the strangers' runs.
    expect(read.length - 38).toBeLessThan(10)
  })

  test('numbers received from the spy are left to the recorder, and checked later', async () => {
    const { look, fetched, recorded, read } = gapsWith(
      10,
      range(1, 4).map((number) => runOf(number)),
      (number) => Number(number) > 2,
    )
    const before = performance.now()
    const { nextAt } = await look()
    expect([fetched, recorded, read.length]).toEqual([[], ['1', '2'], 2])
    expect(nextAt).toBeGreaterThan(before)
    expect(Number.isFinite(nextAt)).toBe(true)
  })
})
