import type { Chain } from '../chains/port.ts'
import type { Signer } from '../chains/signing-port.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { Attempt, LaneConfig } from '../domain/lane/lane.ts'
import type { Logger } from '../observability/logger.ts'
import type { LedgerClient } from './ledger/ledger-client.ts'

/** What the parts of a lane's agent work with. */
export interface LaneDeps {
  readonly chain: Chain
  readonly signer: Signer
  readonly ledger: LedgerClient
  readonly logger: Logger
  readonly config: LaneConfig
  readonly bumpAfterBlocks: number
  /** A call that waits for a slot rises by a class in this time, ms. Default 10 s. */
  readonly ageingMs?: number
  /** Told of each attempt that is recorded beyond the first of its nonce; absent: nobody is. */
  readonly raised?: (kind: Attempt['kind']) => void
  /** The fee policy as it is now; absent: no limits but those of raises. */
  readonly fees?: FeePolicyResolver
}
