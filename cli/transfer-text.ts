import { errorCatalogue } from '../domain/errors.ts'
import type { TransferRow } from '../temporal/client/transfer-list.ts'
import type { TransferReport } from '../temporal/client/transfers.ts'
import { facts, list, ordersSection, section, timeText } from './output.ts'

/** One line per transfer. */
export function rowsText(rows: readonly TransferRow[]): string {
  const cells = rows.map(({ id, state, execution, sourceChain, targetChain, txHash, startedAt }) => [
    timeText(startedAt),
    // An execution that closed without being done says so instead of its last state.
    execution === 'RUNNING' || execution === 'COMPLETED' ? state : execution.toLowerCase(),
    `${sourceChain ?? '?'} → ${targetChain ?? '?'}`,
    txHash,
    id,
  ])
  return list('no transfers', ['started', 'state', 'route', 'transaction', 'id'], cells)
}

/** A transfer: its facts, its transactions, what was ordered of it, its timeline. */
export function reportText(report: TransferReport): string {
  if ('partial' in report) {
    const { partial, ...row } = report
    return `${facts({ ...row })}\n\nOnly a part is known: ${partial}.`
  }
  const {
    id,
    state,
    mip61,
    execution,
    transfer,
    lane,
    nonce,
    txHash,
    delivery,
    batch,
    code,
    reason,
    rounds,
    tried = [],
    timeline,
    orders,
  } = report
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
    'gas paid': delivery?.gasPaid && `${delivery.gasPaid} wei`,
    code,
    reason,
    remedy: state === 'parked' || state === 'waiting' ? code && errorCatalogue[code].remedy : undefined,
    rounds,
  })
  const headings = ['attempt', 'transaction', 'max fee (wei)', 'tip (wei)', 'fate']
  const attempts = section(tried, headings, ({ kind, hash, maxFee, tip, fate }) => [kind, hash, maxFee, tip, fate])
  const lines = section(timeline, ['time', 'state', 'note'], ({ at, state: reached, note }) => [new Date(at).toISOString(), reached, note])
  return [head, ...attempts, ...ordersSection(orders), ...lines].join('\n\n')
}
