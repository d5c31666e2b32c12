import type { FaultProxy } from '../devnet/fault-proxy/proxy.ts'
import type { FaultRule } from '../devnet/fault-proxy/rules.ts'
import type { NodeKind, PlannedFault } from './plan.ts'
import { chanceOf } from './random.ts'

const sends = ['eth_sendRawTransaction']
const fatal = { code: -32_000, message: 'intrinsic gas too low: have 21000, want 53000' } as const

/** Error texts of providers such as Infura, and of nodes that limit the range of blocks. */
const logLimits = {
  results: { blocks: 3, code: -32_005, message: 'query returned more than 10000 results' },
  blocks: { blocks: 1, code: -32_000, message: 'block range too large' },
} as const

/** A false receipt is given only once. All other faults last until their rule ends. */
const rules: Readonly<Record<NodeKind, (fault: PlannedFault) => FaultRule>> = {
  'accept-and-hang': () => ({ fault: { kind: 'accept-and-hang' }, methods: sends }),
  hang: () => ({ fault: { kind: 'hang' }, probability: 0.5 }),
  cut: () => ({ fault: { kind: 'cut' }, probability: 0.7 }),
  'http-429': () => ({ fault: { kind: 'status', status: 429, retryAfterSeconds: 1 }, probability: 0.8 }),
  'http-5xx': ({ dice }) => ({ fault: { kind: 'status', status: dice < 0.5 ? 503 : 502 }, probability: 0.8 }),
  'fatal-refusal': () => ({ fault: { kind: 'error', ...fatal, forward: false }, methods: sends }),
  'fatal-after-accepting': () => ({ fault: { kind: 'error', ...fatal, forward: true }, methods: sends }),
  stale: ({ depth }) => ({ fault: { kind: 'behind', blocks: depth }, probability: 0.5 }),
  lag: ({ depth }) => ({ fault: { kind: 'behind', blocks: depth } }),
  'batch-drop': () => ({ fault: { kind: 'batch', how: 'drop' }, probability: 0.5 }),
  'batch-duplicate': () => ({ fault: { kind: 'batch', how: 'duplicate' }, probability: 0.5 }),
  'batch-reorder': () => ({ fault: { kind: 'batch', how: 'reorder' } }),
  'receipt-null': () => ({ fault: { kind: 'receipt', lie: 'null' }, times: 1 }),
  'receipt-status': () => ({ fault: { kind: 'receipt', lie: 'status' }, times: 1 }),
  'receipt-block': () => ({ fault: { kind: 'receipt', lie: 'block' }, times: 1 }),
  'send-swallowed': () => ({ fault: { kind: 'swallow' } }),
  'logs-empty': () => ({ fault: { kind: 'answer', result: [] }, methods: ['eth_getLogs'] }),
  'logs-hidden': () => ({ fault: { kind: 'logs', how: 'one-less' } }),
  'logs-forked': () => ({ fault: { kind: 'logs', how: 'forked' } }),
  'log-range': ({ dice }) => ({ fault: { kind: 'log-range', ...logLimits[dice < 0.5 ? 'results' : 'blocks'] } }),
  'finality-lag': ({ depth }) => ({ fault: { kind: 'finality-behind', blocks: 3 * depth } }),
}

export function breakNodes(nodes: readonly FaultProxy[], fault: PlannedFault<NodeKind>): () => void {
  const struck = fault.node === 'all' ? nodes : nodes.slice(fault.node, fault.node + 1)
  const random = chanceOf(String(fault.dice)).next
  const active = struck.map((node) => node.add({ ...rules[fault.kind](fault), random }))
  return () => {
    for (const rule of active) rule.end()
  }
}
