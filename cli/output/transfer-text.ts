import { coinOfChain } from '../../config/networks.ts'
import type { Config } from '../../config/schema/schema.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { TransferRow } from '../../temporal/client/transfers/transfer-list.ts'
import type { TransferReport } from '../../temporal/client/transfers/transfers.ts'
import { agoText } from '../../domain/text/age.ts'
import { shortHexIn, lastPart } from '../../domain/text/short-id.ts'
import { amountCell, facts, gasPriceCell, list, ordersSection, type Part, section, type Text, timeText } from './output.ts'

export function rowsText(rows: readonly TransferRow[]): Part {
  const cells = rows.map(
    ({
      id,
      state,
      execution,
      sourceChain,
      targetChain,
      txHash,
      code,
      startedAt,
      tokenAmount,
      token,
      recipient,
      sourceTxHash,
      paid,
      profit,
    }) => ({
      started: { full: timeText(startedAt), short: agoText(Date.now() - Date.parse(startedAt)) },
      state: execution === 'RUNNING' || execution === 'COMPLETED' ? state : execution.toLowerCase(),
      route: `${sourceChain ?? '?'} → ${targetChain ?? '?'}`,
      code,
      amount: tokenAmount,
      token,
      recipient,
      paid: amountCell(paid, undefined),
      profit: amountCell(profit, undefined),
      'source transaction': sourceTxHash,
      transaction: txHash,
      id: { full: id, short: lastPart(id) },
    }),
  )
  return list('no transfers', cells, { wide: ['amount', 'token', 'recipient', 'paid', 'profit', 'source transaction', 'transaction'] })
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
  const { tokenAmount, token, recipient, sourceTxHash, paid, worth, coins, profit } = report
  const { id, state, mip61, execution, transfer, lane, nonce, txHash, delivery, batch, code, reason, rounds, timeline, orders } = report
  const coin = coinOfChain(config, transfer.targetChain)
  const sourceCoin = coinOfChain(config, transfer.sourceChain)
  const head = facts({
    transfer: id,
    state,
    'MIP-61': mip61,
    workflow: execution,
    from: `${transfer.sourceChain}, emitter ${transfer.emitter}, sequence ${transfer.sequence}`,
    to: transfer.targetChain,
    amount: tokenAmount,
    token,
    recipient,
    'source transaction': sourceTxHash,
    'fee limit per gas': gasPriceCell(transfer.terms?.maxFeePerGas),
    'fee limit': amountCell(transfer.terms?.maxFeePerTransaction, coin),
    'chosen lane': transfer.terms?.lane,
    lane,
    nonce,
    batch,
    transaction: txHash,
    block: delivery?.blockHeight,
    'delivered by': delivery && `${delivery.by ?? 'unknown'}${delivery.ours ? ' (ours)' : ''}`,
    'gas paid': amountCell(delivery?.gasPaid, coin),
    paid: amountCell(paid, sourceCoin),
    'paid, at the prices of the quote': amountCell(worth, coin),
    'coins delivered': amountCell(coins, coin),
    profit: amountCell(profit, coin),
    code,
    reason,
    remedy: state === 'parked' || state === 'waiting' ? code && errorCatalogue[code].remedy : undefined,
    rounds,
  })
  const attempts = section(transactions, ({ nonce, kind: attempt, hash, to, value, gasLimit, gasUsed, maxFee, tip, fate }) => ({
    ...{ nonce, attempt, transaction: hash, to, value: amountCell(value, coin), 'gas limit': gasLimit, 'gas used': gasUsed },
    ...{ 'max fee': gasPriceCell(maxFee), tip: gasPriceCell(tip), fate },
  }))
  const lines = section(timeline, ({ at, state, note }) => {
    const time = new Date(at).toISOString()
    return { time: { full: time, short: timeText(time) }, state, note: { full: note, short: shortHexIn(note) } }
  })
  return [head, ...attempts, ...ordersSection(orders), ...lines]
}
