import type { Chain, HeadEvent } from '../../chains/port.ts'

/** A chain whose latest block has the hash that `latest` returns. Each subscriber immediately gets a block. */
export function scriptedChain(latest: () => string, nodes = 1): Chain {
  const event = (hash: string): HeadEvent => {
    const block = { height: 1, hash, parentHash: '0x00', timestamp: 0, transactions: [] }
    return { applied: [block], rolledBack: [], latest: block, finalized: 0 }
  }
  const status = { name: 'node', origin: 'http://node', use: 'all', state: 'up', failures: 0 } as const
  const chain: Partial<Chain> = {
    name: 'bsc',
    nodes: () => Array.from({ length: nodes }, () => status),
    heads: {
      async start() {},
      stop() {},
      get current() {
        return event(latest())
      },
      subscribe(listener) {
        queueMicrotask(() => listener(event('0xff')))
        return () => {}
      },
    },
    hasCode: async () => false,
    simulate: async () => ({ ok: true, gas: '100' }),
    quote: async () => ({ maxFee: '2', tip: '1' }),
    dataFee: async () => '0',
  }
  return chain as Chain
}
