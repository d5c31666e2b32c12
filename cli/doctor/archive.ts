import { createArchiveStore } from '../../operations/archive/create-store.ts'
import { type Freshness, freshnessOf, readProgress } from '../../operations/archive/transfers.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { retentionHours } from '../../temporal/client/transfers/closed-runs.ts'
import { type Check, fail, type Finding, look, warn } from './check.ts'

/** Whether the archive keeps up with Temporal's retention. Nothing without Temporal: checkTemporal reports that. */
export async function checkArchive({ archive }: Config, temporal: TemporalAccess): Promise<Check[]> {
  if (!archive) return []
  return withTemporalClient(temporal, async (client) => [
    await look('archive', archive.kind === 's3' ? `bucket ${archive.bucket}` : archive.path, async () => {
      const [progress, retention] = await Promise.all([readProgress(createArchiveStore(archive)), retentionHours(client)])
      return findingOf(freshnessOf(progress, retention, Date.now()))
    }),
  ]).catch(() => [])
}

function findingOf({ through, behindHours, retentionHours: retention, state }: Freshness): Finding {
  const said = through === undefined ? 'nothing is archived yet' : `has all transfers that closed before ${through}, ${behindHours} h ago`
  const text = `${said}; Temporal keeps closed workflows ${retention} h`
  if (state === 'fresh') return text
  const remedy = 'portage archive run, by cron or a CronJob; or a longer retention'
  return state === 'late' ? warn(text, remedy) : fail(`${text}: records of closed transfers may be lost`, remedy)
}
