import type { PayloadCodec } from '@temporalio/common'
import type { AnswerBudget, TemporalClient } from './client.ts'

/** Maximum bytes of a payload: twice Temporal's own limit, which every honest state observes. */
const mostBytes = 4 * 1_048_576
/** Maximum bytes to which the pages of a lane unpack: many times those of the largest honest ledger. */
const mostUnpacked = 32 * 1_048_576

/**
 * Bytes of the answers that one read parses. Once parsed, a forged answer takes up to 21 times its bytes.
 * `own`: of workflows in the config. The state of a stream is below 104 KiB, and that of a lane only with far finality
 * above. `others`: of workflows that anyone with access to Temporal can start, in any number.
 */
const budgets = { own: { usual: 128 * 1_024, left: 32 * 1_048_576 }, others: { usual: 0, left: 4 * 1_048_576 } } as const

/** A client for one read, whose answers share a budget. Answers beyond it throw UnparsedAnswer. */
export function limited(client: TemporalClient, whose: keyof typeof budgets): TemporalClient {
  return client.withBudget?.({ ...budgets[whose] }) ?? client
}

/** The answers of a read had more bytes than it may parse, so this one was not parsed. */
export class UnparsedAnswer extends Error {
  constructor(bytes: number) {
    super(`the answer of ${bytes} bytes was not parsed: the answers of these workflows are too long together`)
  }
}

/** Refuses payloads that are too long, before they are decrypted and parsed. */
export function withLimits(codec: PayloadCodec, budget: AnswerBudget | undefined): PayloadCodec {
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    async decode(payloads, context) {
      const bytes = payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
      assertParsable(budget, bytes, mostBytes)
      return codec.decode(payloads, context)
    },
  }
}

/** Throws before a packed part of an answer is unpacked that is too long. */
export function assertUnpackable({ budget }: TemporalClient, bytes: number): void {
  assertParsable(budget, bytes, mostUnpacked)
}

function assertParsable(budget: AnswerBudget | undefined, bytes: number, most: number): void {
  if (bytes > most) throw new Error(`an answer of ${bytes} bytes was not parsed: at most ${most} bytes are`)
  if (!budget || bytes <= budget.usual) return
  if (bytes > budget.left) throw new UnparsedAnswer(bytes)
  budget.left -= bytes
}
