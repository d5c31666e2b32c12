import { RelayerError, type ErrorCode } from '../../domain/errors.ts'
import type { Verdict } from '../port.ts'
import { type ContractReader, readOutbound } from './contracts.ts'
import { createGoodMessages, type GoodMessages } from './good-messages.ts'
import { type NativeMessage, type NativeRoute, readMessage } from './message.ts'
import type { Routes } from './routes.ts'

/** A route whose source chain can be read. */
export interface ReadableRoute extends NativeRoute {
  readonly source: ContractReader
  /** Most completions in one transaction; absent: each has its own. */
  readonly batch?: number | undefined
}

/** Checks messages against what their source contract recorded: nobody signs them. */
export interface Verifier {
  /**
   * The message and its route, if the source's table says the same at its finalized state, on the word of more than half of its nodes.
   * Throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN, NATIVE_TABLE_MISMATCH (all for good), NATIVE_NOT_FINAL (wait), and what reads throw.
   *
   * After NATIVE_ID_MISMATCH or NATIVE_TABLE_MISMATCH of what the caller itself read from the source (and not of what anybody sent), the caller halts
   * that route and raises an alarm: the contract, or the chain below finality, is not what it was taken for. Other routes go on.
   */
  verify(bytes: Uint8Array): Promise<{ readonly message: NativeMessage; readonly route: ReadableRoute }>
}

export interface VerifierOptions {
  readonly routes: Routes<ReadableRoute>
  /** What was found good lately is not looked up again: from the door, or the stream that read it, to its last step. Absent: a memory of its own. */
  readonly good?: GoodMessages
}

export function createVerifier({ routes, good = createGoodMessages() }: VerifierOptions): Verifier {
  return {
    async verify(bytes) {
      const message = readMessage(bytes)
      const route = routes.of(message)
      if (good.has(bytes)) return { message, route }
      await checkTable(message, route)
      good.add(bytes)
      return { message, route }
    },
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

/** What a refusal is: of the message for good, or until the world is ready. What is not here says nothing about the message. */
const kinds: Partial<Record<ErrorCode, 'rejected' | 'wait'>> = {
  MESSAGE_MISMATCH: 'rejected',
  NATIVE_MESSAGE: 'rejected',
  NATIVE_ID_MISMATCH: 'rejected',
  NATIVE_ROUTE_UNKNOWN: 'rejected',
  NATIVE_TABLE_MISMATCH: 'rejected',
  NATIVE_NOT_FINAL: 'wait',
}

/** Runs checks that throw what they refuse. Errors that are no verdict on the message (a node is down) are thrown on. */
export async function toVerdict(check: () => Promise<unknown>): Promise<Verdict> {
  try {
    await check()
    return { kind: 'valid', warnings: [] }
  } catch (error) {
    const kind = error instanceof RelayerError ? kinds[error.code] : undefined
    if (kind === undefined) throw error
    const { code, message, remedy } = error as RelayerError
    // The remedy is the catalogue's and belongs to whoever shows the code.
    const reason = message.slice(0, -remedy.length).replace(/ → $/, '')
    // Bytes with a wrong id may be anybody's; what the table has under a nonce is the source's own word.
    return { kind, code, reason, ...(code === 'NATIVE_TABLE_MISMATCH' && { haltRoute: true }) }
  }
}
