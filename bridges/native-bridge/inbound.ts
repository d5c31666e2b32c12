import { oncePerHead } from '../../chains/heads.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { LogReader } from '../kit/logs.ts'
import type { Gate } from '../port.ts'
import { fitting, gateOf } from './gates.ts'
import { createLimits, type LimitsChain, type ReadLimits, secondsOf } from './limits.ts'
import type { NativeTransfer } from './message.ts'
import { createReservations } from './reservations.ts'
import { completedIn } from './events.ts'

/** What a contract's limits need to know of a transfer. */
export type Entrant = Pick<NativeTransfer, 'id' | 'amount'>

export type Inbound = ReturnType<typeof createInbound>

/** Completions of so many blocks at most are looked through at once: what is older has lapsed. */
const mostBlocks = 1_000

/** What a target contract lets in, less what this process has let through and is not on the chain yet: of many that ask at once those go on that fit together. */
export function createInbound(chain: LimitsChain & LogReader, contract: string) {
  const limits = createLimits(chain, contract)
  const reservations = createReservations()
  /** Up to this block, the completions of all that is reserved have been seen. */
  let seenTo: number | undefined
  const dropOncePerHead = oncePerHead(chain, dropCompleted)

  /** Once per block while anything is reserved. Not the latest block: for one to count twice is better than not at all. Where nodes refuse, reservations lapse. */
  async function dropCompleted(): Promise<void> {
    const toBlock = heightOf(chain) - 1
    const fromBlock = Math.max((seenTo ?? toBlock) + 1, toBlock - mostBlocks)
    // With nothing reserved there is nothing to look for; and a chain that went back is looked through again.
    if (reservations.size === 0 || toBlock < (seenTo ?? 0)) seenTo = toBlock
    if (reservations.size === 0 || toBlock < fromBlock) return
    try {
      const completions = await completedIn(chain, contract, { fromBlock, toBlock })
      const ids = completions.map(({ transfer }) => transfer.id)
      reservations.complete(ids, toBlock)
      seenTo = toBlock
    } catch (error) {
      // A node that is away fails the reads beside this one as well; a log that lies is the stream's to find.
      if (toRelayerError(error).code === 'NODE_REFUSED') seenTo = toBlock
    }
  }

  /** What is above the cap for one node alone waits for that node to be right, and is not parked. */
  async function confirmed(gate: Gate, amount: bigint): Promise<Gate> {
    const cap = await limits.agreedCap()
    if (amount >= cap) return gate
    return { kind: 'route', code: 'BRIDGE_BUDGET', reason: `one node has a smaller daily cap than the ${cap} of most of them` }
  }

  return {
    /** As `Endpoint.reserve`. */
    async reserve({ id, amount }: Entrant, relayer: string): Promise<Gate> {
      const [read] = await Promise.all([limits.read(relayer), dropOncePerHead()])
      const gateBy = (limit: ReadLimits) => gateOf(limit, amount, secondsOf(chain), reservations.beside([id], limit.height))
      const first = gateBy(read)
      // One node that lies, or lags, holds nothing up where others can be asked.
      const others = first.kind === 'route' || first.kind === 'lane' ? await limits.byMost(relayer) : undefined
      const gate = others ? gateBy(others) : first
      if (gate.kind === 'open') reservations.take(id, amount)
      else reservations.drop(id)
      return gate.kind === 'transfer' ? confirmed(gate, amount) : gate
    },
    release: reservations.drop,
    /** Those that fit together beside what is reserved for others, by what was last read; all before the first read. */
    fitting<T extends Entrant>(entrants: readonly T[]): readonly T[] {
      const { last } = limits
      if (!last) return entrants
      const reserved = reservations.beside(
        entrants.map(({ id }) => id),
        last.height,
      )
      return fitting(last, entrants, secondsOf(chain), reserved)
    },
    mayComplete: limits.mayComplete,
    get last() {
      return limits.last
    },
  }
}

function heightOf({ heads }: LimitsChain): number {
  return heads.current?.latest.height ?? 0
}
