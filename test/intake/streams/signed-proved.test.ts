import { encodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../bridges/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import type { TransferState } from '../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createSignedAuditor } from '../../../intake/streams/signed/audit/audit.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { signVaa } from '../../helpers/vaa.ts'
import { fakeChain } from './fake-context.ts'
import { listingClient } from './listing-client.ts'

const emitter = `${'00'.repeat(12)}${'33'.repeat(20)}`
const bridge = 'wormhole-token-bridge'
/**
 * What the guardians signed says so by its time here; 8 was signed by a set that has expired, and 9 by one that nobody
 * knows.
 */
const signed = 7
const verdicts: Readonly<Record<number, Verdict>> = {
  [signed]: { kind: 'valid' },
  8: { kind: 'rejected', code: 'GUARDIAN_SET_EXPIRED', reason: '', awaitNewSignatures: true },
  9: { kind: 'wait', code: 'GUARDIAN_SET_UNKNOWN', reason: '', unverified: true },
}
const forged: Verdict = { kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: '' }

const vaaOf = (number: string, timestamp: number) => signVaa({ timestamp, sequence: BigInt(number) }).bytes

function decode(vaa: Uint8Array) {
  const { timestamp, sequence } = parseVaa(vaa)
  const digest = `0x${String(timestamp).padEnd(64, '0')}`
  return { bridge, sourceChain: 's', sourceId: '2', targetChain: 't', emitter, sequence, digest, message: encodeBase64(vaa) }
}

interface Run {
  readonly number: string
  /** Of the message in its input. */
  readonly timestamp: number
  /** Absent: it runs. */
  readonly ended?: TransferState
  /** Absent: that of its message. */
  readonly id?: string
  /** Absent: a transfer of its message. */
  readonly input?: unknown
  readonly result?: unknown
}

const idOf = ({ number, timestamp, id = transferId(decode(vaaOf(number, timestamp))) }: Run) => id

/** A client whose server has these runs, and counts the inputs that it is asked for; it connects to none. */
function clientWith(runs: readonly Run[]) {
  return listingClient(
    runs.map((run) => ({
      id: idOf(run),
      state: run.ended ?? 'admitting',
      ended: run.ended !== undefined,
      input: () => ('input' in run ? run.input : { transfer: decode(vaaOf(run.number, run.timestamp)) }),
      result: 'result' in run ? run.result : { state: run.ended, reason: 'as he likes' },
    })),
  )
}

/**
 * An emitter of which 1 is missing or open, or resolved, while these runs are in Temporal. Its servers have what the
 * guardians signed.
 */
async function auditWith(runs: readonly Run[], how: 'gap' | 'open' | 'resolved', { delivered = false, rounds = 1 } = {}) {
  const { client, read } = clientWith(runs)
  const [requests, fetched, submitted]: [StreamRequest[], string[], string[]] = [[], [], []]
  const config = { stream: 's', origin: '1/0xaa', first: '1', maxOpen: 9 }
  const state: StreamState = {
    ...initialStream(config),
    next: '2',
    ...(how === 'gap' && { gaps: [{ from: '1', to: '1', state: 'unobserved' as const, at: 1 }] }),
    ...(how === 'open' && { open: [{ number: '1' }] }),
  }
  const options = {
    ...{ client, logger: silentLogger(), rangeBlocks: 100, lookBackMs: 0, freshMs: 0, lostAfterMs: 0, chain: fakeChain(9) },
    source: {
      ...{ kind: 'signed', bridge, sourceChain: 's', emitterChain: 2, emitter, config, begins: {} },
      ...{ highest: async () => '1', published: async () => [], delivered: async (all: readonly unknown[]) => all.map(() => delivered) },
    },
    bridge: {
      ...{ name: bridge, decode },
      endpoint: () => ({ verify: async (vaa: Uint8Array) => verdicts[parseVaa(vaa).timestamp] ?? forged }),
    },
    streamClient: {
      view: undefined,
      state: async () => state,
      apply: async (some: readonly StreamRequest[]) => {
        requests.push(...some)
        return { answers: some.map(() => ({ kind: 'done' as const })), view: viewStream(state) }
      },
    },
    submitter: {
      async submit(_: string, message: Uint8Array) {
        if (parseVaa(message).timestamp !== signed) throw new RelayerError('VAA_NO_QUORUM')
        submitted.push(parseVaa(message).sequence)
        return { id: transferId(decode(message)), status: 'started' as const }
      },
    },
    lookup: {
      find: async ({ sequence }: { sequence: string }) => {
        fetched.push(sequence)
        return { kind: 'found' as const, vaa: vaaOf(sequence, signed), api: 0 }
      },
      held: async () => false,
    },
  } as unknown as Parameters<typeof createSignedAuditor>[0]
  const auditor = createSignedAuditor(options, 60_000)
  for (let round = 0; round < rounds; round++) await auditor.audit()
  const recorded = requests.filter(({ kind }) => kind !== 'audited')
  return { recorded, fetched, submitted, read }
}

const own: Run = { number: '1', timestamp: signed }
const strangers: readonly (readonly [string, Run])[] = [
  ['a message that the guardians did not sign', { number: '1', timestamp: 6 }],
  ['a message of a guardian set that nobody knows', { number: '1', timestamp: 9 }],
  ['the signed message of another number', { number: '1', timestamp: signed, input: { transfer: decode(vaaOf('5', signed)) } }],
  ['the signed message under another digest', { ...own, id: `${bridge}:2:${emitter}:1:${'ab'.repeat(8)}` }],
  [
    'the signed message as that of another chain',
    { ...own, id: `${bridge}:3:${emitter}:1:${decode(vaaOf('1', signed)).digest.slice(2, 18)}` },
  ],
  ['no message', { number: '1', timestamp: 6, input: { transfer: { message: 5 } } }],
  ['nothing', { number: '1', timestamp: 6, input: null }],
]

describe.each(strangers)('a stranger’s run under a number, with %s,', (_, run) => {
  test('does not keep what is missing from being fetched and submitted', async () => {
    const { fetched, submitted } = await auditWith([run], 'gap')
    expect([fetched, submitted]).toEqual([['1'], ['1']])
  })

  test('does not make an open number’s transfer run: it is found lost, and started again', async () => {
    expect((await auditWith([run], 'open')).submitted).toEqual(['1'])
  })

  test.each(['rejected', 'cancelled', 'delivered'] as const)('does not close its number by ending as %s', async (ended) => {
    const { recorded, submitted } = await auditWith([{ ...run, ended }], 'open')
    expect([recorded, submitted]).toEqual([[{ kind: 'seen', numbers: [['1']] }], ['1']])
  })

  test('does not make a resolved number open again', async () => {
    expect((await auditWith([run], 'resolved')).recorded).toEqual([])
  })
})

describe('a run of the message that the guardians signed', () => {
  test('is recorded, and its message is neither fetched nor submitted, nor read twice', async () => {
    const { recorded, fetched, submitted, read } = await auditWith([own], 'gap', { rounds: 2 })
    const seen = { kind: 'seen', numbers: [['1']] }
    expect({ recorded, fetched, submitted, read }).toEqual({ recorded: [seen, seen], fetched: [], submitted: [], read: [idOf(own)] })
  })

  test('runs, beside however many of strangers', async () => {
    expect((await auditWith([...strangers.map(([, run]) => run), own], 'open')).submitted).toEqual([])
  })

  test.each([signed, 8])('closes its number by ending undelivered, also if its guardians were replaced since (%i)', async (timestamp) => {
    const { recorded } = await auditWith([{ number: '1', timestamp, ended: 'cancelled' }], 'open')
    expect(recorded[0]).toEqual({ kind: 'closed', number: '1', outcome: 'cancelled', reason: 'as he likes', by: 'unnamed' })
  })

  test('is recorded as delivered only when the target shows it, whatever Temporal says', async () => {
    const ended = { ...own, ended: 'delivered' as const }
    const delivered = { kind: 'seen', numbers: [['1']], delivered: [['1', '1']] }
    expect((await auditWith([ended], 'open')).recorded).not.toContainEqual(delivered)
    expect((await auditWith([ended], 'open', { delivered: true })).recorded).toContainEqual(delivered)
  })

  test.each([undefined, null, 5, { state: 'rejected', reason: 5 }])('stops no look by a result of %j', async (result) => {
    const { recorded } = await auditWith([{ ...own, ended: 'rejected', result }], 'open')
    // It may say what it likes of its own outcome: a reason that is no text is left out.
    expect(recorded.filter(({ kind }) => kind === 'closed')).toEqual(
      result instanceof Object ? [{ kind: 'closed', number: '1', outcome: 'rejected', reason: 'rejected' }] : [],
    )
  })

  test('makes a resolved number open again, if the target does not show it', async () => {
    const undone = { kind: 'undone', numbers: [['1', '1']] }
    expect((await auditWith([own], 'resolved')).recorded).toContainEqual(undone)
    expect((await auditWith([own], 'resolved', { delivered: true })).recorded).toEqual([])
  })
})
