import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import type { RunId } from '../../temporal/client/runs.ts'
import { storedTransfer } from '../../temporal/client/start-transfer.ts'

/** First events of closed runs that are read at a time. */
const readsAtOnce = 20
/** Most transfers of closed runs that a process caches: they never change, and every audit of the next hours reads them again. */
const mostCached = 20_000

export interface StoredTransfer {
  readonly run: RunId
  readonly transfer: Transfer
}

/** Loads the transfers that closed runs were started with, in the order of the runs. Throws what the Temporal client throws. */
export function createStoredTransfers(client: TemporalClient) {
  const cache = new Map<string, Transfer>()

  async function load(run: RunId): Promise<StoredTransfer> {
    const known = cache.get(run.runId)
    if (known) return { run, transfer: known }
    const transfer = await storedTransfer(client, run.workflowId, run.runId)
    const [oldest] = cache.keys()
    if (cache.size >= mostCached && oldest !== undefined) cache.delete(oldest)
    cache.set(run.runId, transfer)
    return { run, transfer }
  }

  return async function loadAll(runs: readonly RunId[]): Promise<StoredTransfer[]> {
    const found: StoredTransfer[] = []
    for (let at = 0; at < runs.length; at += readsAtOnce) {
      found.push(...(await Promise.all(runs.slice(at, at + readsAtOnce).map(load))))
    }
    return found
  }
}
