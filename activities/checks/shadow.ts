import type { Intent } from '../../domain/lane/lane.ts'
import { type ShadowCall, shadowReason } from '../../domain/transfer/shadow.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Ready, Waiting } from '../../temporal/contracts/transfer-steps.ts'

const mostKept = 10_000
const waitMs = 60_000

/** Holds back a ready transfer in shadow mode. `costWei` is the current cost of the call. */
export type Shadow = (transfer: Transfer, ready: Ready, call: { readonly intent: Intent; readonly costWei: bigint }) => Waiting

/** Returns a Shadow that logs and counts each transfer once per process. */
export function createShadow(
  logger: Logger,
  metrics: Pick<Metrics, 'portage_shadow_deliveries_total' | 'portage_shadow_cost_wei_total'>,
): Shadow {
  const logged = boundedMap<string, true>(mostKept)
  return (transfer, { lane, gasLimit, maxFee, tip }, { intent: { to, data }, costWei }) => {
    const id = transferId(transfer)
    const cost = String(costWei)
    if (!logged.has(id)) {
      const labels = { chain: transfer.targetChain, bridge: transfer.bridge }
      metrics.portage_shadow_deliveries_total.inc(labels)
      metrics.portage_shadow_cost_wei_total.inc(labels, Number(costWei))
      logger.info('would send a delivery (shadow mode)', { transfer: id, lane, gasLimit, maxFee, tip, costWei: cost })
    }
    logged.set(id, true)
    const shadowCall: ShadowCall = { lane, to, selector: data.slice(0, 10), gasLimit, maxFee, cost }
    return { kind: 'waiting', code: 'SHADOW_MODE', reason: shadowReason(shadowCall), shadowCall, retryInMs: waitMs }
  }
}
