import type { Bridge, SignedSource } from '../../../bridges/port.ts'
import type { Chain, Heads } from '../../../chains/port.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import type { Logger } from '../../../observability/logger.ts'
import type { Submitter } from '../../submit/submitter.ts'
import type { VaaLookup } from '../../submit/vaa-lookup.ts'
import type { StreamClient } from '../stream-client.ts'

export interface BlockedTransfer {
  readonly code: string
  readonly chain?: ChainName
}

export interface SignedDeps {
  readonly source: SignedSource
  readonly chain: Pick<Chain, 'name' | 'block'> & { readonly heads: Pick<Heads, 'current' | 'subscribe'> }
  readonly bridge: Pick<Bridge, 'name' | 'decode' | 'endpoints'>
  readonly streamClient: Pick<StreamClient, 'apply' | 'state' | 'view'>
  readonly submitter: Submitter
  readonly lookup: VaaLookup
  readonly logger: Logger
  readonly rangeBlocks: number
  /** How far back a stream without a checkpoint begins, ms. */
  readonly lookBackMs: number
}

export interface GapsDeps extends SignedDeps {
  /** How long a new gap is left to close by itself, ms. 0 for a single audit. */
  readonly freshMs?: number
  /** Whether the spy sent this number and the recorder is about to record it. Default: never */
  readonly isReceived?: (number: string) => boolean
  readonly delayed?: (number: string) => BlockedTransfer | undefined
  /** Whether the spy should have sent this number and has not. Default: never */
  readonly isMissed?: (number: string, publishedAt: number) => boolean
}
