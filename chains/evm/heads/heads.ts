import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { FinalityPolicy } from '../../../domain/finality.ts'
import type { Logger } from '../../../observability/logger.ts'
import { pause, poll } from '../../../runtime/wait.ts'
import { comparedHeight, lagOf, mostLag } from '../../heads.ts'
import { createHeadEvents, isolate } from './head-events.ts'
import { noAnswer, type NodeAnswer, type Nodes } from '../nodes/nodes.ts'
import { RpcError } from '../nodes/node-errors.ts'
import { type BlockCache, createBlockCache } from './block-cache.ts'
import { blockCall, type EvmBlock, fetchBlock, readBlock } from './blocks.ts'
import { createFinalityTag } from './finality-tag.ts'
import { chooseHead, createFollow, createShownHeads, nothingNew, sameContent, type ShownHead } from './follow.ts'
import { createHeaderCheck, type HeaderCheck } from './header-check.ts'
import { createPollPace } from './poll-pace.ts'

/** Interval (ms) at which the lag of nodes is measured, as in chainlink-evm (NodePool PollInterval). */
const rankEveryMs = 10_000
const lateRankMs = 1_000
const leastGraceMs = 500
/** The finalized tag is read in parallel with the head if its last read was at least this share of a block time ago. */
const tagAfter = 0.75
const connectTimeoutMs = 15_000

export type EvmHeads = ReturnType<typeof createHeads>

export function createHeads(
  chain: string,
  nodes: Nodes,
  { finality, blockTimeMs, log }: { finality: FinalityPolicy; blockTimeMs: number; log?: Pick<Logger, 'info' | 'warn'> | undefined },
) {
  const pace = createPollPace(blockTimeMs, () => performance.now())
  const { intervalMs } = pace
  const kept = createBlockCache()
  const events = createHeadEvents(kept, finality)
  const pollListeners = new Set<() => void>()
  const check = createHeaderCheck(chain, () => nodes.needed, log)
  const onLate = () => rank(lateRankMs)
  const graceMs = Math.max(leastGraceMs, intervalMs)
  const pollOnce = createPoll({ chain, nodes, kept, finality, events, check, onLate, blockTimeMs, graceMs })
  let stopping: AbortController | undefined
  let rankedAt = -Infinity

  function rank(everyMs: number): void {
    if (performance.now() - rankedAt < everyMs) return
    rankedAt = performance.now()
    void nodes.rank(kept.latest?.height)
  }

  async function loop(signal: AbortSignal): Promise<void> {
    let waitMs = intervalMs
    for (;;) {
      await pause(waitMs, signal)
      if (signal.aborted) return
      const started = performance.now()
      rank(rankEveryMs)
      await pollOnce(signal).catch(() => undefined)
      waitMs = pace.after(started, kept.latest?.height)
      if (signal.aborted) return
      for (const listener of pollListeners) isolate(listener)
    }
  }

  // A spread would copy the values of `events`, which change.
  return Object.assign(events, {
    kept,
    check,
    async start() {
      if (stopping) return
      stopping = new AbortController()
      const { signal } = stopping
      try {
        await firstBlock(chain, () => pollOnce(signal).then(() => events.current !== undefined), intervalMs, signal)
      } catch (error) {
        stopping = undefined
        throw error
      }
      if (!signal.aborted) void loop(signal)
    },
    stop() {
      stopping?.abort()
      stopping = undefined
    },
    onPoll(listener: () => void) {
      pollListeners.add(listener)
    },
  })
}

async function firstBlock(chain: string, pollOnce: () => Promise<boolean>, intervalMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + connectTimeoutMs
  let failure: unknown
  const round = async () => {
    const found = await pollOnce().catch((error: unknown) => void (failure = error))
    if (found || performance.now() < deadline) return found
    throw failure instanceof RelayerError ? failure : new RelayerError('NODE_UNAVAILABLE', { facts: { chain }, cause: failure })
  }
  await poll(round, { everyMs: Math.min(intervalMs, 500), signal })
}

