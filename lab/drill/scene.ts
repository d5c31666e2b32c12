import type { Client } from '@temporalio/client'
import type { Devnet } from '../devnet/index.ts'
import type { AnySent } from '../devnet/sent.ts'
import type { ChainKey } from '../faults/fault-targets.ts'

/**
 * A payment that an operator ordered to the treasury. Its amount is unique, so the chain shows how often it was made.
 */
export interface Payment {
  readonly chain: ChainKey
  /** wei. */
  readonly amount: bigint
  /** When it was ordered, relative to the dump and to the loss of Temporal's database. */
  readonly when: string
}

/** The parts of a drill. */
export interface DrillScene {
  readonly devnet: Devnet
  /** Client of the Temporal server that now runs. */
  readonly client: Client
  /** All transfers until now. */
  readonly sent: AnySent[]
  readonly payments: Payment[]
  say(line: string): void
  wait(ms: number): Promise<void>
}

/** The recipient of operators' payments. Its key is unknown. */
export const treasury = `0x${'7e'.repeat(20)}`

/** The same devnet, with a treasury in the config of its processes. */
export function withTreasury(devnet: Devnet): Devnet {
  return {
    ...devnet,
    relayerConfig() {
      const config = devnet.relayerConfig()
      const chains = Object.entries(config.chains).map(([name, chain]) => [name, { ...chain, treasury: { address: treasury } }])
      return { ...config, chains: Object.fromEntries(chains) as typeof config.chains }
    },
  }
}
