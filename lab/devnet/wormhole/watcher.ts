import { type Level, watchLogs, type Watcher } from '../chain/watch-logs.ts'
import { artifact } from '../chain/contracts.ts'
import type { Message } from './vaa.ts'
import { published, type WormholeChain } from './wormhole.ts'

/**
 * The level that a consistency level demands on EVM chains: 200 instant, 201 safe, all others finalized (sdk-base,
 * ConsistencyLevels).
 */
export function levelOf(consistencyLevel: number): Level {
  if (consistencyLevel === 200) return 'latest'
  return consistencyLevel === 201 ? 'safe' : 'finalized'
}

const topic = artifact('Implementation').abi.getEvent('LogMessagePublished')?.topicHash ?? ''

/**
 * Reports each message when its block reaches the finality that the message demands. Reports a message again only after
 * a reorg.
 */
export function watchChain(
  { anvil, core, wormholeChainId }: WormholeChain,
  onMessage: (message: Message) => void,
  onError: (error: Error) => void,
): Watcher {
  return watchLogs(
    { anvil, address: core, topic },
    (level, logs) => {
      for (const { transactionHash, timestamp, ...log } of logs) {
        for (const message of published({ transactionHash, blockNumber: 0, timestamp, logs: [log] }, core, wormholeChainId)) {
          if (levelOf(message.consistencyLevel) === level) onMessage(message)
        }
      }
    },
    onError,
  )
}
