import type { Client } from '@temporalio/client'
import type { StreamNames } from '../../domain/stream/stream.ts'
import { startTemporal } from '../../lab/devnet/temporal/temporal.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createLedgerWorker } from '../../workers/roles/chain.ts'
import { connectTemporal } from '../../workers/process/temporal.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'

/** A Temporal server with one worker, for the queue `ledger`. */
export interface StreamStage {
  /** host:port of the server. */
  readonly address: string
  readonly client: Client
  rest(): Promise<void>
  stop(): Promise<void>
}

/** @param streamNames names in the config of the commands that a test runs */
export async function startStreamStage(streamNames?: StreamNames): Promise<StreamStage> {
  const logger = silentLogger()
  const server = await startTemporal({ inMemory: true, headless: true })
  const { address } = server
  const temporal = await connectTemporal({ address, namespace: 'default', streamNames }, logger)
  const worker = await createLedgerWorker({ temporal, logger, tuning: { ...defaultTuning, graceMs: 0 } })
  const running = worker.run()
  let resting: Promise<void> | undefined
  const rest = () => {
    if (!resting) worker.shutdown()
    return (resting ??= running)
  }
  return {
    address,
    client: temporal.client,
    rest,
    async stop() {
      await rest()
      await temporal.connection.close()
      await server.stop()
    },
  }
}
