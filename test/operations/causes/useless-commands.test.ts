import { describe, expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import type { ChainFacts, Facts } from '../../../operations/causes/facts.ts'
import { isStuck } from '../../../domain/catalogue/cause.ts'
import type { LaneState } from '../../../domain/lane/lane.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import { at, chain, config, facts, followedName, head, lane, laneFacts, ledger, nodes, read, transfer, unpolled, unread } from './facts.ts'

const other = 'evm-1397:0x8617e340b3d01fa5f11f306f4090fd50e238070d'
const [address, otherAddress] = ['0x52908400098527886e0f7030069857d2e4169ee7', '0x8617e340b3d01fa5f11f306f4090fd50e238070d']
const ether = 10n ** 18n

function rowOf(code: string, changes: Partial<Facts>) {
  const found = explain(facts(changes), config).find((row) => row.code === code)
  if (!found) throw new Error(`${code} is not shown`)
  return found
}

const commandsOf = (code: string, changes: Partial<Facts>) => rowOf(code, changes).next.join('\n')

describe('a top-up is printed only from a lane that can pay', () => {
  const state = (changes: Partial<LaneState> = {}) => read(ledger({ ...changes, config: { ...ledger().config, lane: other } }))
  const funds = (balance: bigint, otherState = state(), queue = laneFacts().queue): Partial<Facts> => ({
    lanes: [laneFacts(), { lane: other, chain: 'bsc', ledger: otherState, queue }],
    chains: [
      chain({
        balances: new Map([
          [address, '16'],
          [otherAddress, String(balance)],
        ]),
      }),
    ],
  })

  test('the printed top-up pays from a lane that has coins for deliveries', () => {
    const row = rowOf('LANE_FUNDS', funds(ether))
    expect(row.what).toBe('The account of the lane has 16 wei, and the smallest transaction costs 21000000000000 wei.')
    expect(row.next.join()).toContain(`portage lane top-up ${lane} --from ${other} `)
  })

  test('no printed top-up pays from a lane that is empty, forbidden or without a process', () => {
    const closing = { mode: 'forbidden', reason: 'a look', by: 'ops' } as const
    for (const changes of [funds(16n), funds(ether, state({ closing })), funds(ether, state(), unpolled)]) {
      const row = explain(facts(changes), config).find(({ code, where }) => code === 'LANE_FUNDS' && where.id === lane)
      expect(row?.next).toEqual([`portage lane show ${lane}`])
    }
  })
})

test('a stuck nonce has no row of its own if its lane cannot pay or its chain is unreachable', () => {
  const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
  const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 900, claimedBlock: 990, attempts: [attempt] }
  const lanes = [laneFacts({ ledger: read(ledger({ next: 6, entries: { 5: entry } })) })]
  const codes = (changes: Partial<ChainFacts>) => explain(facts({ lanes, chains: [chain(changes)] }), config).map(({ code }) => code)
  expect(codes({})).toEqual(['NONCE_STUCK'])
  expect(codes({ balances: new Map([[address, '16']]) })).toEqual(['LANE_FUNDS'])
  expect(codes({ nodes: nodes({ ...head, at: at - 60_000 }) })).toEqual(['CHAIN_STALLED'])
})

test('`node disable` is printed only if a majority answers, `node enable` only once the node is back', () => {
  expect(commandsOf('NODE_DOWN', { chains: [chain({ nodes: nodes(head, head, undefined) })] })).toContain('node disable bsc node-3')
  const [up, down, gone] = nodes(head, undefined, undefined)
  const lost = { chains: [chain({ nodes: [up!, down!, gone!] })] }
  expect(commandsOf('NODE_DOWN', lost)).not.toContain('disable')
  expect(commandsOf('CHAIN_WITHOUT_MAJORITY', lost)).not.toContain('enable')
  const { head: _, ...disabled } = { ...down!, isDisabled: true }
  const back = { chains: [chain({ nodes: [up!, { ...disabled, isBack: true }, { ...disabled, node: 'node-3', isBack: false }] })] }
  expect(commandsOf('CHAIN_WITHOUT_MAJORITY', back)).toContain('portage node enable bsc node-2')
})

test('a chain whose nodes all serve another network is not reported as unreachable', () => {
  const [one] = nodes(undefined)
  const { chains } = { chains: [chain({ nodes: [{ ...one!, head: unread('CHAIN_ID_MISMATCH') }] })] }
  expect(rowOf('CHAIN_ID_MISMATCH', { chains }).remedy).toContain('networkId')
})

test('`stream skip` is printed only for a gap of more than a day', () => {
  const of = (ageMs: number) => {
    const gap = { from: '3', to: '3', state: 'unobserved', at: at - ageMs } as const
    const state = {
      ...initialStream({ stream: followedName, origin: '4/00', first: '0', maxOpen: 9 }),
      next: '4',
      gaps: [gap],
      updatedAt: at,
    }
    return { streams: [{ stream: followedName, state: read(state) }] }
  }
  expect(commandsOf('GAP_UNOBSERVED', of(3_600_000))).not.toContain('skip')
  const row = rowOf('GAP_UNOBSERVED', of(90_000_000))
  expect(row.next.join()).toContain(`portage stream skip ${followedName} 3`)
  expect(row.remedy).toContain('a skipped transfer is not delivered')
})

test('no retry is printed before the owner of a bridge has raised its cap', () => {
  const transfers = [transfer('a', { state: 'parked', code: 'BRIDGE_CAP' })]
  const row = rowOf('BRIDGE_CAP', { transfers })
  expect(row.next.join()).not.toContain('retry')
  expect(row.remedy).toMatch(/raise the cap .*then run `portage transfer retry`/)
})

test('a lane without the role of the bridge is not resumed by hand: Portage pauses it again', () => {
  const lanes = [laneFacts({ ledger: read(ledger({ paused: { kind: 'unauthorized', reason: 'no role', by: 'portage' } })) })]
  expect(commandsOf('LANE_PAUSED', { lanes })).not.toContain('resume')
})

test('a note shows the paid requests that the config refuses, and the command that retries a request', () => {
  const rows = explain(facts({ declined: [transfer('a', { state: 'declined', code: 'EXECUTOR_UNSUPPORTED' })] }), config)
  const next = ['portage transfer retry a --reason "<text>"']
  expect(rows).toMatchObject([{ code: 'DENIED', where: { id: 'executor' }, count: 1, examples: ['a'], next }])
  expect(isStuck(rows)).toBe(false)
})
