import { encodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../bridges/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import type { TransferState } from '../../../domain/transfer/transfer.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createSignedAuditor } from '../../../intake/streams/signed/audit/audit.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { signVaa } from '../../helpers/vaa.ts'
import { fakeChain, recordingStream } from './fake-context.ts'
import { listingClient } from './listing-client.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'

const emitter = `${'00'.repeat(12)}${'33'.repeat(20)}`
const bridge = 'wormhole-token-bridge'
/** Timestamp of the messages that guardians have signed. */
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
  readonly timestamp: number
  /** State in which the run ended. Undefined while the run is open. */
  readonly ended?: TransferState
  /** Workflow id. Default: the id that follows from the run's message. */
  readonly id?: string
  /** Input of the workflow. Default: the transfer of the run's message. */
  readonly input?: unknown
  readonly result?: unknown
}

const idOf = ({ number, timestamp, id = transferId(decode(vaaOf(number, timestamp))) }: Run) => id

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

/** Audits an emitter whose number 1 is missing, open or resolved (`how`). The servers have the signed messages. */
async function auditWith(runs: readonly Run[], how: 'gap' | 'open' | 'resolved', { delivered = false, rounds = 1 } = {}) {
  const { client, read } = clientWith(runs)
  const [fetched, submitted]: [string[], string[]] = [[], []]
  const config = { stream: 's', origin: '1/0xaa', first: '1', maxOpen: 9 }
  const state: StreamState = {
    ...initialStream(config),
    next: '2',
    ...(how === 'gap' && { gaps: [{ from: '1', to: '1', state: 'unobserved' as const, at: 1 }] }),
    ...(how === 'open' && { open: [{ number: '1' }] }),
  }
  const { streamClient, requests } = recordingStream(state)
  const options = {
    ...{ client, streamClient, logger: silentLogger(), rangeBlocks: 100, lookBackMs: 0, freshMs: 0, lostAfterMs: 0, chain: fakeChain(9) },
    source: {
      ...{ kind: 'signed', bridge, sourceChain: 's', emitterChain: 2, emitter, config, begins: {} },
      ...{ highest: async () => '1', published: async () => [], delivered: async (all: readonly unknown[]) => all.map(() => delivered) },
    },
    bridge: {
      ...{ name: bridge, decode },
      endpoints: onEveryChain({ verify: async (vaa: Uint8Array) => verdicts[parseVaa(vaa).timestamp] ?? forged }),
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
  test("a stranger's run does not prevent the fetch of a missing message", async () => {
    const { fetched, submitted } = await auditWith([run], 'gap')
    expect([fetched, submitted]).toEqual([['1'], ['1']])
  })

  test("a stranger's run does not hide that a transfer is lost", async () => {
    expect((await auditWith([run], 'open')).submitted).toEqual(['1'])
  })

  test.each(['rejected', 'cancelled', 'delivered'] as const)(
    "a stranger's run does not close its number by ending as %s",
    async (ended) => {
      const { recorded, submitted } = await auditWith([{ ...run, ended }], 'open')
      expect([recorded, submitted]).toEqual([[{ kind: 'seen', numbers: [['1']] }], ['1']])
    },
  )

  test("a stranger's run does not reopen a resolved number", async () => {
    expect((await auditWith([run], 'resolved')).recorded).toEqual([])
  })
})

describe('a run of the message that the guardians signed', () => {
  test('a signed run is recorded, and its message is read once and not fetched', async () => {
    const { recorded, fetched, submitted, read } = await auditWith([own], 'gap', { rounds: 2 })
    const seen = { kind: 'seen', numbers: [['1']] }
    expect({ recorded, fetched, submitted, read }).toEqual({ recorded: [seen, seen], fetched: [], submitted: [], read: [idOf(own)] })
  })

  test("a signed run is found among any count of strangers' runs", async () => {
    expect((await auditWith([...strangers.map(([, run]) => run), own], 'open')).submitted).toEqual([])
  })

  test.each([signed, 8])('a signed run closes its number by ending undelivered, also after new guardians (%i)', async (timestamp) => {
    const { recorded } = await auditWith([{ number: '1', timestamp, ended: 'cancelled' }], 'open')
    expect(recorded[0]).toEqual({ kind: 'closed', number: '1', outcome: 'cancelled', reason: 'as he likes', by: 'unnamed' })
  })

  test('a signed run is recorded as delivered only if the target shows it', async () => {
    const ended = { ...own, ended: 'delivered' as const }
    const delivered = { kind: 'seen', numbers: [['1']], delivered: [['1', '1']] }
    expect((await auditWith([ended], 'open')).recorded).not.toContainEqual(delivered)
    expect((await auditWith([ended], 'open', { delivered: true })).recorded).toContainEqual(delivered)
  })

  test.each([undefined, null, 5, { state: 'rejected', reason: 5 }])('a run with the result %j does not stop the report', async (result) => {
    const { recorded } = await auditWith([{ ...own, ended: 'rejected', result }], 'open')
    // If the reason is not a text, the state is recorded instead.
    expect(recorded.filter(({ kind }) => kind === 'closed')).toEqual(
      result instanceof Object ? [{ kind: 'closed', number: '1', outcome: 'rejected', reason: 'rejected' }] : [],
    )
  })

  test('a signed run reopens a resolved number that the target does not show', async () => {
    const undone = { kind: 'undone', numbers: [['1', '1']] }
    expect((await auditWith([own], 'resolved')).recorded).toContainEqual(undone)
    expect((await auditWith([own], 'resolved', { delivered: true })).recorded).toEqual([])
  })
})
