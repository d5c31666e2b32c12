import { encodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import { createAuditCursor } from '../../../intake/streams/audit-cursor.ts'
import { createSignedAuditor } from '../../../intake/streams/signed/audit/audit.ts'
import { reopenUndone } from '../../../intake/streams/signed/audit/lost-transfers.ts'
import { createProvedTransfers } from '../../../intake/streams/signed/audit/proved-transfers.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { runningTransfers } from '../../../temporal/client/streams/stream-transfers.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'
import { signVaa } from '../../helpers/vaa.ts'
import { fakeChain, recordingStream } from './fake-context.ts'
import { type ListedRun, listingClient } from './listing-client.ts'

const emitter = `${'00'.repeat(12)}${'33'.repeat(20)}`
const bridge = 'wormhole-token-bridge' as const
const config = { stream: 's', origin: '1/0xaa', first: '1', maxOpen: 9 }
const vaaOf = (number: string) => signVaa({ timestamp: 7, sequence: BigInt(number) }).bytes

function decode(vaa: Uint8Array): Transfer {
  const { sequence } = parseVaa(vaa)
  const digest = `0x${sequence.padStart(16, '0').padEnd(64, '0')}`
  return { bridge, sourceChain: 's', sourceId: '2', targetChain: 't', emitter, sequence, digest, message: encodeBase64(vaa) }
}
const runOf = (number: number, own: Partial<ListedRun> = {}): ListedRun => {
  const transfer = decode(vaaOf(String(number)))
  return { id: transferId(transfer), state: 'parked', input: () => ({ transfer }), ...own }
}

interface Options {
  readonly runs?: readonly ListedRun[]
  readonly has?: (number: number) => boolean
  readonly delivered?: (number: number) => boolean
  readonly verify?: (number: number) => Promise<unknown>
}

function emitterWith(own: Partial<StreamState>, { runs = [], has = () => true, delivered = () => false, verify }: Options) {
  const { client } = listingClient(runs)
  const [fetched, submitted]: [string[], string[]] = [[], []]
  const { streamClient, requests } = recordingStream({ ...initialStream(config), next: '5000', ...own })
  const isDelivered = ({ sequence }: Pick<Transfer, 'sequence'>) => delivered(Number(sequence))
  const options = {
    ...{ client, streamClient, logger: silentLogger(), rangeBlocks: 100, lookBackMs: 0, freshMs: 0, lostAfterMs: 0, chain: fakeChain(9) },
    source: {
      ...{ kind: 'signed', bridge, sourceChain: 's', emitterChain: 2, emitter, config, begins: {} },
      ...{ highest: async () => '4999', published: async () => [], delivered: async (all: readonly Transfer[]) => all.map(isDelivered) },
    },
    bridge: {
      ...{ name: bridge, decode },
      endpoints: onEveryChain({
        verify: (vaa: Uint8Array) => verify?.(Number(parseVaa(vaa).sequence)) ?? Promise.resolve({ kind: 'valid' }),
      }),
    },
    submitter: {
      async submit(_: string, message: Uint8Array) {
        submitted.push(parseVaa(message).sequence)
        return { id: transferId(decode(message)), status: 'started' as const }
      },
    },
    lookup: {
      find: async ({ sequence }: { sequence: string }, from = 0) => {
        fetched.push(sequence)
        return from === 0 && has(Number(sequence)) ? { kind: 'found' as const, vaa: vaaOf(sequence), api: 0 } : { kind: 'absent' as const }
      },
      held: async () => false,
    },
  } as unknown as Parameters<typeof createSignedAuditor>[0]
  return { options, client, auditor: createSignedAuditor(options, 60_000), fetched, submitted, requests }
}
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('the audits of an emitter', () => {
  test('a lost number is started within size / 360 audits, although no server has many lower ones', async () => {
    const outside = [
      { code: 'GAS_LIMIT', packed: '1x699' },
      { code: 'DELIVERY_IMPOSSIBLE', packed: '1001x299' },
    ]
    const { auditor, submitted, fetched } = emitterWith({ outside }, { has: (number) => number === 1_300 })
    for (let count = 0; count < 3; count++) await auditor.audit()
    expect(submitted).toContain('1300')
    expect(new Set(fetched).size).toBe(1_000)
    expect(fetched).toHaveLength(3 * 360)
  })

  test('lost open numbers do not wait for those outside the window, and each gets its turn', async () => {
    const open = numbers(2_001, 2_300).map((number) => ({ number: String(number) }))
    const { auditor, submitted } = emitterWith({ open, outside: [{ code: 'GAS_LIMIT', packed: '1x1999' }] }, {})
    for (let count = 0; count < 2; count++) await auditor.audit()
    expect(new Set(submitted.filter((number) => Number(number) > 2_000)).size).toBe(300)
    expect(submitted).toHaveLength(2 * 360)
  })

  test('every number that awaits new signatures is fetched within size / 360 audits, whatever its code', async () => {
    const outside = [
      { code: 'GUARDIAN_SET_EXPIRED', packed: '1x699' },
      { code: 'GUARDIAN_SET_EXPIRED', waits: true as const, packed: '2000x9' },
    ]
    const runs = [...numbers(1, 700), ...numbers(2_000, 2_009)].map((number) => runOf(number))
    const { auditor, fetched } = emitterWith({ outside }, { runs })
    for (let count = 0; count < 2; count++) await auditor.audit()
    expect(new Set(fetched).size).toBe(710)
  })

  const condensed = [{ code: 'GAS_LIMIT', condensed: true as const, packed: '1x4' }]
  const ended = [runOf(3, { terminated: true }), runOf(4), runOf(5, { ended: true, state: 'cancelled', result: { state: 'cancelled' } })]

  test('a condensed interval: delivered numbers end, and those that are undone or have no run start', async () => {
    const { auditor, submitted, requests } = emitterWith({ outside: condensed }, { runs: ended, delivered: (number) => number === 2 })
    await auditor.audit()
    expect(submitted.toSorted()).toEqual(['1', '3', '5'])
    expect(requests).toContainEqual(expect.objectContaining({ kind: 'seen', delivered: [['2', '2']] }))
  })

  test('a number of a condensed interval without a run stays if the stream has forgotten who was cancelled', async () => {
    const counts = { ...initialStream(config).counts, cancelled: 1 }
    const { auditor, submitted } = emitterWith({ outside: condensed, counts }, { runs: ended })
    await auditor.audit()
    expect(submitted.toSorted()).toEqual(['3', '5'])
  })

  test('every number in the middle of a wide gap gets its turn, although its ends stay open', async () => {
    const gaps = [{ from: '1', to: '14001', state: 'unasked' as const, at: 1 }]
    const { auditor, submitted, fetched } = emitterWith({ gaps, next: '14002' }, { has: (number) => number === 7_000 })
    for (let count = 0; count < 20; count++) await auditor.audit()
    expect(submitted).toContain('7000')
    expect(new Set(fetched).size).toBe(14_001)
  })

  test('a resolved number that runs again is reopened, although many others run again too', async () => {
    const { options, requests } = emitterWith(
      {},
      { runs: numbers(1, 39).map((number) => runOf(number)), delivered: (number) => number !== 39 },
    )
    const state = await options.streamClient.state()
    const cursor = createAuditCursor()
    if (!state) throw new Error('there is no stream')
    for (let count = 0; count < 2; count++) await reopenUndone({ ...options, proved: createProvedTransfers(options) }, state, cursor)
    expect(requests).toContainEqual({ kind: 'undone', numbers: [['39', '39']] })
  })

  test('a run is proved, although very many others cannot be read now', async () => {
    const runs = numbers(1, 1_100).map((number) => runOf(number))
    const down = () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
    const verify = (number: number) => (number === 1_100 ? Promise.resolve({ kind: 'valid' }) : down())
    const { options, client } = emitterWith({}, { runs, verify })
    const proved = createProvedTransfers(options)
    const listed = await runningTransfers(client, options.source)
    const found: string[] = []
    for (let count = 0; count < 20 && found.length === 0; count++) found.push(...(await proved.own(listed)).map(({ number }) => number))
    expect(new Set(found)).toEqual(new Set(['1100']))
  })
})
