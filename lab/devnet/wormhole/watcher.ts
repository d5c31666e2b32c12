import { artifact, type Mined } from '../chain/contracts.ts'
import { postJson } from '../chain/post.ts'
import type { Message } from './vaa.ts'
import { published, type WormholeChain } from './wormhole.ts'

/** How sure a guardian must be of a block before it signs what is in it. */
const levels = ['latest', 'safe', 'finalized'] as const
type Level = (typeof levels)[number]

/** On EVM chains: 200 instant, 201 safe, anything else finalized (sdk-base, ConsistencyLevels). */
export function levelOf(consistencyLevel: number): Level {
  if (consistencyLevel === 200) return 'latest'
  return consistencyLevel === 201 ? 'safe' : 'finalized'
}

/** The last block that was read at each level. */
type Cursors = Record<Level, { height: number; hash: string }>

interface RawBlock {
  number: string
  hash: string
  parentHash: string
  timestamp: string
  /** All zeros: nothing in the block has logged anything. */
  logsBloom: string
}

type RawLog = Mined['logs'][number] & { blockHash: string; transactionHash: string; removed?: boolean }

/** Reports each message once its block has reached the level that the message asks for; again only after a reorg. */
export interface Watcher {
  /** Resolves after the look that is under way. */
  stop(): Promise<void>
}

/**
 * Watches LogMessagePublished of one chain's core contract from the first block on. Each level has its own cursor: a
 * message is read only from blocks that have reached its level, so a reorg above it can't produce a false one.
 */
export function watchChain(chain: WormholeChain, onMessage: (message: Message) => void, onError: (error: Error) => void): Watcher {
  const cursors: Cursors = {
    latest: { height: -1, hash: '' },
    safe: { height: -1, hash: '' },
    finalized: { height: -1, hash: '' },
  }
  let seen = ''
  const pollMs = Math.min(500, Math.max(50, chain.anvil.blockTimeSeconds * 800))
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}
  const loop = (async () => {
    while (!stopped) {
      try {
        seen = await look(chain, cursors, seen, onMessage)
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)))
      }
      if (stopped) break
      await new Promise<void>((resolve) => {
        wake = resolve
        timer = setTimeout(resolve, pollMs)
      })
    }
  })()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      wake()
      await loop
    },
  }
}

/**
 * Reads new blocks at each level, or nothing if the head is still the one that was `seen` when all levels had been
 * read. Returns the head for the next call.
 */
async function look(chain: WormholeChain, cursors: Cursors, seen: string, onMessage: (message: Message) => void): Promise<string> {
  const heads = await headsOf(chain)
  const head = heads.latest
  if (head.hash === seen) return seen
  for (const level of levels) {
    const cursor = cursors[level]
    const block = heads[level]
    const height = Number(block.number)
    if (height === cursor.height && block.hash === cursor.hash) continue
    const follows = height === cursor.height + 1 && block.parentHash === cursor.hash
    const isForked = !follows && (await forked(chain, cursor, height))
    const from = isForked ? Math.min(cursors.finalized.height, height - 1) + 1 : cursor.height + 1
    const found = follows && noLogs.test(block.logsBloom) ? [] : await messages(chain, from, height)
    for (const message of found) {
      if (levelOf(message.consistencyLevel) === level) onMessage(message)
    }
    cursor.height = height
    cursor.hash = block.hash
  }
  return head.hash
}

const noLogs = /^0x0*$/

/** In one request, which costs a third of three. */
async function headsOf({ anvil }: WormholeChain): Promise<Record<Level, RawBlock>> {
  const calls = levels.map((level, id) => ({ jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params: [level, false] }))
  const answers = (await postJson(anvil.url, calls)) as { result: RawBlock }[]
  return Object.fromEntries(levels.map((level, index) => [level, answers[index]!.result])) as Record<Level, RawBlock>
}

/** Whether the block at the cursor is no longer canonical. */
async function forked(chain: WormholeChain, cursor: { height: number; hash: string }, height: number): Promise<boolean> {
  if (cursor.height < 0) return false
  if (height <= cursor.height) return true
  const there = await chain.anvil.rpc<RawBlock | null>('eth_getBlockByNumber', [hex(cursor.height), false])
  return there?.hash !== cursor.hash
}

const topic = artifact('Implementation').abi.getEvent('LogMessagePublished')?.topicHash

async function messages(chain: WormholeChain, from: number, to: number): Promise<Message[]> {
  if (from > to) return []
  const range = { address: chain.core, topics: [topic], fromBlock: hex(Math.max(0, from)), toBlock: hex(to) }
  const logs = await chain.anvil.rpc<RawLog[]>('eth_getLogs', [range])
  const times = new Map<string, number>()
  for (const { blockHash } of logs) {
    if (times.has(blockHash)) continue
    const block = await chain.anvil.rpc<RawBlock>('eth_getBlockByHash', [blockHash, false])
    times.set(blockHash, Number(block.timestamp))
  }
  return logs.flatMap((log) => {
    const timestamp = times.get(log.blockHash) ?? 0
    return published({ transactionHash: log.transactionHash, blockNumber: 0, timestamp, logs: [log] }, chain.core, chain.wormholeChainId)
  })
}

function hex(height: number): string {
  return `0x${height.toString(16)}`
}
