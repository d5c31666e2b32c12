import { postJson } from './post.ts'
import type { Anvil } from './anvil.ts'
import type { Mined } from './contracts.ts'

export const levels = ['latest', 'safe', 'finalized'] as const
export type Level = (typeof levels)[number]

type Cursors = Record<Level, { height: number; hash: string }>

interface RawBlock {
  number: string
  hash: string
  parentHash: string
  timestamp: string
  /** All zeros if the block has no logs. */
  logsBloom: string
}

export type RawLog = Mined['logs'][number] & { blockHash: string; transactionHash: string; blockNumber: string; logIndex: string }

export type WatchedLog = RawLog & { readonly timestamp: number }

export interface Watcher {
  /** Resolves after the current poll. */
  stop(): Promise<void>
}

interface Watched {
  readonly anvil: Anvil
  readonly address: string
  readonly topic: string
}

/**
 * Watches the logs of one contract, starting with the first block. Reports each log three times: when its block is
 * latest, safe and finalized. Reports a log again after a reorg. Each level reads only its own blocks, so a reorg of
 * newer blocks cannot produce a false log.
 */
export function watchLogs(
  watched: Watched,
  onLogs: (level: Level, logs: readonly WatchedLog[]) => void,
  onError: (error: Error) => void,
): Watcher {
  const cursors: Cursors = {
    latest: { height: -1, hash: '' },
    safe: { height: -1, hash: '' },
    finalized: { height: -1, hash: '' },
  }
  let seen = ''
  const pollMs = Math.min(500, Math.max(50, watched.anvil.blockTimeSeconds * 800))
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}
  const loop = (async () => {
    while (!stopped) {
      try {
        seen = await look(watched, cursors, seen, onLogs)
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

/** Reads new blocks at each level, unless the head is still `seen`. Returns the head for the next call. */
async function look(watched: Watched, cursors: Cursors, seen: string, onLogs: Parameters<typeof watchLogs>[1]): Promise<string> {
  const { anvil } = watched
  const heads = await headsOf(anvil)
  const head = heads.latest
  if (head.hash === seen) return seen
  for (const level of levels) {
    const cursor = cursors[level]
    const block = heads[level]
    const height = Number(block.number)
    if (height === cursor.height && block.hash === cursor.hash) continue
    const follows = height === cursor.height + 1 && block.parentHash === cursor.hash
    const isForked = !follows && (await forked(anvil, cursor, height))
    const from = isForked ? Math.min(cursors.finalized.height, height - 1) + 1 : cursor.height + 1
    const found = follows && noLogs.test(block.logsBloom) ? [] : await logsIn(watched, from, height)
    if (found.length > 0) onLogs(level, found)
    cursor.height = height
    cursor.hash = block.hash
  }
  return head.hash
}

const noLogs = /^0x0*$/

/** Reads all heads in one request, because three requests cost three times as much. */
async function headsOf(anvil: Anvil): Promise<Record<Level, RawBlock>> {
  const calls = levels.map((level, id) => ({ jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params: [level, false] }))
  const answers = (await postJson(anvil.url, calls)) as { result: RawBlock }[]
  return Object.fromEntries(levels.map((level, index) => [level, answers[index]!.result])) as Record<Level, RawBlock>
}

async function forked(anvil: Anvil, cursor: { height: number; hash: string }, height: number): Promise<boolean> {
  if (cursor.height < 0) return false
  if (height <= cursor.height) return true
  const there = await anvil.rpc<RawBlock | null>('eth_getBlockByNumber', [hex(cursor.height), false])
  return there?.hash !== cursor.hash
}

async function logsIn({ anvil, address, topic }: Watched, from: number, to: number): Promise<WatchedLog[]> {
  if (from > to) return []
  const range = { address, topics: [topic], fromBlock: hex(Math.max(0, from)), toBlock: hex(to) }
  const logs = await anvil.rpc<RawLog[]>('eth_getLogs', [range])
  const times = new Map<string, number>()
  for (const { blockHash } of logs) {
    if (times.has(blockHash)) continue
    const block = await anvil.rpc<RawBlock>('eth_getBlockByHash', [blockHash, false])
    times.set(blockHash, Number(block.timestamp))
  }
  return logs.map((log) => ({ ...log, timestamp: times.get(log.blockHash) ?? 0 }))
}

function hex(height: number): string {
  return `0x${height.toString(16)}`
}
