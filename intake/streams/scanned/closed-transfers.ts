import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { ofChain, type Transfer } from '../../../domain/transfer/transfer.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { latestRun } from '../../../temporal/client/transfers/closed-runs.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { isUndelivered } from '../transfer-outcomes.ts'
import { nextHead, type ScannedContext } from './context.ts'

const readsAtOnce = 20

/**
 * Sorts transfers by their latest run. `again`: to start again. `ended`: ended undelivered. A transfer that closed as
 * delivered is left out, or is in `again` if the target lacks the delivery. `isLost` decides about a transfer without a
 * run.
 */
export async function sortedByRun(context: ScannedContext, transfers: readonly Transfer[], isLost: (transfer: Transfer) => boolean) {
  const { client } = context
  const latest = await mapLimited(transfers, readsAtOnce, (transfer) => latestRun(client, transferId(transfer)))
  const isGone = (one: Transfer, index: number) => latest[index] === 'undone' || (latest[index] === 'gone' && isLost(one))
  const gone = transfers.filter(isGone)
  const doubtful = transfers.filter((_, index) => latest[index] === 'delivered')
  const ended = transfers.filter((_, index) => isUndelivered(latest[index]))
  return { again: [...gone, ...(await undelivered(context, doubtful))], ended }
}

/** Returns transfers whose delivery neither one node nor most nodes show at the next head. */
export async function undelivered({ targets, stopping }: ScannedContext, doubtful: readonly Transfer[]): Promise<Transfer[]> {
  const names = [...new Set(doubtful.map(({ targetChain }) => targetChain))]
  await Promise.all(names.map((name) => ofChain(targets, { chain: name })).map(({ chain }) => nextHead(chain, stopping)))
  const shows = async (transfer: Transfer) => {
    const { endpoint } = ofChain(targets, { chain: transfer.targetChain })
    try {
      const shown = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'agreed')])
      return shown.includes(true)
    } catch (error) {
      if (toRelayerError(error).code === 'NODES_DISAGREE') return true
      throw error
    }
  }
  const shown = await Promise.all(doubtful.map(shows))
  return doubtful.filter((_, index) => !shown[index])
}
