import type { Config } from '../config/schema.ts'
import { toRelayerError } from '../domain/errors.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { AuditInput } from '../temporal/contracts/audit.ts'
import { auditGraceMs, auditId } from '../temporal/contracts/audit.ts'
import { chainQueue, searchAttributes } from '../temporal/contracts/names.ts'
import type { Service } from './service.ts'
import type { Client } from '@temporalio/client'
import { ScheduleAlreadyRunning } from '@temporalio/client'

/** Between two tries to set a schedule while Temporal does not take it, and between two looks whether it is still there, ms: a wiped Temporal has none. */
const againMs = 15_000

/**
 * Sets the schedule of a chain's audits, and brings one that is there to what the config says; every process of the chain does so, with the same
 * result, and sets it again where it is gone. An operator's pause stays. Tries in the background until Temporal takes it: no audit is a reason to deliver
 * nothing.
 */
export function scheduleAudits(options: { client: Client; config: Config; chain: ChainName; logger: Logger }): Service {
  const { client, config, chain, logger } = options
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let isSet = false
  let isTold = false
  const set = async () => {
    try {
      await setSchedule(client, chain, config.audit, isSet)
      isSet = true
      isTold = false
    } catch (error) {
      if (!isTold && !stopped)
        logger.warn('the schedule of the audits could not be set; trying again', { chain, reason: toRelayerError(error).message })
      isTold = true
    }
    if (stopped) return
    timer = setTimeout(() => {
      setting = set()
    }, againMs)
  }
  let setting = set()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await setting
    },
  }
}

/** @param wasSet only if it is gone: what an operator has changed since is kept */
async function setSchedule(client: Client, chain: ChainName, audit: Config['audit'], wasSet: boolean): Promise<void> {
  const input: AuditInput = { chain, hours: audit.hours, graceMs: auditGraceMs }
  const schedule = {
    spec: { intervals: [{ every: audit.everyMinutes * 60_000 }] },
    // What was missed while Temporal was down, the next one sees as well.
    policies: { overlap: 'SKIP' as const, catchupWindow: 60_000 },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'audit',
      workflowId: auditId(chain),
      taskQueue: chainQueue(chain),
      args: [input],
      typedSearchAttributes: [{ key: searchAttributes.TargetChain, value: chain }],
      staticSummary: `what was delivered on ${chain} in the last ${audit.hours} hours`,
    },
  }
  try {
    await client.schedule.create({ scheduleId: auditId(chain), ...schedule })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    if (wasSet) return
    await client.schedule.getHandle(auditId(chain)).update(({ state }) => ({ ...schedule, state }))
  }
}

/** What the audits of this process find, told to people: a line of the log at its level, and the metrics. */
export function auditAlarms(logger: Logger, metrics: Pick<Metrics, 'effectsUndone' | 'transfersReopened' | 'auditsDone'>) {
  return {
    onUndone(chain: ChainName, transfer: string) {
      metrics.effectsUndone.inc({ chain })
      logger.error('a delivered effect is gone: the chain was reorganised deeper than finality; the transfer is delivered again', {
        chain,
        transfer,
      })
    },
    onReopened(chain: ChainName, transfer: string) {
      metrics.transfersReopened.inc({ chain })
      logger.warn('a transfer was closed without an outcome; it is started again', { chain, transfer })
    },
    onIdle(chain: ChainName, transfer: string) {
      metrics.transfersReopened.inc({ chain })
      logger.warn('a transfer stood still, as after a Temporal was set back under its process; it is started over', {
        chain,
        transfer,
      })
    },
    onDone(chain: ChainName) {
      metrics.auditsDone.inc({ chain })
    },
  }
}
