import { encodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createPlacedLogs, emitterOf } from '../../bridges/kit/placed-logs.ts'
import type { LogsAt } from '../../bridges/kit/logs.ts'
import type { LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import { mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

const contract = `0x${'Cc'.repeat(20)}`
const topic = `0x${'11'.repeat(32)}`
const range = { fromBlock: 5, toBlock: 9 }
const hashOf = (height: number) => `0x${String(height).padStart(64, '0')}`

function logAt(height: number, index: number, data = '0x01', own: Partial<PlacedLog> = {}): PlacedLog {
  const block = { height, hash: hashOf(height) }
  return { address: contract.toLowerCase(), topics: [topic], data, block, index, transactionHash: `0x${'70'.repeat(32)}`, ...own }
}

/** A placed source whose nodes all return `logs`. A message consists of its number and the log's data. */
function placed(logs: readonly PlacedLog[], own: Partial<Transfer> = {}, clock = () => 1) {
  const decoded: string[] = []
  const asked: (LogRange & { readonly at: LogsAt | undefined })[] = []
  const { source, verify, inTransaction } = createPlacedLogs({
    chain: {
      name: 'ethereum',
      networkId: '1',
      heads: { current: { finalized: 9 } as never },
      call: () => Promise.reject(new Error('not asked')),
      async logs(query, at) {
        asked.push({ ...query, at })
        return logs.filter(({ block }) => block.height >= query.fromBlock && block.height <= query.toBlock)
      },
    },
    ...{ bridge: 'messages', contract, topics: [topic], startBlock: 5, maxOpen: 10, isDelivered: async () => false, clock },
    decode(log, sequence) {
      decoded.push(sequence)
      if (log.data === '0x02') return undefined
      if (log.data === '0x03') throw new RelayerError('PAYLOAD_KIND')
      if (log.data === '0x04') throw new RelayerError('NODE_REFUSED')
      if (log.data === '0x05') throw new TypeError('a bug')
      return {
        ...{ bridge: 'messages', sourceChain: 'ethereum', sourceId: '1', targetChain: 'bsc', emitter: emitterOf(contract), sequence },
        ...{ digest: `0x${'d1'.repeat(32)}`, message: encodeBase64(log.data) },
        ...own,
      }
    },
  })
  return { source, verify, inTransaction, asked, decoded }
}

describe('the logs of a contract as a placed source', () => {
  test('a log has its place as number, and most nodes are asked', async () => {
    const { source, asked } = placed([logAt(7, 3), logAt(5, 0), logAt(5, 12), logAt(9, 1, '0x02'), logAt(9, 2, '0x03')])
    const found = await source.initiated(range)
    expect(found.map(({ transfer, height }) => [transfer.sequence, height])).toEqual([
      ['5000000', 5],
      ['5000012', 5],
      ['7000003', 7],
    ])
    await source.initiated(range, 'agreed')
    expect(asked).toEqual(['majority', 'agreed'].map((at) => ({ address: contract.toLowerCase(), topics: [topic], ...range, at })))
    expect(source.config).toEqual({
      ...{ stream: `messages:ethereum:${emitterOf(contract)}`, origin: `1/${contract.toLowerCase()}` },
      ...{ first: '0', start: 5, maxOpen: 10, placed: true },
    })
  })

  test.each<[string, readonly PlacedLog[], Partial<Transfer>, string]>([
    ['two logs of one place', [logAt(5, 1), logAt(5, 1, '0x06')], {}, 'NODE_REFUSED'],
    ['two blocks of one height', [logAt(5, 1), logAt(5, 2, '0x06', { block: { height: 5, hash: hashOf(6) } })], {}, 'NODE_REFUSED'],
    ['an index that no block has', [logAt(5, 1_000_000)], {}, 'NODE_REFUSED'],
    ['a log of another contract', [logAt(5, 1, '0x01', { address: `0x${'dd'.repeat(20)}` })], {}, 'NODE_REFUSED'],
    ["a log that is not the contract's event", [logAt(5, 1, '0x04')], {}, 'NODE_REFUSED'],
    ['a transfer under another number', [logAt(5, 1)], { sequence: '1' }, 'INTERNAL'],
    ['a transfer of another emitter', [logAt(5, 1)], { emitter: '0'.repeat(64) }, 'INTERNAL'],
  ])('%s: nothing of the range is reported', async (_, logs, decoded, code) => {
    expect(await codeOfAsync(() => placed(logs, decoded).source.initiated(range))).toBe(code)
  })

  test('a log or a message that no transfer can carry is left out, and a long log is not decoded', async () => {
    const long = `0x${'01'.repeat(mostMessageBytes)}`
    const { source, decoded } = placed([logAt(5, 1, `${long}010101`), logAt(5, 2, `${long}${'00'.repeat(97)}`), logAt(5, 3, long)])
    expect((await source.initiated(range)).map(({ transfer }) => transfer.sequence)).toEqual(['5000003'])
    expect(decoded).toEqual(['5000001', '5000003'])
  })

  test('a bug of the bridge is no reason to leave a log out', async () => {
    await expect(placed([logAt(5, 1, '0x05')]).source.initiated(range)).rejects.toThrow('a bug')
  })

  test('a message is verified by the log at its place, and remembered', async () => {
    const { verify, asked } = placed([logAt(5, 1), logAt(5, 2, '0x0102')])
    const message = (data: string, index: number, height = 5) => ({ sequence: placeOf(height, index), message: encodeBase64(data) })
    await Promise.all([verify(message('0x01', 1)), verify(message('0x0102', 2))])
    await verify(message('0x01', 1))
    expect(asked).toEqual([expect.objectContaining({ fromBlock: 5, toBlock: 5, at: 'agreed' })])
    expect(await codeOfAsync(() => verify(message('0x01', 2)))).toBe('PLACE_MISMATCH')
    expect(await codeOfAsync(() => verify(message('0x01', 1, 6)))).toBe('PLACE_MISMATCH')
    expect(await codeOfAsync(() => verify(message('0x01', 1, 10)))).toBe('PLACE_NOT_FINAL')
  })

  test('a check of one message decodes no other log of its block', async () => {
    const { verify, decoded } = placed(Array.from({ length: 500 }, (_, index) => logAt(5, index)))
    await verify({ sequence: placeOf(5, 7), message: encodeBase64('0x01') })
    expect(decoded).toEqual([placeOf(5, 7)])
  })

  test('a range is decoded in many turns of the event loop, so cheap requests do not block a process', async () => {
    const { source, decoded } = placed(Array.from({ length: 500 }, (_, index) => logAt(5, index, index % 2 ? '0x03' : '0x01')))
    const atTurn = [0]
    const watch = () => {
      atTurn.push(decoded.length)
      turn = setImmediate(watch)
    }
    let turn = setImmediate(watch)
    expect(await source.initiated(range)).toHaveLength(250)
    clearImmediate(turn)
    const perTurn = [...atTurn, decoded.length].map((count, index) => count - (atTurn[index - 1] ?? 0))
    expect(decoded).toHaveLength(500)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(20)
  })

  test('a verified message is read again after an hour, and not earlier', async () => {
    let now = 1
    const { verify, asked } = placed([logAt(5, 1)], {}, () => now)
    const message = { sequence: placeOf(5, 1), message: encodeBase64('0x01') }
    for (now of [1, 59 * 60_000, 61 * 60_000]) await verify(message)
    expect(asked).toHaveLength(2)
  })
})

test('the transfers of a transaction are read from its receipt, once its block is final', async () => {
  const { inTransaction, asked } = placed([logAt(7, 6), logAt(7, 8, '0x02')])
  const hash = `0x${'70'.repeat(32)}`
  expect((await inTransaction(hash, 7)).map(({ transfer, txHash }) => [transfer.sequence, txHash])).toEqual([['7000006', hash]])
  expect(asked).toEqual([expect.objectContaining({ transaction: hash, fromBlock: 7, toBlock: 7, at: 'agreed' })])
  await expect(inTransaction(hash, 10)).rejects.toMatchObject({ code: 'PLACE_NOT_FINAL' })
})

test('requests of one transaction that are read in parallel share its logs and transfers', async () => {
  const { inTransaction, asked, decoded } = placed(Array.from({ length: 30 }, (_, index) => logAt(7, index)))
  const found = await Promise.all(Array.from({ length: 10 }, () => inTransaction(`0x${'70'.repeat(32)}`, 7)))
  expect(found.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 30))
  expect([asked.length, decoded.length]).toEqual([1, 30])
  await inTransaction(`0x${'71'.repeat(32)}`, 7)
  await inTransaction(`0x${'70'.repeat(32)}`, 7)
  expect(asked).toHaveLength(3)
})
