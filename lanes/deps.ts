import type { Chain } from '../chains/port.ts'
import type { Signer } from '../chains/signing-port.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { Attempt, LaneConfig } from '../domain/lane/lane.ts'
import type { Logger } from '../observability/logger.ts'
import type { LedgerClient } from './ledger/ledger-client.ts'

export interface LaneDeps {
  readonly chain: Chain
  readonly signer: Signer
  readonly ledger: LedgerClient
  readonly logger: Logger
  readonly config: LaneConfig
  readonly bumpAfterBlocks: number
  readonly ageingMs?: number
  readonly raised?: (kind: Attempt['kind']) => void
  /** Absent: no limits but those of raises. */
  readonly fees?: FeePolicyResolver
}
