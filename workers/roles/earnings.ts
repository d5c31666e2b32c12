import type { Bridges } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { StepTimes } from '../../observability/step-times.ts'

/** Counts what the fee of a transfer is worth once we have delivered it and its effect is final: at the prices of the config, and only where there is one. */
export function withEarnings(
  times: StepTimes,
  bridges: Pick<Bridges, 'get'>,
  metrics: Pick<Metrics, 'portage_fees_earned_wei_total'>,
): StepTimes {
  return {
    ...times,
    delivered(transfer, seenAt) {
      times.delivered(transfer, seenAt)
      const wei = earnedBy(bridges, transfer)
      const { bridge, targetChain: chain } = transfer
      if (wei !== undefined && wei > 0n) metrics.portage_fees_earned_wei_total.inc({ chain, bridge }, Number(wei))
    },
  }
}

/** A delivery does not fail for what is only counted. */
function earnedBy(bridges: Pick<Bridges, 'get'>, transfer: Transfer): bigint | undefined {
  try {
    return bridges.get(transfer.bridge)?.endpoint(transfer.targetChain).earned?.(transfer)
  } catch {
    return undefined
  }
}
