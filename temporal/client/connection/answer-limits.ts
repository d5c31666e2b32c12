import { AsyncLocalStorage } from 'node:async_hooks'
import type { PayloadCodec } from '@temporalio/common'

/** Maximum bytes of a payload: twice Temporal's own limit, which every honest state observes. */
const mostBytes = 4 * 1_048_576
/**
 * Maximum bytes of the answers of all workflows outside the config, per read. Once parsed, a forged answer takes up to
 * 21 times its bytes. Anyone with access to Temporal can start any number of such workflows.
 */
const othersBytes = 4 * 1_048_576
/** Maximum bytes to which the pages of a lane unpack: many times those of the largest honest ledger. */
const mostUnpacked = 32 * 1_048_576

interface Budget {
  readonly own: ReadonlySet<string>
  left: number
}

const budgets = new AsyncLocalStorage<Budget>()

/** The answers of the workflows outside the config had more bytes than a read may parse, so this one was not parsed. */
export class UnparsedAnswer extends Error {
  constructor(bytes: number) {
    super(`the answer of ${bytes} bytes was not parsed: the answers of workflows outside the config are too long together`)
  }
}

/** Within `read`, the answers of workflows other than `own` share a budget. Calls beyond it throw UnparsedAnswer. */
export function withOthersLimited<Result>(own: readonly string[], read: () => Promise<Result>): Promise<Result> {
  return budgets.run({ own: new Set(own), left: othersBytes }, read)
}

/** Refuses payloads that are too long, before they are decrypted and parsed. */
export function withLimits(codec: PayloadCodec): PayloadCodec {
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    async decode(payloads, context) {
      const bytes = payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
      assertParsable(context?.workflowId, bytes, mostBytes)
      return codec.decode(payloads, context)
    },
  }
}

/** Throws before a packed part of an answer is unpacked that is too long. */
export function assertUnpackable(workflowId: string, bytes: number): void {
  assertParsable(workflowId, bytes, mostUnpacked)
}

function assertParsable(workflowId: string | undefined, bytes: number, most: number): void {
  if (bytes > most) throw new Error(`an answer of ${bytes} bytes was not parsed: at most ${most} bytes are`)
  const budget = budgets.getStore()
  if (!budget || budget.own.has(workflowId ?? '')) return
  if (bytes > budget.left) throw new UnparsedAnswer(bytes)
  budget.left -= bytes
}
