import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import type { Refusals } from '../kit/verdict.ts'
import { readOutbound } from './contracts.ts'
import { createVerifiedMessages, type VerifiedMessages } from '../kit/verified-messages.ts'
import { type NativeMessage, type NativeRoute, readMessage, type Routes } from './message.ts'

export interface ReadableRoute extends NativeRoute {
  readonly source: ContractReader
  /** Maximum number of completions in one transaction. Absent: no batches. */
  readonly batch?: number | undefined
  /** Minimum amount, decimal: transfers of smaller amounts are declined. Absent: 0. */
  readonly minimumAmount?: string | undefined
}

/** Checks messages against the source's finalized table, as most nodes show it. Throws NATIVE_* and read errors. */
export function createVerifier(routes: Pick<Routes<ReadableRoute>, 'of'>, verified: VerifiedMessages = createVerifiedMessages()) {
  return async function verify(bytes: Uint8Array): Promise<void> {
    const message = readMessage(bytes)
    const route = routes.of(message)
    await verified.once(bytes, '', () => checkTable(message, route))
  }
}

async function checkTable(message: NativeMessage, { source, sourceBridge }: ReadableRoute): Promise<void> {
  const { id, initiator, recipient, amount, nonce } = message
  const recorded = await readOutbound(source, sourceBridge, nonce, 'agreed')
  const facts = { chain: source.name, nonce: String(nonce), id }
  if (!recorded) throw new RelayerError('NATIVE_NOT_FINAL', { facts })
  const same = recorded.id === id && recorded.initiator === initiator && recorded.recipient === recipient && recorded.amount === amount
  if (!same) throw new RelayerError('NATIVE_TABLE_MISMATCH', { facts: { ...facts, recorded: recorded.id } })
}

/** No refusal halts a route, because anyone can submit a message. */
export const refusals: Refusals = {
  MESSAGE_MISMATCH: { kind: 'rejected' },
  NATIVE_MESSAGE: { kind: 'rejected' },
  NATIVE_ID_MISMATCH: { kind: 'rejected' },
  NATIVE_TABLE_MISMATCH: { kind: 'rejected' },
  NATIVE_NOT_FINAL: { kind: 'wait' },
  // The route may have been removed from the config, so the message itself may be valid.
  NATIVE_ROUTE_UNKNOWN: { kind: 'declined' },
  AMOUNT_TOO_SMALL: { kind: 'declined' },
}
