import { expect, test } from 'vitest'
import { initialStream } from '../../../domain/stream/reducer.ts'
import { explain } from '../../../operations/causes/explain.ts'
import type { NodeHead } from '../../../operations/causes/facts.ts'
import { at, chain, config, facts, head, laneFacts, ledger, nodes, read } from './facts.ts'

const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 995, claimedBlock: 1_000, attempts: [attempt] }
const native = 'native-bridge:ethereum:bsc'
const followed = {
  ...initialStream({ stream: native, origin: '1/0', first: '1', start: 1, maxOpen: 9 }),
  ...{ cursor: { height: 985, hash: '0x' }, updatedAt: at },
}
const latest = 8_640_000_000_000_000

function codesWith(liar: Partial<NodeHead>): string[] {
  const shown = nodes({ ...head, ...liar }, head, head)
  const findings = explain(
    facts({
      chains: [chain({ chain: 'ethereum', nodes: shown }), chain({ nodes: shown })],
      lanes: [laneFacts({ ledger: read(ledger({ next: 6, entries: { 5: entry } })) })],
      streams: [{ stream: native, state: read(followed) }],
    }),
    config,
  )
  return findings.map(({ code }) => code)
}

test.each([
  [{ at: 0 }, []],
  [{ at: latest }, []],
  [{ finalAt: 0 }, []],
  [{ finalized: 2 ** 53 - 1 }, []],
  [{ baseFee: '900000000000' }, []],
  [{ height: 2 ** 53 - 1, at: latest, finalized: 2 ** 53 - 1 }, ['NODE_LAGS', 'NODE_LAGS']],
  [{ height: 2 ** 53 - 1, at: 0, baseFee: '900000000000' }, ['NODE_LAGS', 'NODE_LAGS']],
] as const)('one lying node of three causes no row except that it disagrees with the others: %j', (liar, codes) => {
  expect(codesWith(liar)).toEqual(codes)
})

test('an added node has no say in the diagnosis of a chain', () => {
  const added = nodes({ ...head, at: 0 }, { ...head, at: 0 }).map((node) => ({ ...node, node: `spare ${node.node}`, added: true }))
  const findings = explain(facts({ chains: [chain({ nodes: [...nodes(head), ...added] })] }), config)
  expect(findings.map(({ code }) => code)).toEqual([])
})
