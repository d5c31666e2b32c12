import type { Code } from '../../domain/catalogue/catalogue.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Found } from '../../activities/audit/audit.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { setAuditSchedule } from '../../temporal/client/streams/audits.ts'
import type { ProcessParts, Service } from './context.ts'
import { problemOf } from '../../observability/severity.ts'

/** Between two tries to set the schedule, and between two checks that it is still there, ms: a wiped Temporal has none. */
const againMs = 15_000

/**
 * Keeps the schedule of a chain's audits as the config says, in the background: transfers are delivered without it. Every process of the chain does so, with
 * the same result. An operator's pause stays.
 */
export function scheduleAudits(chain: ChainName, { client, config, logger }: ProcessParts): Service {
  const stopping = new AbortController()
  const { signal } = stopping
  const keep = async () => {
    let isSet = false
    let isLogged = false
    while (!signal.aborted) {
      try {
        await setAuditSchedule(client, chain, config.audit, { onlyIfMissing: isSet })
        isSet = true
        isLogged = false
      } catch (error) {
        if (!isLogged && !signal.aborted)
          logger.warn('the schedule of the audits could not be set; trying again', { chain, ...problemOf(error) })
        isLogged = true
      }
      await delay(againMs, undefined, { signal }).catch(() => {})
    }
  }
  const kept = keep()
  return {
    stop() {
      stopping.abort()
      return kept
    },
  }
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

/** Logs and counts what the audits of a chain find in this process. Counters begin at 0: an alert on their growth does not see a first value of 1. */
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
