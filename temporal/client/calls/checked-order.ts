import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type Order, orderLimits } from '../../../domain/order.ts'
import { redactText } from '../../../observability/redact.ts'

/** Trims an order, redacts its reason. Throws INPUT_INVALID if name or reason is missing or too long. */
export function checkedOrder({ by, reason }: Order): Order {
  return { by: checked('by', by), reason: redactText(checked('reason', reason)) }
}

function checked(field: keyof Order, text: string): string {
  const trimmed = text.trim()
  const longest = orderLimits[field]
  if (trimmed === '') throw new RelayerError('INPUT_INVALID', { detail: `${field}: must be a text: every order has a name and a reason` })
  if (trimmed.length > longest) throw new RelayerError('INPUT_INVALID', { detail: `${field}: must have at most ${longest} characters` })
  return trimmed
}
