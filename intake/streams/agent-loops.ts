import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamView } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { StreamInput } from '../../temporal/contracts/stream.ts'
import { createCheckpointKeeper } from './checkpoint-keeper.ts'
import type { CheckpointStore } from './checkpoints.ts'
import { createConfigReporter, type ConfiguredSource } from './config-changes.ts'
import { type Loop, runLoop } from './loop.ts'
import type { AgentAlarm } from './report.ts'
import { StreamClient } from './stream-client.ts'

export interface AgentLoopsOptions {
  readonly source: ConfiguredSource
  readonly client: TemporalClient
  /** Absent: no checkpoint is kept. */
  readonly checkpoints: CheckpointStore | undefined
  readonly logger: Logger
}

/** Pause of the loops of both kinds, ms. */
const everyMs = 5_000
/** Longest wait for a look that is under way, ms: a read of a node, an answer of a server. */
const graceMs = 5_000

/**
 * One stream in one process: its client, its checkpoint, its alarms, and its loops, of which every kind of source adds its own.
 * @param checkpointKey changes whenever a checkpoint would; undefined: there is nothing worth keeping
 */
export function createAgentLoops(
  { source, client, checkpoints: store, logger }: AgentLoopsOptions,
  begin: () => Promise<StreamInput>,
  checkpointKey: (view: StreamView) => string | undefined,
) {
  const { config } = source
  const stopping = new AbortController()
  // Each loop listens, and so does each wait within one.
  setMaxListeners(0, stopping.signal)
  const alarms = new Set<AgentAlarm>()
  const keeper = createCheckpointKeeper(config, store, alarms, logger)
  const streamClient = new StreamClient({ client, config, logger, begin })
  let running: readonly Promise<void>[] = []

  async function keepCheckpoint(): Promise<boolean> {
    const key = streamClient.view && checkpointKey(streamClient.view)
    if (key !== undefined) await keeper.keep(streamClient, key)
    return false
  }

  return {
    alarms,
    keeper,
    streamClient,
    stopping: stopping.signal,
    start(loops: readonly Loop[]): void {
      const all: readonly Loop[] = [
        ...loops,
        { name: 'config', look: createConfigReporter(source, streamClient, logger), everyMs: () => everyMs },
        { name: 'checkpoint', look: keepCheckpoint, everyMs: () => everyMs },
      ]
      running = all.map((loop) => runLoop({ ...loop, stream: config.stream, stopping: stopping.signal, logger }))
    },
    /** Ends every loop. What was not recorded is found again from the chains. `finish` is called before the client is closed. */
    async stop(finish = async (): Promise<void> => {}): Promise<void> {
      stopping.abort()
      await finish()
      streamClient.close()
      await Promise.race([Promise.all(running), sleep(graceMs, undefined, { ref: false })])
    },
  }
}
