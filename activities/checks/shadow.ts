import { exactAmountText, gweiText } from '../../domain/text/amounts.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Ready, Waiting } from '../../temporal/contracts/transfer-steps.ts'

const mostKept = 10_000
const waitMs = 60_000

/** Holds back a transfer that is ready, because its chain is in shadow mode. @param costWei the call's cost now */
export type Shadow = (transfer: Transfer, ready: Ready, costWei: bigint) => Waiting

export function createShadow(logger: Logger): Shadow {
  const logged = boundedMap<string, true>(mostKept)
  return (transfer, { lane, gasLimit, maxFee, tip }, costWei) => {
    const id = transferId(transfer)
    const cost = String(costWei)
    if (!logged.has(id)) logger.info('would send a delivery (shadow mode)', { transfer: id, lane, gasLimit, maxFee, tip, costWei: cost })
    logged.set(id, true)
    const fee = `${gasLimit} gas at up to ${gweiText(maxFee)}`
    const reason = `${lane} would send a call with ${fee}; it costs ${exactAmountText(cost, 'ether')} now`
    return { kind: 'waiting', code: 'SHADOW_MODE', reason, retryInMs: waitMs }
  }
}
