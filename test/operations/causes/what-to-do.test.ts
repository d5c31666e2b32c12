import { describe, expect, test } from 'vitest'
import { firstOffer, type CallPolicy } from '../../../domain/fees/fees.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import { isStuck } from '../../../domain/catalogue/cause.ts'
import { explain } from '../../../operations/causes/explain.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { answersOf } from '../../../operations/causes/read-temporal.ts'
import type { ChainFacts, Facts, TransferFacts } from '../../../operations/causes/facts.ts'
import { at, chain, config, facts, followed, head, lane, laneFacts, ledger, nodes, read, transfer, unpolled, unread } from './facts.ts'

const rows = (changes: Partial<Facts>) => explain(facts(changes), config)
const rowOf = (code: string, changes: Partial<Facts>) => {
  const found = rows(changes).find((row) => row.code === code)
  if (!found) throw new Error(`${code} is not shown`)
  return found
}
const waiting = (code: string, more: Partial<TransferFacts> = {}): Partial<Facts> => ({ transfers: [transfer('a', { code, ...more })] })

describe('fee limits', () => {
  const market = { baseFee: '100', maxFee: '210', tip: '10', cap: '50' }
  const commandsFor = (policy: CallPolicy) => {
    const offer = firstOffer(market, policy, { gasLimit: '21000' })
    const shown = offer.kind === 'wait' && { failure: offer.reason, ...(offer.feeLimit && { feeLimit: offer.feeLimit }) }
    return rowOf('FEE_LIMIT', waiting('FEE_LIMIT', { ...shown })).next.join('\n')
  }

  test.each<[string, CallPolicy, string]>([
    ['maxFeePerGas', { maxFeePerGas: '90' }, '--max-fee-per-gas'],
    ['the default cap', {}, '--max-fee-per-gas'],
    ['maxFeePerTransaction', { maxFeePerTransaction: '21000' }, '--max-fee-per-transaction'],
    ['the submission', { maxFeePerGas: '1000', terms: { maxFeePerGas: '90' } }, 'portage transfer cancel a '],
  ])('the command raises the limit that holds the transfer up: %s', (_, policy, wanted) => {
    const all = ['--max-fee-per-gas', '--max-fee-per-transaction', 'portage transfer cancel a ']
    const commands = commandsFor(policy)
    expect(all.filter((one) => commands.includes(one))).toEqual([wanted])
  })

  test('a nonce below the base fee can be replaced beyond the limits', () => {
    const attempt = { kind: 'call', gasLimit: '21000', maxFee: '900000000', tip: '1' } as const
    const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 990, claimedBlock: 1_000, attempts: [attempt] }
    const lanes = [laneFacts({ ledger: read(ledger({ next: 6, entries: { 5: entry } })) })]
    expect(rowOf('FEE_LIMIT_REACHED', { lanes }).next.at(-1)).toBe(`portage lane replace ${lane} 5 --max-fee <fee> --reason "<text>"`)
  })
})

