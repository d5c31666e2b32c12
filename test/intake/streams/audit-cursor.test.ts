import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { joinIntervals, singles } from '../../../domain/stream/intervals.ts'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { OutsideNumbers, StreamState } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { createAuditCursor } from '../../../intake/streams/audit-cursor.ts'
import { auditCompleted, auditOpen, auditStream } from '../../../intake/streams/scanned/audit.ts'
import { createScannedContext, type ScannedContext } from '../../../intake/streams/scanned/context.ts'
import { createGapFiller } from '../../../intake/streams/scanned/fill-gaps.ts'
import { silentLogger } from '../../../observability/logger.ts'
import type { ListedTransfer } from '../../../temporal/client/streams/stream-transfers.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { nativeTransfer } from '../../helpers/native-transfer.ts'
import { unused } from '../../helpers/unused.ts'
import { fakeChain, fakeSource, fakeStream } from './fake-context.ts'
import { listingClient } from './listing-client.ts'

describe('the cursor of an audit', () => {
  const lengths = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 12 })

  test('every number is taken within size / most calls, wherever the cursor begins', () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 50 }), (apart, most) => {
        let end = 0
        const intervals = joinIntervals(apart.map(([gap, length]) => [BigInt(end + gap), BigInt((end += gap + length) - 1)]))
        const numbers = intervals.flatMap(([from, to]) =>
          Array.from({ length: Number(to - from + 1n) }, (_, at) => String(from + BigInt(at))),
        )
        const cursor = createAuditCursor()
        const taken = new Set<string>()
        for (let call = 0; call < Math.ceil(numbers.length / most); call++)
          for (const number of cursor.take(intervals, most)) taken.add(number)
        expect(taken).toEqual(new Set(numbers))
      }),
    )
  })

  test('the cursors of several processes begin at different numbers', () => {
    const firsts = Array.from({ length: 20 }, () => createAuditCursor().take([[1n, 10n ** 12n]], 1)[0])
    expect(new Set(firsts).size).toBeGreaterThan(15)
    const cursor = createAuditCursor()
    expect([cursor.take([], 5), cursor.take(singles(['7']), 5)]).toEqual([[], ['7']])
  })
})

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }

/** An audit of a stream whose transfers are not in Temporal. `table`: numbers in the source's table. */
function scanned(own: Partial<StreamState>, { table, delivered = [] }: { table: readonly number[]; delivered?: readonly number[] }) {
  const { streamClient, requests } = fakeStream(config)
  streamClient.now = { ...initialStream(config), next: '5000', target: 0, ...own }
  const submitted: string[] = []
  const read: string[] = []
  const isDelivered = ({ sequence }: Pick<Transfer, 'sequence'>) => delivered.includes(Number(sequence))
  const source = fakeSource(config, {
    highest: async () => '4999',
    recorded: async (numbers) => {
      read.push(...numbers)
      return numbers.map((number) =>
        table.includes(Number(number)) ? nativeTransfer(Number(number), { message: btoa(number) }) : undefined,
      )
    },
    delivered: async (all) => all.map(isDelivered),
  })
  const { client } = listingClient([])
  const submitter = {
    submit: async (_: string, message: Uint8Array) => {
      submitted.push(Buffer.from(message).toString())
      return { id: 'it', status: 'started' as const }
    },
  }
  const endpoint = { delivered: async (transfer: Transfer) => isDelivered(transfer) }
  const targets = new Map(['b', 'bsc'].map((name) => [name, { chain: fakeChain(20), endpoint }] as const))
  const given = { source, client, submitter, decode: unused('decode'), haltRoute: unused('haltRoute'), logger: silentLogger() }
  const deps = { ...given, sourceChain: fakeChain(20), targets, rangeBlocks: 10, lookBackMs: 0 }
  const alone = { streamClient, alarms: new Set<never>(), stopping: new AbortController().signal }
  const context: ScannedContext = createScannedContext(deps, alone)
  return { context, streamClient, requests, submitted, read }
}
const noAudit = () => ({ gaps: 0, completed: 0, started: 0, closed: 0, undone: 0 })
const parked = (...packed: readonly string[]): readonly OutsideNumbers[] =>
  packed.map((one, index) => ({ code: `CODE_${'X'.repeat(index)}`, packed: one }))
