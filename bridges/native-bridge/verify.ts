import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import type { Refusals } from '../kit/verdict.ts'
import { readOutbound } from './contracts.ts'
import { createGoodMessages, type GoodMessages } from '../kit/good-messages.ts'
import { type NativeMessage, type NativeRoute, readMessage } from './message.ts'
import type { Routes } from './routes.ts'

/** A route whose source chain can be read. */
export interface ReadableRoute extends NativeRoute {
  readonly source: ContractReader
  /** Most completions in one transaction; absent: each has its own. */
  readonly batch?: number | undefined
  /** Smaller amounts are declined, decimal; absent: 0. */
  readonly minimumAmount?: string | undefined
}

/**
 * Checks messages, which have no signatures, against what their source contract recorded at its finalized state, on the word of more than half of its nodes.
 * `verify` throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN, NATIVE_TABLE_MISMATCH (all for good), NATIVE_NOT_FINAL (wait), and what reads throw.
 * After a mismatch in what the caller itself read from the source (not in what anybody sent), the caller halts that route and raises an alarm: only streams do.
 */
export function createVerifier(routes: Pick<Routes<ReadableRoute>, 'of'>, good: GoodMessages = createGoodMessages()) {
  return async function verify(bytes: Uint8Array): Promise<void> {
    const message = readMessage(bytes)
    const route = routes.of(message)
    if (good.has(bytes)) return
    await checkTable(message, route)
    good.add(bytes)
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

/** Each is about the message, which may be bytes of anybody: none of them stops a route. */
export const refusals: Refusals = {
  MESSAGE_MISMATCH: { kind: 'rejected' },
  NATIVE_MESSAGE: { kind: 'rejected' },
  NATIVE_ID_MISMATCH: { kind: 'rejected' },
  NATIVE_ROUTE_UNKNOWN: { kind: 'rejected' },
  NATIVE_TABLE_MISMATCH: { kind: 'rejected' },
  NATIVE_NOT_FINAL: { kind: 'wait' },
  AMOUNT_TOO_SMALL: { kind: 'declined' },
}
