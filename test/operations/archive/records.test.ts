import { describe, expect, test } from 'vitest'
import { longestRecord, newOnes, sliceText, type TransferRecord, transferRecord } from '../../../operations/archive/records.ts'

const run = {
  ...{ workflowId: 'wormhole-token-bridge:2:e:1:d', runId: 'r1', execution: 'COMPLETED' },
  ...{ startedAt: '2026-11-22T10:00:00.000Z', closedAt: '2026-11-22T10:01:00.000Z' },
}
const base = { version: 1, id: run.workflowId, runId: 'r1', execution: 'COMPLETED' } as const
const transfer = {
  ...{ bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', sourceId: '2', targetChain: 'bsc' },
  ...{ emitter: 'e', sequence: '1', digest: '0xd', message: 'AQ==' },
}
const at = Date.parse('2026-11-22T10:00:30Z')
const result = {
  ...{ id: run.workflowId, state: 'delivered', transfer, rounds: 1, nonce: 7, delivery: { ours: true, txHash: '0x1', gasPaid: '21' } },
  tried: [{ kind: 'call', hash: '0x1', maxFee: '2', tip: '1', fate: 'mined' }],
  orders: [{ kind: 'retry', by: 'dora', reason: 'a test', at }],
  timeline: [{ at, state: 'delivered', note: '' }],
}

describe('the line of a closed transfer', () => {
  test('the line of a closed transfer has its result', () => {
    expect(transferRecord(run, { transfer, result })).toEqual({
      ...{ ...base, startedAt: run.startedAt, closedAt: run.closedAt, transfer, outcome: 'delivered', rounds: 1, nonce: 7 },
      delivery: { ours: true, txHash: '0x1', gasPaidWei: '21' },
      attempts: [{ kind: 'call', hash: '0x1', maxFeePerGasWei: '2', maxPriorityFeePerGasWei: '1', fate: 'mined' }],
      orders: [{ kind: 'retry', by: 'dora', reason: 'a test', at: '2026-11-22T10:00:30.000Z' }],
      timeline: [{ at: '2026-11-22T10:00:30.000Z', state: 'delivered', note: '' }],
    })
  })

  test('the line of a closed transfer has every signed transaction with hash, fee and fate', () => {
    const told = { ...{ lane: 'evm-1:0xa', nonce: 7, round: 1, kind: 'call' }, maxFee: '2', tip: '1' }
    const transactions = [
      { ...told, hash: '0x0', fate: 'replaced', at },
      { ...told, hash: '0x1', maxFee: '3', fate: 'mined', gasPaid: '21', at },
      // The ledger recorded this transaction, but no step has reported its hash.
      { ...told, nonce: 8, round: 2, fate: 'dropped' },
      { ...told, nonce: '9' },
    ]
    const record = transferRecord(run, { transfer, result: { ...result, transactions } })
    const shown = { ...{ lane: 'evm-1:0xa', nonce: 7, round: 1, kind: 'call' }, maxFeePerGasWei: '2', maxPriorityFeePerGasWei: '1' }
    expect([record.dropped, record.transactions]).toEqual([
      1,
      [
        { ...shown, hash: '0x0', fate: 'replaced', at: '2026-11-22T10:00:30.000Z' },
        { ...shown, hash: '0x1', maxFeePerGasWei: '3', fate: 'mined', gasPaidWei: '21', at: '2026-11-22T10:00:30.000Z' },
        { ...shown, nonce: 8, round: 2, fate: 'dropped' },
      ],
    ])
    expect(JSON.parse(JSON.stringify(transferRecord(run, { transfer, result })))).not.toHaveProperty('transactions')
  })

  test('the line of a closed transfer lacks entries of its lists with another shape', () => {
    const mixed = {
      ...result,
      tried: [null, ...result.tried, {}],
      orders: [null, { ...result.orders[0], at: 'x' }, { ...result.orders[0], at: 1e300 }, ...result.orders],
      timeline: [7, { at: null }, ...result.timeline],
    }
    const { dropped, ...record } = transferRecord(run, { transfer, result: mixed })
    expect([dropped, record]).toEqual([7, transferRecord(run, { transfer, result })])
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['nothing', undefined],
    ['a text', 'delivered'],
    ['a list', [result]],
    ['no state', { tried: [null] }],
    ['a state that is no outcome', { ...result, state: 'waiting' }],
    ['a state of its own', { ...result, state: { toString: 'x' } }],
  ])('the line of a run that ended with %s has no outcome, and says so', (_, given) => {
    const record = transferRecord(run, { transfer: null, result: given })
    expect(record).toEqual({ ...base, startedAt: run.startedAt, closedAt: run.closedAt, invalid: true })
  })

  test('a line lacks only the fields of another type', () => {
    const odd = { ...result, tried: 'x', orders: {}, timeline: null, delivery: 5, cancelledBy: [1], nonce: '7', lane: {} }
    expect(transferRecord(run, { transfer: { message: 'AQ==' }, result: odd })).toEqual({
      ...{ ...base, startedAt: run.startedAt, closedAt: run.closedAt, outcome: 'delivered', rounds: 1 },
    })
  })

  test('a line has the reason why its result is unreadable, but none for a run without a result', () => {
    const unreadable = transferRecord(run, { transfer, result: undefined, unreadable: 'ENCRYPTION_KEY_UNKNOWN' })
    expect(unreadable).toMatchObject({ transfer, unreadable: 'ENCRYPTION_KEY_UNKNOWN' })
    expect(unreadable).not.toHaveProperty('invalid')
    expect(transferRecord({ ...run, execution: 'TERMINATED' }, { transfer, result: undefined })).not.toHaveProperty('invalid')
  })

  test('a line that is too long lacks its lists, and if need be its texts', () => {
    const long = 'x'.repeat(2_000_000)
    const lists = transferRecord(run, { transfer, result: { ...result, timeline: [{ at, state: 'delivered', note: long }] } })
    expect(lists).toMatchObject({ transfer, outcome: 'delivered', nonce: 7, shortened: true })
    expect(lists).not.toHaveProperty('orders')
    const texts = transferRecord(run, { transfer: { ...transfer, extra: long }, result: { ...result, reason: long } })
    expect(texts).toEqual({ ...base, startedAt: run.startedAt, closedAt: run.closedAt, outcome: 'delivered', shortened: true })
    const message = Buffer.alloc(200_000).toString('base64')
    expect(transferRecord(run, { transfer: { ...transfer, message }, result })).toMatchObject({ transfer: { message }, orders: [{}] })
    expect(message.length).toBeLessThan(longestRecord)
  })
})

describe('the lines of ten minutes', () => {
  const line = (runId: string, more: Partial<TransferRecord> = {}): TransferRecord => ({
    ...transferRecord({ ...run, runId }, { transfer, result }),
    ...more,
  })

  test('a slice gets lines of missing runs, and of runs that have become readable', () => {
    const unreadable = line('r2', { unreadable: 'ENCRYPTION_KEY_UNKNOWN' })
    const archived = [line('r1'), unreadable]
    expect(newOnes(archived, [line('r1'), unreadable, line('r3')]).map(({ runId }) => runId)).toEqual(['r3'])
    expect(newOnes(archived, [line('r2')])).toEqual([line('r2')])
    expect(newOnes([...archived, line('r2')], [line('r2')])).toEqual([])
  })

  test('a slice gets short lines once it is nearly too long for a string', () => {
    const was = JSON.stringify(line('r1'))
    const text = sliceText([was], [line('r2'), line('r3')], was.length * 2)
    const lines = text.trim().split('\n')
    expect([lines[0], lines[1]]).toEqual([was, JSON.stringify(line('r2'))])
    expect(JSON.parse(lines[2]!)).toMatchObject({ runId: 'r3', outcome: 'delivered', shortened: true })
    expect(lines[2]!.length).toBeLessThan(500)
  })
})
