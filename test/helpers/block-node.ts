import { headerHash } from '../../chains/evm/heads/blocks.ts'
import { startHostileServer } from './hostile-server.ts'

const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`
const hex = (value: number) => `0x${value.toString(16)}`

interface BlockNode {
  readonly height: number
  readonly timestamp: number
  /** Balance of every account, wei, as hex. */
  readonly balance?: string
}

/** Starts a node whose only block is also final, with a `timestamp` in s since the epoch. Returns its URL. */
export function startBlockNode({ height, timestamp, balance = '0x1' }: BlockNode): Promise<string> {
  const header = {
    ...{ parentHash: zeros(32), sha3Uncles: zeros(32), miner: zeros(20), stateRoot: zeros(32), transactionsRoot: zeros(32) },
    ...{ receiptsRoot: zeros(32), logsBloom: zeros(256), difficulty: '0x0', number: hex(height), gasLimit: '0x1388', gasUsed: '0x0' },
    ...{ timestamp: hex(timestamp), extraData: '0x', mixHash: zeros(32), nonce: zeros(8) },
  }
  const block = { ...header, hash: headerHash(header), transactions: [] }
  const results: Readonly<Record<string, unknown>> = { eth_chainId: hex(1397), eth_getBlockByNumber: block, eth_getBalance: balance }
  const answer = ({ id, method }: { id: number; method: string }) => ({ jsonrpc: '2.0', id, result: results[method] ?? '0x1' })
  return startHostileServer((body, response) => {
    const asked = JSON.parse(body) as { id: number; method: string } | { id: number; method: string }[]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
  })
}
