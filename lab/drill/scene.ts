import type { Client } from '@temporalio/client'
import type { Devnet } from '../devnet/index.ts'
import type { AnySent } from '../devnet/sent.ts'
import type { ChainKey } from '../faults/fault-targets.ts'

/** A payment to the treasury. Its amount is unique, so the chain shows how often it was made. */
export interface Payment {
  readonly chain: ChainKey
  /** wei. */
  readonly amount: bigint
  /** Moment of the order, relative to the dump and to the loss of Temporal's database. */
  readonly when: string
}

export interface DrillScene {
  readonly devnet: Devnet
  readonly client: Client
  readonly sent: AnySent[]
  readonly payments: Payment[]
  say(line: string): void
  wait(ms: number): Promise<void>
}

/** Recipient of operators' payments. Nobody has the key of this address. */
export const treasury = `0x${'7e'.repeat(20)}`

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
