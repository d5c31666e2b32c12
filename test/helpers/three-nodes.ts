import { id } from 'ethers'
import { createEvmChain } from '../../chains/evm/index.ts'
import { headerHash } from '../../chains/evm/heads/blocks.ts'
import { cleanUp } from './clean-up.ts'
import { head } from './heads.ts'
import { startHostileServer } from './hostile-server.ts'

export type RawBlock = Record<string, unknown> & { readonly hash: string; readonly parentHash: string }

/** Changes a block that is asked for by its number. `null`: the node denies that it has the block. */
export type Lie = (block: RawBlock, height: number) => RawBlock | null

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`
const hex = (value: number) => `0x${value.toString(16)}`

function seal(height: number, parentHash: string, isOdd: boolean): RawBlock {
  const roots = { stateRoot: zeros(32), transactionsRoot: zeros(32), receiptsRoot: zeros(32), sha3Uncles: zeros(32), mixHash: zeros(32) }
  // The bloom filter excludes no log.
  const fields = { miner: zeros(20), logsBloom: `0x${'ff'.repeat(256)}`, difficulty: '0x0', extraData: '0x', nonce: zeros(8) }
  const numbers = { number: hex(height), gasLimit: '0x1388', gasUsed: '0x0', timestamp: hex(1_700_000_000 + height) }
  return resealed({ parentHash, ...roots, ...fields, ...numbers, transactions: [] }, isOdd)
}

/** The block with the hash of its content. `isOdd`: by other rules than Ethereum's. */
export function resealed(block: Record<string, unknown> & { readonly parentHash: string }, isOdd = false): RawBlock {
  const hash = headerHash(block) ?? ''
  return { ...block, hash: isOdd ? id(hash) : hash }
}

const chains = { usual: [] as RawBlock[], odd: [] as RawBlock[] }

/** The blocks of the chain, from 0 up to `height`. */
export function trueBlocks(height: number, isOdd = false): readonly RawBlock[] {
  const blocks = isOdd ? chains.odd : chains.usual
  while (blocks.length <= height) blocks.push(seal(blocks.length, blocks.at(-1)?.hash ?? zeros(32), isOdd))
  return blocks
}

interface NodesOptions {
  /** Default: 3. Only the first one lies. */
  readonly count?: number
  /** Whether block hashes follow other rules than Ethereum's. */
  readonly isOdd?: boolean
}

/**
 * A chain like Ethereum, where blocks become final by epochs of 32, with nodes that answer over HTTP. The first node is
 * asked first, and lies as `state` says. `state.asked`: heights of the blocks that were asked for by their number.
 */
export async function startThreeNodes(latest: number, { count = 3, isOdd = false }: NodesOptions = {}) {
  const state = { latest, lie: undefined as Lie | undefined, logs: [] as readonly unknown[], lies: 0, asked: [] as number[] }
  const finalized = () => Math.floor(state.latest / 32) * 32 - 64

  function blockAt(at: unknown, isFirst: boolean): RawBlock | null {
    const height = at === 'latest' ? state.latest : at === 'finalized' ? finalized() : Number(at)
    const block = height <= state.latest ? (trueBlocks(height, isOdd)[height] ?? null) : null
    if (at === 'latest' || at === 'finalized') return block
    state.asked.push(height)
    if (!isFirst || !state.lie || !block) return block
    const shown = state.lie(block, height)
    if (shown !== block) state.lies++
    return shown
  }

  function answer({ method, params }: Call, isFirst: boolean): unknown {
    if (method === 'eth_chainId') return '0x1'
    if (method === 'eth_syncing') return false
    if (method === 'eth_getLogs') return isFirst ? state.logs : []
    if (method === 'eth_blockNumber') return hex(state.latest)
    if (method === 'eth_getBlockByNumber') return blockAt(params[0], isFirst)
    return undefined
  }

  const start = (isFirst: boolean) =>
    startHostileServer((body, response) => {
      const asked = JSON.parse(body) as Call | readonly Call[]
      const reply = (call: Call) => {
        const result = answer(call, isFirst)
        const said = result === undefined ? { error: { code: -32_601, message: `${call.method} does not exist` } } : { result }
        return { jsonrpc: '2.0', id: call.id, ...said }
      }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(reply) : reply(asked as Call)))
    })
  const urls = await Promise.all(Array.from({ length: count }, (_, index) => start(index === 0)))
  const nodes = urls.map((url) => ({ url }))
  const chain = createEvmChain({ name: 'a', networkId: 1, nodes, finality: { kind: 'tag' }, blockTimeMs: 200 })
  cleanUp(() => chain.close())
  await chain.connect()
  return {
    chain,
    state,
    finalized,
    async grow(height: number): Promise<void> {
      state.latest = height
      await head(chain, (now) => now.finalized === finalized())
    },
    /** State and failures of each node. */
    health: () => chain.nodes().map(({ state: now, failures }) => [now, failures]),
  }
}
