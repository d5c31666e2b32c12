import { describe, expect, test } from 'vitest'
import { render } from '../../cli/output/layout.ts'
import { listText } from '../../cli/output/stream-text.ts'
import { reportText, rowsText } from '../../cli/output/transfer-text.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { isShort, isShortFor, shortHexIn, shortStream } from '../../domain/text/short-id.ts'
import { initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { toReport } from '../../intake/streams/reports.ts'
import type { TransferReport } from '../../temporal/client/transfers/transfers.ts'

const at80 = 80
const emitter = `${'0'.repeat(24)}3ee18b2214aff97000d974cf647e7c347e8fa585`
const lane = `evm-1397:0x1cbd${'b'.repeat(32)}c9ec`
const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

describe('in 80 columns', () => {
  const streams = [`wormhole-token-bridge:ethereum:${emitter}`, 'native-bridge:ethereum:bsc']
  const rows = streams.map((stream) => {
    const view = viewStream(initialStream({ stream, origin: '1/0xaa', first: '1', start: 0, maxOpen: 200 }))
    return toReport({ ...view, nextHeight: 21_234_568, completedNumber: '269170' }, () => ({
      finalized: 21_234_570,
      time: Date.now() / 1_000,
    }))
  })

  test('in 80 columns, a list has one line for each stream, with names that commands accept', () => {
    const lines = render(listText(rows), at80).split('\n')
    expect(lines[0]).toMatch(/^stream +cursor +lag +open +parked +gaps +watermark$/)
    expect([lines.length, widest(lines.join('\n')) <= 80]).toEqual([3, true])
    for (const [index, stream] of streams.entries()) {
      const name = lines[index + 1]?.split(/\s+/)[0] ?? ''
      expect([name, isShort(name) ? isShortFor(name, stream) : name === stream]).toEqual([name, true])
    }
  })

  test('in 80 columns, a timeline is a table, although its notes contain lanes and hashes', () => {
    const hash = `0x${'ab'.repeat(32)}`
    const timeline = [{ at: 0, state: 'waiting', note: `no lane takes work now; ${lane} paused: a look; ${hash} is in no block` }]
    const report = { id: 'x', state: 'waiting', execution: 'RUNNING', transfer: {}, timeline } as unknown as TransferReport
    const text = render(reportText(report, { chains: {} }), at80)
    expect(text).toMatch(/^time +state +note$/m)
    expect(text).toContain('evm-1397:0x1cbd…c9ec')
    expect(widest(text)).toBeLessThanOrEqual(80)
    const wide = render(reportText(report, { chains: {} }), undefined)
    expect([wide.includes(lane), wide.includes(hash)]).toEqual([true, true])
  })

  test('a transfer between chains with long names takes one or two lines of a list', () => {
    const row = { id: `wormhole-token-bridge:2:${emitter}:269170:6d1b4c0c5f0a3e21`, state: 'broadcasting', execution: 'RUNNING' } as const
    const chains = { sourceChain: 'hyperliquid-evm-mainnet', targetChain: 'robinhood-chain-mainnet' }
    const text = render(rowsText([{ ...row, ...chains, code: 'FEE_BELOW_COST', startedAt: new Date().toISOString() }]), at80)
    expect(widest(text)).toBeLessThanOrEqual(80)
    expect(text.split('\n')[0]).toMatch(/^started +state +route +code +id$/)
    expect(text).toContain('6d1b4c0c5f0a3e21')
  })
})

test('lists and reports show the amount of a transfer in units of its token', () => {
  const [tokenAmount, startedAt] = ['1.5', new Date().toISOString()]
  const row = { id: 'x', state: 'waiting', execution: 'RUNNING', amount: '1500000', tokenAmount, startedAt } as const
  expect(render(rowsText([row]), undefined)).toMatch(/ 1\.5 /)
  const report = { ...row, transfer: {}, timeline: [] } as unknown as TransferReport
  expect(render(reportText(report, { chains: {} }), undefined)).toMatch(/^amount +1\.5$/m)
})

test('a wide list shows the payments and profits of paid requests', () => {
  const row = {
    id: 'x',
    state: 'delivered',
    execution: 'COMPLETED',
    paid: '7000',
    profit: '-50',
    startedAt: new Date().toISOString(),
  } as const
  const [names, cells] = render(rowsText([row]), undefined).split('\n')
  expect([names, cells]).toEqual([expect.stringMatching(/ paid +profit +/), expect.stringMatching(/ 7000 wei +-50 wei +/)])
  expect(render(rowsText([row]), 80)).not.toContain('profit')
})

test('lists show the code of a waiting transfer, and its report also shows the remedy', () => {
  const row = { id: 'x', state: 'waiting', execution: 'RUNNING', code: 'LANE_FUNDS', startedAt: new Date().toISOString() } as const
  expect(render(rowsText([row]), undefined)).toContain(' LANE_FUNDS ')
  const text = render(reportText({ ...row, transfer: {}, timeline: [] } as unknown as TransferReport, { chains: {} }), undefined)
  expect(text).toMatch(/^code +LANE_FUNDS$/m)
  expect(text).toContain(errorCatalogue.LANE_FUNDS.remedy)
})

test('the short name of a stream keeps the name of the chain, and shortens hex as lists do', () => {
  expect(shortStream(`wormhole-token-bridge:robinhood-chain-mainnet:${emitter}`)).toBe('wormhole…:robinhood-chain-mainnet:0000…a585')
  expect(shortHexIn(`of ${lane}, 0x12, ${'a'.repeat(64)}`)).toBe(`of evm-1397:0x1cbd…c9ec, 0x12, ${'a'.repeat(64)}`)
})
