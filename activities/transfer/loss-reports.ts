import { problemOf } from '../../observability/severity.ts'
import type { Quarantine } from './losses.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { transferId } from '../../temporal/contracts/names.ts'

/** Tells operators who is set aside (QUARANTINED), and which losses could not be counted. */
export interface LossReports {
  setAside(transfer: Transfer, txHash: string, aside: Quarantine): void
  /** Reads failed: it is counted if it is seen again. */
  uncounted(transfer: Transfer, txHash: string, error: unknown): void
}

const messages: Readonly<Record<Quarantine['kind'], string>> = {
  recipient: 'a recipient is set aside',
  token: 'a token is set aside',
  batch: 'transfers go alone, since a batch of theirs reverted',
}

/** Reports of a process: a line for each, and a count. */
export function createLossReports({ logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics }): LossReports {
  return {
    setAside(transfer, txHash, { kind, until, reason }) {
      metrics.portage_set_aside_total.inc({ chain: transfer.targetChain, kind })
      const facts = { transfer: transferId(transfer), txHash, reason, until: new Date(until).toISOString() }
      logger.warn(messages[kind], { code: 'QUARANTINED', ...facts })
    },
    uncounted(transfer, txHash, error) {
      logger.warn('a loss is not counted yet, since reads failed', { transfer: transferId(transfer), txHash, ...problemOf(error) })
    },
  }
}
