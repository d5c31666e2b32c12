import { type Chance, chanceOf } from '../faults/random.ts'
import { type LaneConfig, laneId } from '../../domain/lane/lane.ts'
import type { ViewOptions } from './chain/view.ts'
import { fold, type NetworkOptions } from './chain/network.ts'
import type { Losable } from './temporal/host.ts'

export type FaultKind = 'kill' | 'outage' | 'jump' | 'wipe' | 'restore' | 'cancel' | 'retry' | 'pause' | 'forge'

/** `at`: ms since the start. `choice`: in [0, 1), decides which process, transfer or lane the fault strikes. */
export interface Fault {
  readonly kind: FaultKind
  readonly at: number
  readonly forMs: number
  readonly choice: number
}

export interface Plan {
  readonly seed: string
  readonly transfers: number
  readonly chains: readonly (NetworkOptions & { readonly lanes: readonly LaneConfig[] })[]
  readonly processes: number
  readonly view: ViewOptions
  /** Probability that a message of this kind is lost, in [0, 1]. */
  readonly losses: Readonly<Record<Losable, number>>
  readonly kms: boolean
  readonly local: boolean
  readonly bumpAfterBlocks: number
  readonly updatesPerRun: number
  readonly orders: number
  readonly sendMs: number
  readonly faults: readonly Fault[]
}

const mostFaults = 25
const longestFaultMs = 60_000

/** Draws all settings of a simulation from the seed. Equal plans give equal traces. */
export function planOf(seed: string, transfers: number): Plan {
  const chance = chanceOf(`plan/${seed}`)
  const rarely = (share: number, most: number) => (chance.next() < share ? chance.next() * most : 0)
  const isReset = chance.next() < 0.3
  const view = { failures: rarely(0.6, 0.03), silence: rarely(0.5, 0.1), lags: chance.next() < 0.5 }
  const blockTimeMs = chance.pick([250, 1_000, 2_000, 12_000])
  const sendMs = Math.max(20_000, (transfers / chance.pick([2, 5, 20])) * Math.min(blockTimeMs, 2_000) * 0.2)
  const chains = Array.from({ length: chance.whole(1, 2) }, (_, index) => {
    const name = `chain${index + 1}`
    const networkId = String(7_000 + index)
    const lane = (number: number): LaneConfig => ({
      lane: laneId('evm', networkId, `0x${fold(`${seed}/${name}/${number}`).slice(0, 40)}`),
      window: chance.pick([4, 16, 30]),
      fillAfterBlocks: chance.whole(3, 12),
    })
    return {
      ...{
        name,
        networkId,
        blockTimeMs,
        depth: chance.pick([1, 3, 12, 30]),
        capacity: chance.pick([20, 60, 200]),
        guards: isReset || view.lags,
      },
      ...{ reorgs: rarely(0.6, 0.1), spikes: rarely(0.5, 0.03), drops: rarely(0.4, 0.05), seed },
      lanes: Array.from({ length: chance.whole(1, 3) }, (_lane, number) => lane(number)),
    }
  })
  const losses = { request: rarely(0.5, 0.1), answer: rarely(0.5, 0.1), report: rarely(0.5, 0.1) }
  const shape = { processes: chance.whole(1, 3), kms: chance.next() < 0.3, local: chance.next() < 0.7, bumpAfterBlocks: chance.whole(2, 6) }
  const orders = { updatesPerRun: chance.pick([3, 20, 300]), orders: rarely(0.5, 0.1) }
  return { seed, transfers, chains, losses, view, ...shape, ...orders, sendMs, faults: faultsOf(chance, sendMs, isReset) }
}

const ordinary: readonly FaultKind[] = ['kill', 'kill', 'kill', 'outage', 'jump', 'cancel', 'retry', 'pause', 'forge']

function faultsOf(chance: Chance, sendMs: number, isReset: boolean): Fault[] {
  const fault = (kind: FaultKind): Fault => ({
    ...{ kind, at: Math.round(chance.next() * sendMs * 1.3), forMs: Math.round(chance.next() * longestFaultMs), choice: chance.next() },
  })
  const faults = Array.from({ length: chance.whole(0, mostFaults) }, () => fault(chance.pick(ordinary)))
  const resets = isReset ? Array.from({ length: chance.whole(1, 2) }, () => fault(chance.pick(['wipe', 'restore']))) : []
  return [...faults, ...resets].toSorted((a, b) => a.at - b.at)
}
