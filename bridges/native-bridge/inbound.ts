import { chainTime, oncePerHead } from '../../chains/heads.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LogReader } from '../kit/logs.ts'
import type { Gate } from '../port.ts'
import { completedTopic, transfersIn } from './events.ts'
import { createInboundLimits, fitting, gateOf, type LimitsChain, type ReadLimits } from './inbound-limits.ts'
import type { NativeTransfer } from './message.ts'
import { LRUCache } from 'lru-cache'

type Entrant = Pick<NativeTransfer, 'id' | 'amount'>

export type Inbound = ReturnType<typeof createInbound>

/**
 * Maximum number of blocks that are searched for completions. Reservations for completions in earlier blocks lapse by
 * age.
 */
const mostBlocks = 1_000

export function createInbound(chain: LimitsChain & LogReader, contract: string) {
  const limits = createInboundLimits(chain, contract)
  const reserved = createReservedAmounts()
  let seenTo: number | undefined
  const dropOncePerHead = oncePerHead(chain, dropCompleted)

  /**
   * Drops the reservations of completed transfers. An amount that was completed in the latest block counts twice until
   * the next block. At worst, the gate closes too early.
   */
  async function dropCompleted(): Promise<void> {
    const toBlock = (chain.heads.current?.latest.height ?? 0) - 1
    const fromBlock = Math.max((seenTo ?? toBlock) + 1, toBlock - mostBlocks)
    if (reserved.size === 0 || toBlock < (seenTo ?? 0)) seenTo = toBlock
    if (reserved.size === 0 || toBlock < fromBlock) return
    try {
      const completions = await transfersIn(chain, contract, completedTopic, { fromBlock, toBlock })
      const ids = completions.map(({ transfer }) => transfer.id)
      reserved.complete(ids, toBlock)
      seenTo = toBlock
    } catch (error) {
      // A range that the node refuses is skipped. Reservations for completions in this range lapse by age.
      if (toRelayerError(error).code === 'NODE_REFUSED') seenTo = toBlock
    }
  }

  async function confirmed(gate: Gate, amount: bigint): Promise<Gate> {
    const cap = await limits.agreedCap()
    if (amount >= cap) return gate
    return { kind: 'route', code: 'BRIDGE_BUDGET', reason: `one node has a smaller daily cap than the ${cap} of most nodes` }
  }

  return {
    async reserve({ id, amount }: Entrant, relayer: string): Promise<Gate> {
      const [read] = await Promise.all([limits.read(relayer), dropOncePerHead()])
      const gateBy = (limit: ReadLimits) => gateOf(limit, amount, chainTime(chain), reserved.others([id], limit.height))
      const first = gateBy(read)
      // Most nodes are asked about a closed gate, so that one node that lies or lags cannot close it.
      const others = first.kind === 'route' || first.kind === 'lane' ? await limits.byMost(relayer) : undefined
      const gate = others ? gateBy(others) : first
      if (gate.kind === 'open') reserved.take(id, amount)
      else reserved.drop(id)
      return gate.kind === 'transfer' ? confirmed(gate, amount) : gate
    },
    release: reserved.drop,
    fitting<T extends Entrant>(entrants: readonly T[]): readonly T[] {
      const { last } = limits
      if (!last) return entrants
      const ids = entrants.map(({ id }) => id)
      return fitting(last, entrants, chainTime(chain), reserved.others(ids, last.height))
    },
    mayComplete: limits.mayComplete,
    get last() {
      return limits.last
    },
  }
}

const mostCompletions = 256

/** Amounts that passed the gate and that the contract does not count yet. Each lapses after `lastsMs`. */
export function createReservedAmounts({ lastsMs = 600_000, clock = () => performance.now() } = {}) {
  const held = new Map<string, { readonly amount: bigint; readonly at: number }>()
  let total = 0n
  const completed = new LRUCache<number, bigint>({ max: mostCompletions })

  function drop(id: string): bigint {
    const one = held.get(id)
    if (!one) return 0n
    held.delete(id)
    total -= one.amount
    return one.amount
  }

  function dropLapsed(): void {
    for (const [id, { at }] of held) {
      if (clock() - at < lastsMs) return
      drop(id)
    }
  }

  return {
    take(id: string, amount: bigint): void {
      drop(id)
      held.set(id, { amount, at: clock() })
      total += amount
    },
    drop,
    /**
     * Drops the reservations of completed transfers. Limits that were read below block `upTo` may lack these
     * completions, so `others` still counts their amounts.
     */
    complete(ids: readonly string[], upTo: number): void {
      const sum = ids.reduce((sum, id) => sum + drop(id), completed.get(upTo) ?? 0n)
      if (sum > 0n) completed.set(upTo, sum)
    },
    /** Sum of the amounts that are missing from limits that were read at `height`. Leaves out the amounts of `ids`. */
    others(ids: readonly string[], height: number): bigint {
      dropLapsed()
      let sum = total
      for (const [upTo, amount] of completed.entries()) if (upTo > height) sum += amount
      return [...new Set(ids)].reduce((sum, id) => sum - (held.get(id)?.amount ?? 0n), sum)
    },
    get size() {
      dropLapsed()
      return held.size
    },
  }
}
