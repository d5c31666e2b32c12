import { coinOfChain } from '../../config/coins.ts'
import type { Config } from '../../config/schema/schema.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { TransferRow } from '../../temporal/client/transfers/transfer-list.ts'
import type { TransferReport } from '../../temporal/client/transfers/transfers.ts'
import { agoText } from '../../domain/text/age.ts'
import { shortHexIn, shortTransfer } from '../../domain/text/short-id.ts'
import { amountCell, facts, gasPriceCell, list, ordersSection, type Part, section, type Text, timeText } from './output.ts'

export function rowsText(rows: readonly TransferRow[]): Part {
  const cells = rows.map(({ id, state, execution, sourceChain, targetChain, txHash, code, startedAt }) => [
    { full: timeText(startedAt), short: agoText(Date.now() - Date.parse(startedAt)) },
    execution === 'RUNNING' || execution === 'COMPLETED' ? state : execution.toLowerCase(),
    `${sourceChain ?? '?'} → ${targetChain ?? '?'}`,
    code,
    txHash,
    { full: id, short: shortTransfer(id) },
  ])
  return list('no transfers', ['started', 'state', 'route', 'code', { name: 'transaction', wide: true }, 'id'], cells)
}

export function reportText(
  report: TransferReport,
  config: Pick<Config, 'chains'>,
  transactions: readonly TransferTransaction[] = [],
): Text {
  if ('partial' in report) {
    const { partial, ...row } = report
    return [facts({ ...row }), `The report is incomplete: ${partial}.`]
  }
  const { id, state, mip61, execution, transfer, lane, nonce, txHash, delivery, batch, code, reason, rounds, timeline, orders } = report
  const head = facts({
    transfer: id,
    state,
    'MIP-61': mip61,
    workflow: execution,
    from: `${transfer.sourceChain}, emitter ${transfer.emitter}, sequence ${transfer.sequence}`,
    to: transfer.targetChain,
    lane,
    nonce,
    batch,
    transaction: txHash,
    block: delivery?.blockHeight,
    'delivered by': delivery && `${delivery.by ?? 'unknown'}${delivery.ours ? ' (ours)' : ''}`,
    'gas paid': amountCell(delivery?.gasPaid, coinOfChain(config, transfer.targetChain)),
    code,
    reason,
    remedy: state === 'parked' || state === 'waiting' ? code && errorCatalogue[code].remedy : undefined,
    rounds,
  })
  const attempts = section(transactions, ['nonce', 'attempt', 'transaction', 'max fee', 'tip', 'fate'], (one) => {
    return [one.nonce, one.kind, one.hash, gasPriceCell(one.maxFee), gasPriceCell(one.tip), one.fate]
  })
  const lines = section(timeline, ['time', 'state', 'note'], ({ at, state: reached, note }) => {
    const time = new Date(at).toISOString()
    return [{ full: time, short: timeText(time) }, reached, { full: note, short: shortHexIn(note) }]
  })
  return [head, ...attempts, ...ordersSection(orders), ...lines]
}