describe('lanes', () => {
  test('the row of a lane without a worker has both commands that start one, and the last sign of a process', () => {
    const queue = { asOf: at, value: { ...unpolled.value, polledAt: at - 80_000 } }
    const observed = { ...ledger().observed!, at: at - 600_000 }
    const row = rowOf('LANE_WITHOUT_WORKER', { lanes: [laneFacts({ queue, ledger: read(ledger({ observed })) })] })
    expect(row.next).toEqual([`portage run --role lane --lane ${lane.slice(9)}`, 'portage run --role lane --chain bsc'])
    expect(row).toMatchObject({ since: '2026-11-22T11:58:40.000Z', what: expect.stringContaining('Last sign of one: 80 s ago.') })
  })

  test('the age of a nonce counts from the next report, because an idle ledger knows only an old height', () => {
    const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
    const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 900, claimedBlock: 1_000, attempts: [attempt] }
    const codes = (state: Parameters<typeof ledger>[0]) =>
      rows({ lanes: [laneFacts({ ledger: read(ledger({ next: 6, ...state })) })] }).map(({ code }) => code)
    expect(codes({ observed: { ...ledger().observed!, reportedSince: 998 }, entries: { 5: entry } })).toEqual([])
    const within = { ...entry, sinceBlock: 968 }
    expect(codes({ entries: { 5: within } })).toEqual([])
    expect(codes({ entries: { 5: { ...within, attempts: [attempt, attempt] } } })).toEqual(['NONCE_STUCK'])
  })

  test('a window of 0 names the window of the config, and the command sets it', () => {
    const row = rowOf('LANE_WINDOW_ZERO', { lanes: [laneFacts({ ledger: read(ledger({ config: { ...ledger().config, window: 0 } })) })] })
    expect(row.what).toContain('the config says 8')
    expect(row.next).toEqual([`portage lane set-window ${lane} 8 --reason "<text>"`])
    const zero = { ...ledger().config, window: 0 }
    const none = rowOf('LANE_WINDOW_ZERO', { lanes: [laneFacts({ ledger: read(ledger({ config: zero, configured: zero })) })] })
    expect(none.next).toEqual([`portage lane set-window ${lane} <number> --reason "<text>"`])
  })

  test('a missing role names the contract and the lanes that need it', () => {
    const native = { bridge: 'native-bridge', sourceChain: 'ethereum' }
    const { what } = rowOf('BRIDGE_ROLE_MISSING', waiting('BRIDGE_ROLE_MISSING', native))
    expect(what).toContain(`grant RELAYER_ROLE of 0x7777777777777777777777777777777777777777 to ${lane.slice(9)}`)
  })
})

describe('nodes', () => {
  const withNode = (own: Partial<ChainFacts['nodes'][number]>) => {
    const [one, two, three] = nodes(head, head, undefined)
    return { chains: [chain({ nodes: [one!, two!, { ...three!, ...own }] })] }
  }

  test('an added node that does not answer is removed, and one of the config disabled', () => {
    expect(rowOf('NODE_DOWN', withNode({})).next.join()).toMatch(/node disable bsc node-3(?!.*node remove)/)
    expect(rowOf('NODE_DOWN', withNode({ added: true })).next.join()).toMatch(/node remove bsc node-3/)
    expect(rowOf('NODE_DOWN', withNode({ added: true })).next.join()).not.toContain('node disable')
    const lags = { ...head, height: 900 }
    expect(rowOf('NODE_LAGS', withNode({ added: true, head: read(lags) })).next.join()).toContain('node remove bsc node-3')
  })

  test('a disabled node that answers again is shown as a note', () => {
    const { head: _, ...disabled } = { ...nodes(head)[0]!, node: 'node-3', isDisabled: true, isBack: true }
    const found = rows(withNode({ ...disabled, head: undefined }))
    expect(found.map(({ code, next }) => [code, next.at(-1)])).toEqual([
      ['NODE_DISABLED', 'portage node enable bsc node-3 --reason "<text>"'],
    ])
    expect(isStuck(found)).toBe(false)
    expect(rows(withNode({ ...disabled, isBack: false, head: undefined }))).toEqual([])
  })
})

