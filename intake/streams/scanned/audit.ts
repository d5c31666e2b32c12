import { setOf } from '../../../domain/stream/intervals.ts'
import type { StreamRequest } from '../../../domain/stream/stream.ts'
import { runningTransfers } from '../../../temporal/client/streams/stream-transfers.ts'
import { auditCompleted, auditOpen, type StreamAudit } from './audit-transfers.ts'
import { missingIn } from '../number-status.ts'
import { runAll } from '../../../runtime/run-all.ts'
import { goBack } from './fork.ts'
import { numbersInGaps } from './fill-gaps.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { finalizedOf, nextHead, type ScannedContext, viewOf } from './context.ts'

/** Longest wait for the scan to reach the block of the source's count, ms. Then the next audit finds hidden numbers. */
const scanMs = 30_000

/** Compares a stream with its source, target and workflows. Throws as `runAll`. Several processes may audit at once. */
export async function auditStream(context: ScannedContext): Promise<StreamAudit> {
  const { client, source, sourceChain, targetChain } = context
  const audit: StreamAudit = { gaps: 0, completed: 0, started: 0, closed: 0, undone: 0 }
  await viewOf(context)
  await runAll(
    () => checkCursor(context),
    async () => {
      const running = await runningTransfers(client, source)
      await runAll(
        () => haltOnMismatch(context, targetChain, (at) => auditOpen(context, running, audit, at)),
        () => haltOnMismatch(context, targetChain, () => auditCompleted(context, running, audit)),
      )
    },
    () => haltOnMismatch(context, sourceChain, () => count(context, audit)),
  )
  return audit
}

/** A fork that leaves a shorter chain does not show in the next block. */
async function checkCursor(context: ScannedContext): Promise<void> {
  const { cursor } = (await context.streamClient.state()) ?? {}
  if (cursor && (await context.sourceChain.denies(cursor))) await goBack(context)
}

async function count(context: ScannedContext, audit: StreamAudit): Promise<void> {
  const { streamClient, source, sourceChain, logger } = context
  const era = streamClient.era
  const before = await streamClient.state()
  if (!before) return
  const { first } = source.config
  const seen = BigInt(before.next) > BigInt(first) ? String(BigInt(before.next) - 1n) : undefined
  const at = finalizedOf(sourceChain)
  const upTo = (await source.highest(seen)) ?? (BigInt(first) > 0n ? String(BigInt(first) - 1n) : undefined)
  if (upTo === undefined) return
  const isTail = () => streamClient.view !== undefined && BigInt(upTo) >= BigInt(streamClient.view.next)
  // Nodes may know a later final block than this process. Its numbers were not scanned, so they are not hidden.
  const height = isTail() ? await scannedUpTo(context) : at
  const state = await streamClient.state()
  if (!state || streamClient.era !== era) return
  // Numbers are not hidden if the scan has yet to reach them, or has no room for them.
  const isScanned = state.cursor !== undefined && height <= state.cursor.height
  const tail =
    isScanned && BigInt(upTo) >= BigInt(state.next)
      ? { ...state, gaps: [...state.gaps, { from: state.next, to: upTo, state: 'hidden' as const, at: 0 }] }
      : state
  const numbers = numbersInGaps(tail)
  const table = await source.recorded(numbers, 'finalized')
  const present = setOf(numbers.filter((_, index) => table[index]))
  const request: StreamRequest = { kind: 'audited', upTo, height: isTail() ? height : at, present }
  const response = await streamClient.apply([request], era)
  if (!response) return
  Object.assign(audit, { upTo, height: request.height, gaps: missingIn(response.view) })
  if (!response.view.alarms.includes('vanished')) return
  logger.error('the source counts fewer transfers than its logs have shown, and its blocks are read again', {
    code: 'SOURCE_COUNT_FELL',
    ...{ stream: source.config.stream, upTo },
  })
  await goBack(context, true)
}

async function scannedUpTo({ streamClient, sourceChain, stopping }: ScannedContext): Promise<number> {
  await nextHead(sourceChain, stopping)
  const height = finalizedOf(sourceChain)
  const until = Date.now() + scanMs
  while (!stopping.aborted && (streamClient.view?.nextHeight ?? 0) <= height && Date.now() < until) await streamClient.changed(1_000)
  return height
}
