import { groupBy } from '../group-by.ts'
import { gasPriceText } from '../text/amounts.ts'
import { shortAddress } from '../text/short-id.ts'
import type { TransferTransaction } from './attempts.ts'
import type { TransferState } from './transfer.ts'

export interface TimelineEntry {
  at: number
  state: TransferState
  note: string
}

export function timelineOf(entered: readonly TimelineEntry[], transactions: readonly TransferTransaction[] = []): TimelineEntry[] {
  const nonces = groupBy(transactions, ({ lane, nonce, round }) => `${lane} ${nonce} ${round}`)
  const steps = [...nonces.values()].flatMap((attempts) => attempts.flatMap((one, index) => stepsOf(one, attempts[index - 1])))
  return steps.length === 0 ? [...entered] : [...entered, ...steps].toSorted((one, other) => one.at - other.at)
}

function stepsOf(transaction: TransferTransaction, before: TransferTransaction | undefined): TimelineEntry[] {
  const { nonce, hash, at, acceptedAt, reorgedAt } = transaction
  if (hash === undefined || at === undefined) return []
  const steps: TimelineEntry[] = []
  if (before) steps.push({ at, state: 'pending', note: raiseText(transaction, before) })
  else steps.push({ at, state: 'broadcasting', note: `nonce ${nonce} assigned, ${offerOf(transaction)}` })
  if (acceptedAt !== undefined) steps.push({ at: acceptedAt, state: 'pending', note: `sent: a node accepted ${shortAddress(hash)}` })
  if (reorgedAt !== undefined)
    steps.push({ at: reorgedAt, state: 'pending', note: `reorganised: the block of ${shortAddress(hash)} left the chain` })
  return steps
}

function raiseText(transaction: TransferTransaction, before: TransferTransaction): string {
  if (transaction.kind === before.kind) return `fee raised: ${offerOf(transaction)}`
  return `a ${transaction.kind === 'noop' ? 'no-op' : 'call'} replaces nonce ${transaction.nonce}, ${offerOf(transaction)}`
}

function offerOf({ maxFee, tip }: TransferTransaction): string {
  return `max fee ${gasPriceText(maxFee)}, tip ${gasPriceText(tip)}`
}