interface PollOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly kept: BlockCache
  readonly check: HeaderCheck
  readonly finality: FinalityPolicy
  readonly events: ReturnType<typeof createHeadEvents>
  readonly blockTimeMs: number
  readonly graceMs: number
  readonly onLate: () => void
}

function createPoll(options: PollOptions) {
  const { nodes, kept, finality, events, check, onLate } = options
  let polling: AbortSignal | undefined
  let taggedAt = -Infinity
  const follow = createFollow(nodes, kept, check, () => events.current?.finalized ?? 0, onLate)
  const shared = createShownHeads(nodes, kept)
  const tag = createFinalityTag(nodes, kept, (tagged) => {
    const isPublished = kept.latest === events.current?.latest
    if (isPublished && !polling?.aborted) events.publish(nothingNew, tagged, shared)
  })

  const isTagDue = (now: number) => finality.kind === 'tag' && now - taggedAt >= tagAfter * options.blockTimeMs

  async function readTag(now: number) {
    taggedAt = now
    return { tagged: await readFinalized(nodes, check) }
  }

  return async function pollOnce(signal: AbortSignal): Promise<void> {
    polling = signal
    const now = performance.now()
    const [shown, along] = await Promise.all([readHeads(options), isTagDue(now) ? readTag(now) : undefined])
    if (signal.aborted) return
    const target = chooseHead(shown, nodes.readers, kept)
    if (!target) return
    const isRead = along !== undefined || finality.kind !== 'tag' || target.hash === kept.latest?.hash
    const { tagged } = along ?? (isRead ? undefined : await readTag(now)) ?? {}
    if (signal.aborted) return
    const step = await follow(target, shown.length * 2 > nodes.readers, signal)
    const gone = step.rolledBack.at(-1)
    if (gone) shared.rolledBackTo(gone.height - 1)
    if (step.replaced) shared.forgetTime()
    shared.note(shown)
    if (step.replaced) tag.reset()
    const agreed = finality.kind === 'tag' ? await tag.update(tagged) : undefined
    if (signal.aborted) return
    // After final blocks were replaced, the tag of one node counts until the nodes agree.
    const own = step.replaced && tagged && kept.isCanonical(tagged) ? tagged.height : undefined
    events.publish(step, agreed ?? own, shared)
  }
}

async function readHeads({ chain, nodes, kept, check, onLate, graceMs }: PollOptions): Promise<readonly ShownHead[]> {
  const { method, params } = blockCall('latest')
  const first = kept.latest === undefined
  const isEnough = (_: unknown, soFar: readonly NodeAnswer<EvmBlock>[]) => isRise(shownBy(soFar), nodes, kept)
  const answers = await nodes.askAll(method, params(), readBlock, isEnough, first ? undefined : graceMs)
  const all = shownBy(answers)
  if (all.length === 0) throw noAnswer(chain, answers)
  const believed = new Set(check.ofPoll(all.map(({ block }) => block)))
  const shown = all.filter(({ block }) => believed.has(block))
  const heights = shown.map(({ block }) => block.height)
  const reached = comparedHeight(heights, nodes.readers, kept.latest?.height)
  if (heights.some((height) => (lagOf(height, reached) ?? 0) > mostLag)) onLate()
  return shown
}

function isRise(shown: readonly ShownHead[], { readers, needed }: Nodes, kept: BlockCache): boolean {
  if (shown.length < needed) return false
  const head = chooseHead(shown, readers, kept)
  const blocks = shown.map(({ block }) => block)
  return head !== undefined && head.height > (kept.latest?.height ?? Infinity) && sameContent(head, blocks) >= needed
}

function shownBy(answers: readonly NodeAnswer<EvmBlock>[]): readonly ShownHead[] {
  return answers.flatMap((answer) => (answer.ok ? [{ node: answer.name, block: answer.result }] : []))
}

async function readFinalized(nodes: Nodes, check: HeaderCheck): Promise<EvmBlock | undefined> {
  try {
    return await fetchBlock(nodes, 'finalized', check)
  } catch (error) {
    // A young chain may have no final block yet. With several nodes, an error of one node must not stop the head.
    if (error instanceof RpcError || nodes.readers > 1) return undefined
    throw error
  }
}