test('a step that fails because of the nodes is shown at its third try, although their heads can be read', () => {
  const failing = { state: 'admitting', code: 'NODE_REFUSED', failure: 'eth_call: an answer that is not JSON-RPC' } as const
  expect(rows(waiting('NODE_REFUSED', { ...failing, tries: 2 }))).toEqual([])
  const [row, ...others] = rows(waiting('NODE_REFUSED', { ...failing, tries: 3 }))
  expect(others).toEqual([])
  expect(row).toMatchObject({ code: 'NODE_REFUSED', count: 1, examples: ['a'], what: expect.stringContaining('not JSON-RPC') })
  expect(row?.next).toContain('portage node list --chain bsc')
  // The intake is silent too, because it reads the same nodes.
  const silent = { ...followed, state: read({ ...followed.state.value, updatedAt: at - 3_600_000 }) }
  const codes = (tries: number) => rows({ ...waiting('NODE_REFUSED', { ...failing, tries }), streams: [silent] }).map(({ code }) => code)
  expect([codes(2), codes(3)]).toEqual([['INTAKE_SILENT'], ['NODE_REFUSED']])
  // The row of the unreachable chain counts the transfer.
  expect(rows({ ...waiting('NODE_UNAVAILABLE', { ...failing, tries: 9 }), chains: [chain({ nodes: nodes(undefined) })] })).toMatchObject([
    { code: 'CHAIN_UNREACHABLE', count: 1 },
  ])
})

test('if only an inactive version polls a queue, the remedy is a promotion, not another process', () => {
  const unserved = { queue: unpolled, asked: 0, answered: 0 }
  const served = { ledger: unserved, chainWorkers: new Map([['bsc', unserved]]) }
  const commands = (changes: Partial<Facts>) =>
    rows({ ...served, ...changes }).flatMap(({ code, next }) => (code.endsWith('_WITHOUT_WORKER') ? next : []))
  expect(commands({})).toEqual(['portage run --role ledger', 'portage run --role chain --chain bsc'])
  const promote = 'portage deploy promote v2 --reason "<text>"'
  const inactive = commands({ version: read({ buildId: 'v2', status: 'inactive', current: 'v1' }) })
  expect(inactive).toEqual([promote, promote])
})

test('missing workflows do not show whether a process serves the queue ledger', () => {
  const silent = unread('LANE_UNREACHABLE')
  expect(answersOf([read(noSettings), read(undefined), silent, silent])).toEqual({ asked: 2, answered: 0 })
  expect(answersOf([read({ ...noSettings, version: 1 }), silent])).toEqual({ asked: 2, answered: 1 })
})

describe('quarantined transfers', () => {
  const token = `2/${'ab'.repeat(32)}`
  const held = (id: string, recipient: string, failure?: string) =>
    transfer(id, { code: 'QUARANTINED', token, recipient, ...(failure && { failure }) })
  const commands = (...transfers: readonly TransferFacts[]) => rowOf('QUARANTINED', { transfers }).next.slice(1)

  test('the commands retry one, and deny the recipient or, for several recipients, the token', () => {
    const retry = 'portage transfer retry a --reason "<text>"'
    expect(commands(held('a', '0x01'), held('b', '0x01'))).toEqual([retry, 'portage deny recipient bsc/0x01 --reason "<text>"'])
    expect(commands(held('a', '0x01'), held('b', '0x02'))).toEqual([retry, `portage deny token ${token} --reason "<text>"`])
    expect(commands(transfer('a', { code: 'QUARANTINED' }))[1]).toBe('portage deny <kind> <party> --reason "<text>"')
  })

  test('a long reason is not cut, because its end says when Portage tries again', () => {
    const reason = `${'evm-1:0x11 '.repeat(20)}; tried again at 2026-11-22T12:10:00.000Z`
    expect(rowOf('QUARANTINED', { transfers: [held('a', '0x01', reason)] }).what).toContain('tried again at 2026-11-22T12:10:00.000Z')
  })
})

test('the row of a silent spy says which of the two missed numbers came first', () => {
  const stream = 'wormhole-token-bridge:wormhole-2:00'
  const state = {
    ...initialStream({ stream, origin: '2/00', first: '0', maxOpen: 10 }),
    missedBySpy: { from: '38', to: '40', since: at - 9_000 },
  }
  const spies = [{ address: 'spy:1', bridge: 'wormhole-token-bridge', asOf: at, kept: 0, unknownSets: 0 }]
  const { what } = rowOf('SPY_SILENT', { spies, streams: [{ stream, state: read(state) }] })
  expect(what).toContain('The first message that it did not send has the number 38, the latest 40.')
})
