import type { Code } from '../../domain/catalogue/catalogue.ts'
import type { Found } from '../../activities/audit/audit.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { setAuditSchedule } from '../../temporal/client/streams/audits.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import type { ProcessParts } from './context.ts'
import { problemOf } from '../../observability/severity.ts'

/** Interval at which the schedule is set or checked, ms. A wiped Temporal has none. */
const againMs = 15_000

/** Keeps the schedule of a chain's audits as configured. An operator's pause stays. */
export function scheduleAudits(chain: ChainName, { client, config, logger }: ProcessParts): Service {
  let isSet = false
  let isLogged = false
  const keep = async () => {
    await setAuditSchedule(client, chain, config.audit, { onlyIfMissing: isSet })
    isSet = true
    isLogged = false
  }
  const onError = (error: unknown) => {
    if (!isLogged) logger.warn('the schedule of the audits could not be set; trying again', { chain, ...problemOf(error) })
    isLogged = true
  }
  return startPolling(keep, { everyMs: againMs, onError })
}

const recovered: Readonly<Record<Found, { readonly code: Code; readonly text: string }>> = {
  undone: {
    code: 'EFFECT_UNDONE',
    text: 'a delivered effect is gone: the chain was reorganised deeper than finality; the transfer is delivered again',
  },
  reopened: { code: 'TRANSFER_REOPENED', text: 'a transfer was closed without an outcome; it is started again' },
  idle: {
    code: 'TRANSFER_RESET',
    text: 'a transfer made no progress, as after Temporal was set back under its process; it is reset to its first task',
  },
}

/** Counters begin at 0: an alert on growth does not see a first value of 1. */
export function auditAlarms(audited: ChainName, { logger, metrics }: Pick<ProcessParts, 'logger' | 'metrics'>) {
  const { portage_effects_undone_total: undone, portage_transfers_reopened_total: reopened, portage_audits_total: audits } = metrics
  for (const counter of [undone, reopened, audits]) counter.inc({ chain: audited }, 0)
  return {
    onRecovered(found: Found, chain: ChainName, transfer: string) {
      const counter = found === 'undone' ? undone : reopened
      counter.inc({ chain })
      const { code, text } = recovered[found]
      logger[found === 'undone' ? 'error' : 'warn'](text, { code, chain, transfer })
    },
    onDone(chain: ChainName) {
      audits.inc({ chain })
    },
  }
}
