import { setMaxListeners } from 'node:events'
import type { StreamView } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import { within } from '../../runtime/wait.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { StreamInput } from '../../temporal/contracts/stream.ts'
import { type CheckpointStore, createCheckpointKeeper } from './checkpoints.ts'
import { type ConfiguredSource, createConfigReporter } from './config-changes.ts'
import { type Loop, runLoop } from './loop.ts'
import { StreamClient } from './stream-client.ts'
import type { AgentAlarm } from './stream-metrics.ts'

export interface AgentLoopsOptions {
  readonly source: ConfiguredSource
  readonly client: TemporalClient
  readonly checkpoints: CheckpointStore | undefined
  readonly logger: Logger
}

const everyMs = 5_000
const graceMs = 5_000

export function createAgentLoops(
  { source, client, checkpoints: store, logger }: AgentLoopsOptions,
  begin: () => Promise<StreamInput>,
  checkpointKey: (view: StreamView) => string | undefined,
) {
  const { config } = source
  const stopping = new AbortController()
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
        { name: 'config', step: createConfigReporter(source, streamClient, logger), everyMs: () => everyMs },
        { name: 'checkpoint', step: keepCheckpoint, everyMs: () => everyMs },
      ]
      running = all.map((loop) => runLoop({ ...loop, stream: config.stream, stopping: stopping.signal, logger }))
    },
    /** Stops the loops, perhaps before everything is recorded. After the next start, the agent finds the rest again. */
    async stop(finish = async (): Promise<void> => {}): Promise<void> {
      stopping.abort()
      await finish()
      streamClient.close()
      await within(graceMs, Promise.all(running), () => undefined)
    },
  }
}
