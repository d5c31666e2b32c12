import { expect, test } from 'vitest'
import type { TimelineEntry } from '../../domain/transfer/timeline.ts'
import type { TransferProgress } from '../../temporal/contracts/transfer.ts'
import { detailsOf, joined } from '../../workflows/transfer/details.ts'

const transfer = {
  ...{
    bridge: 'wormhole-token-bridge',
    sourceChain: 'ethereum',
    sourceId: '2',
    targetChain: 'bsc',
    emitter: '00'.repeat(32),
    sequence: '12',
  },
  ...{ digest: `0x${'00'.repeat(32)}`, message: 'b3du' },
}
const here = { namespace: 'default', workflowId: 'wormhole-token-bridge:2:00:12:00' }
const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second)
const entry = (second: number, state: TimelineEntry['state'], note: string): TimelineEntry => ({ at: at(second), state, note })
const progress = (given: Partial<TransferProgress>): TransferProgress => ({
  ...{ state: 'waiting', round: 1, failures: 0, spent: 0, waits: 0, timeline: [] },
  ...given,
})

test('a waiting transfer shows state, code, remedy, next try, commands and lane, newest first', () => {
  const timeline = [
    entry(1, 'broadcasting', 'through evm-56:0xab'),
    ...[2, 4, 6].flatMap((second) => [entry(second, 'admitting', 'round 2'), entry(second, 'waiting', 'both bsc lanes are paused')]),
  ]
  const orders = [{ kind: 'retry', by: 'night-shift', reason: 'see [here](https://evil.test)', at: at(5) }]
  const given = progress({ code: 'LANE_NONE', reason: 'both bsc lanes are paused', lane: 'evm-56:0xab', timeline, orders })
  expect(detailsOf(transfer, given, at(66), here).split('\n')).toEqual([
    '**waiting** `LANE_NONE` since 2026-01-01T00:00:02.000Z',
    '',
    'No lane of the target chain takes work. Here: both bsc lanes are paused',
    '',
    '**What to do:** Resume or activate a lane, or add a key for this chain.',
    '',
    'It tries again by itself at 2026-01-01T00:01:06.000Z:',
    '',
    '- to try now: `portage transfer retry wormhole-token-bridge:2:00:12:00 --reason "the cause is gone"`',
    '- to end it: `portage transfer cancel wormhole-token-bridge:2:00:12:00 --reason "…"`',
    '',
    'wormhole-token-bridge: ethereum → bsc, sequence 12 · [lane evm-56:0xab](/namespaces/default/workflows/lane%3Aevm-56%3A0xab)',
    '',
    '- 2026-01-01T00:00:06.000Z **waiting** both bsc lanes are paused (3 times since 2026-01-01T00:00:02.000Z)',
    '- 2026-01-01T00:00:02.000Z **admitting** round 2',
    '- 2026-01-01T00:00:01.000Z **broadcasting** through evm-56:0xab',
    '',
    'Orders:',
    '',
    '- 2026-01-01T00:00:05.000Z retry by night-shift: see \\[here\\](https\\[:\\]//evil.test)',
  ])
})

test('a timeline shows nonce, send, fee raise, block and reorganisation with their own times', () => {
  const hash = (digit: string) => `0x${digit.repeat(64)}`
  const made = { lane: 'evm-56:0xab', nonce: 7, round: 1, kind: 'call', tip: '1000000000' } as const
  const transactions = [
    { ...made, hash: hash('a'), maxFee: '3000000000', fate: 'replaced', at: at(2), acceptedAt: at(3) },
    {
      ...made,
      hash: hash('b'),
      maxFee: '4000000000',
      fate: 'reorged',
      at: at(11),
      acceptedAt: at(12),
      includedAt: at(20),
      reorgedAt: at(25),
    },
    { ...made, hash: hash('c'), maxFee: '5000000000', fate: 'signed', at: at(28) },
    { ...made, maxFee: '6000000000', fate: 'recorded' },
  ] as const
  const timeline = [
    entry(1, 'broadcasting', 'through evm-56:0xab'),
    entry(20, 'included', 'block 9, nonce 7; not final yet'),
    entry(27, 'broadcasting', 'following again'),
  ]
  const details = detailsOf(transfer, progress({ state: 'broadcasting', timeline, transactions }), undefined, here)
  expect(details).toContain('**broadcasting** since 2026-01-01T00:00:27.000Z')
  expect(details.split('\n').filter((line) => line.startsWith('- 2026'))).toEqual([
    '- 2026-01-01T00:00:28.000Z **pending** fee raised: max fee 5 gwei, tip 1 gwei',
    '- 2026-01-01T00:00:27.000Z **broadcasting** following again',
    '- 2026-01-01T00:00:25.000Z **pending** reorganised: the block of 0xbbbb…bbbb left the chain',
    '- 2026-01-01T00:00:20.000Z **included** block 9, nonce 7; not final yet',
    '- 2026-01-01T00:00:12.000Z **pending** sent: a node accepted 0xbbbb…bbbb',
    '- 2026-01-01T00:00:11.000Z **pending** fee raised: max fee 4 gwei, tip 1 gwei',
    '- 2026-01-01T00:00:03.000Z **pending** sent: a node accepted 0xaaaa…aaaa',
    '- 2026-01-01T00:00:02.000Z **broadcasting** nonce 7 assigned, max fee 3 gwei, tip 1 gwei',
    '- 2026-01-01T00:00:01.000Z **broadcasting** through evm-56:0xab',
  ])
})

test('a parked transfer says so, and no part of a strange id gets into a command', () => {
  const given = progress({
    state: 'parked',
    code: 'DELIVERY_IMPOSSIBLE',
    reason: 'reverted: <script>',
    timeline: [entry(1, 'parked', 'x')],
  })
  const details = detailsOf(transfer, given, undefined, { ...here, workflowId: 'x; rm -rf ~ #`' })
  expect(details).toContain('It waits for a person:')
  expect(details).toContain('`portage transfer retry … --reason "the cause is gone"`')
  expect(details).toContain('The delivering call can never succeed. Here: reverted: \\<script\\>')
  expect(details).not.toContain('rm -rf')
})

test('an ended transfer shows no commands', () => {
  const given = progress({ state: 'delivered', timeline: [entry(1, 'delivered', 'by our 0xab in block 9')] })
  expect(detailsOf(transfer, given, undefined, here)).not.toMatch(/portage transfer|What to do/)
})

test('repeated entries stay one line, even if entries between them were dropped', () => {
  const waits = [entry(1, 'waiting', 'a'), entry(2, 'waiting', 'a'), entry(3, 'admitting', 'round 1'), entry(3, 'waiting', 'a')]
  expect(joined([...waits, entry(4, 'admitting', 'round 1'), entry(4, 'waiting', 'b')])).toEqual([
    { ...entry(3, 'waiting', 'a'), since: at(1), times: 3 },
    { ...entry(4, 'admitting', 'round 1'), since: at(4), times: 1 },
    { ...entry(4, 'waiting', 'b'), since: at(4), times: 1 },
  ])
})
