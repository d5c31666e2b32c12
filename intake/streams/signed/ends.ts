import type { Client } from '@temporalio/client'
import { isResolved } from '../../../domain/stream-numbers.ts'
import type { StreamRequest, StreamState } from '../../../domain/stream.ts'
import { isOutcome } from '../../../domain/transfer.ts'
import { createClosedTransfers } from '../../closed-transfers.ts'
import { type Seen, toSeen } from '../seen.ts'
import { parkedAndEnded, runningTransfers, type Standing, statusOf, toClosed } from '../standings.ts'
import type { SignedDeps } from './deps.ts'
import type { Filled } from './fill.ts'

export interface Ends {
  /**
   * Tells how transfers of the stream have ended, and which are parked: one query of the visibility store, and one of each transfer that is newly parked
   * or ended undelivered. Throws what the Temporal client throws.
   */
  look(state: StreamState): Promise<void>
  /** Open numbers that no running transfer belongs to, nor one that was told of just now: the message is fetched and brought through the door again. */
  lost(state: StreamState): Promise<readonly string[]>
  /** Those that the door knew again, and whose transfers ended undelivered: nobody else tells it once the store has forgotten. */
  settle(outcomes: ReadonlyMap<string, Filled>): Promise<number>
  /** Resolved numbers whose transfers run again, since what had delivered them is gone from the target's finalized state; told as undone, and open. */
  reopen(state: StreamState): Promise<number>
  /** `lost` has seen some that it gives a little more time: ask again in `graceMs`. */
  readonly suspects: boolean
  /** Numbers that are parked since the guardians who signed their messages are replaced. */
  readonly aged: readonly string[]
}

/** The visibility store lags, and so may another process's clock, ms. */
export const graceMs = 15_000
/** At the first look, ms: what ended before is found as `lost`. */
const firstLookMs = 600_000
/** In one audit. */
const mostReopened = 20

export function createEnds({ source, line, client }: Pick<SignedDeps, 'source' | 'line'> & { readonly client: Client }): Ends {
  const of = { bridge: source.bridge, sourceChain: source.sourceChain, emitter: source.emitter }
  const closed = createClosedTransfers(client)
  /** Codes of parked runs: they stay parked with them until they run again. */
  const codes = new Map<string, { readonly number: string; readonly code: string }>()
  const firstMissed = new Map<string, number>()
  let since = Date.now() - firstLookMs

  async function parkedCode(standing: Standing): Promise<string | undefined> {
    const { runId, number } = standing
    const known = codes.get(runId)?.code
    if (known !== undefined) return known
    const { state, code } = await statusOf(client, standing)
    if (state !== 'parked' || code === undefined) return undefined
    codes.set(runId, { number, code })
    return code
  }

  return {
    get aged() {
      return [...codes.values()].flatMap(({ number, code }) => (code === 'GUARDIAN_SET_EXPIRED' ? [number] : []))
    },
    get suspects() {
      return firstMissed.size > 0
    },
    async look({ open, gaps }) {
      const from = since
      const now = Date.now()
      const standings = await parkedAndEnded(client, of, from)
      const parkedRuns = new Set(standings.flatMap(({ running, runId }) => (running ? [runId] : [])))
      for (const runId of codes.keys()) if (!parkedRuns.has(runId)) codes.delete(runId)
      const opened = new Map(open.map((one) => [one.number, one]))
      const isMissing = (number: string) =>
        gaps.some((gap) => gap.state !== 'undone' && BigInt(gap.from) <= BigInt(number) && BigInt(number) <= BigInt(gap.to))
      const seen: [string, Seen][] = []
      const requests: StreamRequest[] = []
      const parked = new Set<string>()
      for (const standing of standings) {
        const { number, state, running } = standing
        const one = opened.get(number)
        if (!one && !isMissing(number)) continue
        if (state === 'delivered') seen.push([number, 'delivered'])
        else if (!running) {
          const closed = toClosed(number, await statusOf(client, standing))
          if (closed) requests.push(closed)
        } else if (state === 'parked') {
          parked.add(number)
          const code = await parkedCode(standing)
          if (!one) seen.push([number, 'started'])
          if (code !== undefined && one?.parked !== code) requests.push({ kind: 'parked', number, code })
        }
      }
      for (const one of open)
        if (one.parked !== undefined && !parked.has(one.number)) requests.push({ kind: 'unparked', number: one.number })
      if (seen.length > 0) requests.unshift(toSeen(seen))
      if (requests.length > 0) await line.tell(requests)
      since = now - graceMs
    },
    async lost({ open }) {
      const now = Date.now()
      const running = new Set((await runningTransfers(client, of)).map(({ number }) => number))
      const missed = open.flatMap(({ number }) => (running.has(number) ? [] : [number]))
      for (const number of firstMissed.keys()) if (!missed.includes(number)) firstMissed.delete(number)
      for (const number of missed) if (!firstMissed.has(number)) firstMissed.set(number, now)
      return missed.filter((number) => (firstMissed.get(number) ?? now) <= now - graceMs)
    },
    async settle(outcomes) {
      const requests: StreamRequest[] = []
      for (const [number, outcome] of outcomes) {
        if (outcome.kind !== 'started' || outcome.status !== 'known') continue
        const latest = await closed.latest(outcome.id)
        if (latest === 'running' || latest === 'undone' || latest === 'gone' || latest === 'delivered' || !isOutcome(latest)) continue
        const request = toClosed(number, await statusOf(client, { id: outcome.id, running: false }))
        if (request) requests.push(request)
      }
      if (requests.length > 0) await line.tell(requests)
      return requests.length
    },
    async reopen(state) {
      const again = (await runningTransfers(client, of)).filter(({ number }) => isResolved(state, number)).slice(0, mostReopened)
      const transfers = await Promise.all(again.map(async (one) => (await statusOf(client, one)).transfer))
      const delivered = await source.delivered(transfers)
      const undone = transfers.flatMap(({ sequence }, index) => (delivered[index] ? [] : [sequence]))
      if (undone.length === 0) return 0
      await line.tell([
        ...undone.map((number) => ({ kind: 'undone' as const, numbers: [[number, number] as const] })),
        toSeen(undone.map((number) => [number, 'started'])),
      ])
      return undone.length
    },
  }
}
