import type { StreamView } from '../domain/stream/stream.ts'
import type { Logger } from '../observability/logger.ts'
import type { CheckpointKeeper } from './checkpoint-keeper.ts'
import { createConfigReporter, type ConfiguredSource } from './config-changes.ts'
import { type Loop, runLoop } from './loop.ts'
import type { StreamClient } from './stream-client.ts'
import { setTimeout as sleep } from 'node:timers/promises'

export interface AgentLoopsOptions {
  readonly source: ConfiguredSource
  readonly streamClient: StreamClient
  readonly keeper: Pick<CheckpointKeeper, 'keep'>
  /** Changes whenever a checkpoint would say something else; undefined: there is nothing worth keeping. */
  readonly checkpointKey: (view: StreamView) => string | undefined
  readonly stopping: AbortController
  readonly logger: Logger
}

/** Pauses, ms. */
const every = { checkpointMs: 5_000, configMs: 5_000 } as const

/** Longest wait for a look that is under way, ms: a read of a node, an answer of a server. */
const graceMs = 5_000

/** The loops of one stream in one process: those of its kind of source, its config's and its checkpoint's. */
export function createAgentLoops({ source, streamClient, keeper, checkpointKey, stopping, logger }: AgentLoopsOptions) {
  const { stream } = source.config
  let running: readonly Promise<void>[] = []

  async function keepCheckpoint(): Promise<boolean> {
    const key = streamClient.view && checkpointKey(streamClient.view)
    if (key !== undefined) await keeper.keep(streamClient, key)
    return false
  }

  return {
    start(loops: readonly Loop[]): void {
      const all: readonly Loop[] = [
        ...loops,
        { name: 'config', look: createConfigReporter({ source, streamClient, logger }), everyMs: () => every.configMs },
        { name: 'checkpoint', look: keepCheckpoint, everyMs: () => every.checkpointMs },
      ]
      running = all.map((loop) => runLoop({ ...loop, stream, stopping: stopping.signal, logger }))
    },
    /** Ends every loop. What was not recorded is found again from the chains. */
    async stop(): Promise<void> {
      stopping.abort()
      streamClient.close()
      const ended = new AbortController()
      const grace = sleep(graceMs, undefined, { signal: ended.signal }).catch(() => {})
      await Promise.race([Promise.all(running), grace])
      ended.abort()
    },
  }
}