const runOf = (number: number, id = `native-bridge:stranger:${number}`): ListedTransfer => ({
  ...{ number: String(number), id, runId: `r${number}`, state: 'waiting' as const, running: true },
})

describe('the audits of a native bridge', () => {
  test('a lost number is started within size / 500 audits, although lower ones stay parked', async () => {
    // Of all parked numbers, the source's table has only the last one.
    const { context, submitted } = scanned({ outside: parked('1x999', '2001x499') }, { table: [2_500] })
    for (let count = 0; count < 3; count++) await auditOpen(context, [], noAudit())
    expect(submitted).toEqual(expect.arrayContaining(['2500']))
  })

  test.each([
    ['starts if every cancelled number is still listed', 0, ['7']],
    ['stays if the stream has forgotten who was cancelled', 1, []],
  ])('a number of a condensed interval without a run %s', async (_, cancelled, started) => {
    const outside = [{ code: 'GAS_LIMIT', condensed: true as const, packed: '7' }]
    const { context, submitted } = scanned({ outside, counts: { ...initialStream(config).counts, cancelled } }, { table: [7] })
    await auditOpen(context, [], noAudit())
    expect(submitted).toEqual(started)
  })

  test("a stranger's run under a parked number does not hide that its transfer is lost", async () => {
    const { context, submitted } = scanned({ outside: parked('7') }, { table: [7] })
    await auditOpen(context, [runOf(7)], noAudit())
    expect(submitted).toEqual(['7'])
  })

  test('a parked transfer that runs is read once, and not started', async () => {
    const { context, submitted, read } = scanned({ outside: parked('7') }, { table: [7] })
    const runs = [runOf(7, transferId(nativeTransfer(7)))]
    for (let count = 0; count < 3; count++) await auditOpen(context, runs, noAudit())
    expect([submitted, read]).toEqual([[], ['7']])
  })

  test("an undone number is found, although strangers' runs claim many resolved numbers", async () => {
    const resolved = Array.from({ length: 600 }, (_, index) => index + 1)
    const { context, requests } = scanned({}, { table: resolved, delivered: resolved.slice(0, -1) })
    for (let count = 0; count < 2; count++)
      await auditCompleted(
        context,
        resolved.map((number) => runOf(number)),
        noAudit(),
      )
    expect(requests.flat()).toContainEqual({ kind: 'undone', numbers: [['600', '600']] })
  })

  test('a transfer in a gap is started, although the table lacks many lower numbers', async () => {
    const gaps = [{ from: '1', to: '1000', state: 'hidden' as const, at: 0 }]
    for (const state of ['hidden', 'undone'] as const) {
      const { context, submitted } = scanned({ gaps: gaps.map((gap) => ({ ...gap, state })) }, { table: [1_000] })
      const [passed, fill] = [vi.spyOn(performance, 'now'), createGapFiller(context)]
      try {
        for (let count = 0; count < 2; count++) {
          await fill()
          passed.mockReturnValue(performance.now() + 600_000)
        }
      } finally {
        passed.mockRestore()
      }
      expect(submitted).toEqual(['1000'])
    }
  })

  test('every number of a gap is compared with the table within size / 500 audits', async () => {
    const gaps = [{ from: '1', to: '1500', state: 'not-final' as const, at: 0 }]
    const { context, streamClient } = scanned({ gaps }, { table: [1_500] })
    for (let count = 0; count < 3; count++) await auditStream(context)
    expect(streamClient.now && viewStream(streamClient.now).gaps).toEqual({ 'not-final': '1499', unasked: '1' })
  })
})
