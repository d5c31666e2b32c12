import type { Config } from '../../../config/schema/schema.ts'
import type { ChainFacts, Facts, LaneFacts, NodeHead, TransferFacts } from '../../../operations/causes/facts.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { newLane, type LaneState } from '../../../domain/lane/lane.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import { noSettings } from '../../../domain/settings/settings.ts'

export const at = Date.parse('2026-11-22T12:00:00Z')
export const lane = 'evm-1397:0x52908400098527886e0f7030069857d2e4169ee7'
const address = '0x52908400098527886e0f7030069857d2e4169ee7'

/** A config with one chain. Chain 2, which has an emitter, has no node. */
export const config = {
  chains: {
    bsc: {
      ...{ family: 'evm', networkId: 1397, lanes: [{ address }], nodes: [] },
      ...{ wormholeChainId: 4, contracts: { core: address, tokenBridge: address } },
    },
  },
  streams: { auditMinutes: 5 },
  bridges: {
    'wormhole-token-bridge': { emitters: { 2: '00' } },
    'native-bridge': { routes: [{ source: 'ethereum', target: 'bsc', targetContract: `0x${'77'.repeat(20)}` }] },
  },
} as unknown as Pick<Config, 'chains' | 'bridges' | 'streams'>

const polled = { asOf: at, value: { isPolled: true, polledAt: at - 1_000, waiting: 0, waitingMs: 0 } } as const
export const unpolled = { asOf: at, value: { isPolled: false, waiting: 0, waitingMs: 0 } } as const

export function read<Value>(value: Value) {
  return { asOf: at, value }
}

export function unread(
  code: 'NODE_UNAVAILABLE' | 'LANE_UNREACHABLE' | 'TEMPORAL_UNAVAILABLE' | 'CHAIN_ID_MISMATCH' | 'SETTINGS_UNREACHABLE',
) {
  return { asOf: at, error: new RelayerError(code, { detail: 'connect ECONNREFUSED' }) }
}

export const head: NodeHead = { height: 1_000, at: at - 1_000, finalized: 990, baseFee: '1000000000' }

export function chain(changes: Partial<ChainFacts> = {}): ChainFacts {
  const node = { node: 'node-1', use: 'all', added: false, isDisabled: false, head: read(head) } as const
  return { chain: 'bsc', blockTimeMs: 1_000, nodes: [node], balances: new Map([[address, '5000000000000000000']]), ...changes }
}

/** A node with an undefined head does not answer. */
export function nodes(...heads: readonly (NodeHead | undefined)[]): ChainFacts['nodes'] {
  return heads.map((one, index) => ({
    ...{ node: `node-${index + 1}`, use: 'all' as const, added: false, isDisabled: false },
    head: one ? read(one) : unread('NODE_UNAVAILABLE'),
  }))
}

export function ledger(changes: Partial<LaneState> = {}): LaneState {
  const observed = {
    latest: 5,
    finalized: 5,
    height: 1_000,
    hash: '0x00',
    balance: '5000000000000000000',
    at,
    leadAt: at,
    finalizedAt: 990,
  }
  return { ...newLane({ lane, window: 8, fillAfterBlocks: 60 }), synced: true, next: 5, observed, ...changes }
}

export function laneFacts(changes: Partial<LaneFacts> = {}): LaneFacts {
  return { lane, chain: 'bsc', ledger: read(ledger()), queue: polled, ...changes }
}

export function transfer(id: string, changes: Partial<TransferFacts> = {}): TransferFacts {
  return {
    ...{ workflowId: id, runId: `run-${id}`, state: 'waiting', startedAt: at - 60_000 },
    ...{ bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', targetChain: 'bsc', ...changes },
  }
}

/** The stream of bsc's own token bridge, as an intake reports it. */
export const followedName = `wormhole-token-bridge:bsc:${address.slice(2).padStart(64, '0')}`
export const followed = {
  stream: followedName,
  state: read({ ...initialStream({ stream: followedName, origin: '4/00', first: '0', maxOpen: 10 }), updatedAt: at - 1_000 }),
}

/** A healthy deployment, except for `changes`. */
export function facts(changes: Partial<Facts> = {}): Facts {
  const served = { queue: polled, asked: 1, answered: 1 }
  return {
    at,
    temporal: read(true as const),
    settings: read(noSettings),
    ledger: served,
    chainWorkers: new Map([['bsc', served]]),
    chains: [chain()],
    lanes: [laneFacts()],
    ...{ streams: [followed], receivers: [], spies: [], transfers: [], declined: [], failing: [], unread: [] },
    ...changes,
  }
}
