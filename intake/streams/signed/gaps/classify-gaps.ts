import type { Bridge, Published } from '../../../../bridges/port.ts'
import { gapAt, hasGap } from '../../../../domain/stream/gaps.ts'
import type { Gap, RequestOf } from '../../../../domain/stream/stream.ts'
import type { BlockedTransfer, SignedDeps } from '../deps.ts'
import { blockedTransfer, needingNoTransfer } from './fetch-messages.ts'
import type { PublishedLogs } from './published-logs.ts'
import type { RelayerError } from '../../../../domain/catalogue/errors.ts'
import type { ChainName } from '../../../../domain/transfer/transfer.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'

export type GapClass = 'not-final' | 'held' | 'unobserved'

export interface ClassifiedGaps {
  readonly ignored: readonly string[]
  readonly delivered: readonly string[]
  readonly classes: ReadonlyMap<string, GapClass>
}

/**
 * `not-final`: the number is above `upTo`, the highest number in the source's finalized state. `held`: the Governor of
 * a guardian holds the message back. `unobserved`: the message is final, but no server has it. Throws read errors.
 */
export async function classifyGaps(
  { source, lookup, chain }: Pick<SignedDeps, 'source' | 'lookup' | 'chain'>,
  logs: PublishedLogs,
  numbers: readonly string[],
  upTo: string | undefined,
): Promise<ClassifiedGaps> {
  const finalized = chain.heads.current?.finalized
  const published = finalized === undefined ? new Map<string, Published>() : await logs.of(numbers, finalized)
  const { ignored, done } = await needingNoTransfer(source, [...published.values()])
  const over = new Set([...ignored, ...done])
  const open = numbers.filter((number) => !over.has(number))
  const place = { chain: source.emitterChain, emitter: source.emitter }
  const classes = await Promise.all(
    open.map(async (number): Promise<[string, GapClass]> => {
      if (upTo !== undefined && BigInt(number) > BigInt(upTo)) return [number, 'not-final']
      return [number, (await lookup.held({ ...place, sequence: number })) ? 'held' : 'unobserved']
    }),
  )
  return { ignored, delivered: [...done], classes: new Map(classes) }
}

export function classifications(classes: ReadonlyMap<string, GapClass>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  const named: { from: bigint; to: bigint; state: GapClass }[] = []
  for (const [number, state] of [...classes].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))) {
    const at = BigInt(number)
    const same = gaps.filter((gap) => gap.state === state)
    if (hasGap(same, at)) continue
    const last = named.at(-1)
    if (last?.state === state && last.to + 1n === at) last.to = at
    else named.push({ from: at, to: at, state })
  }
  return named.map(({ from, to, state }) => ({ kind: 'classified', from: String(from), to: String(to), state }))
}

const mostDelayed = 10_000
const newEveryMs = 5_000

/**
 * Messages of the spy that could not be submitted yet. A new message or a new reason calls `onNew`, but at most once
 * per `newEveryMs`.
 */
export function createDelayedMessages(bridge: Pick<Bridge, 'decode'>, onNew: () => void) {
  const blocked = boundedMap<string, BlockedTransfer>(mostDelayed)
  let calledAt = -Infinity
  return {
    of: (number: string): BlockedTransfer | undefined => blocked.get(number),
    add(number: string, vaa: Uint8Array, error: RelayerError): void {
      if (blocked.get(number)?.code === error.code) return
      blocked.set(number, blockedTransfer(error, targetOf(bridge, vaa)))
      const now = performance.now()
      if (now - calledAt < newEveryMs) return
      calledAt = now
      onNew()
    },
    delete: (number: string) => void blocked.delete(number),
  }
}

function targetOf(bridge: Pick<Bridge, 'decode'>, vaa: Uint8Array): ChainName {
  try {
    return bridge.decode(vaa).targetChain
  } catch {
    return ''
  }
}

export function unstartedRequests(blocked: ReadonlyMap<string, BlockedTransfer>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  return [...blocked].flatMap(([number, { code, chain }]): RequestOf<'classified'>[] => {
    const gap = gapAt(gaps, BigInt(number))
    if (!gap || (gap.state === 'unstarted' && gap.code === code && gap.chain === (chain || undefined))) return []
    return [{ kind: 'classified', from: number, to: number, state: 'unstarted', code, ...(chain && { chain }) }]
  })
}
