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
  /** How far back (ms) a stream begins if it has neither a first number in the config nor a checkpoint. */
  readonly lookBackMs: number
}

export interface GapsDeps extends SignedDeps {
  /** Time that a new gap gets to close by itself, ms. 0 for a single audit. */
  readonly freshMs?: number
  /** Whether the spy has sent this number, but the recorder has not recorded it yet. Default: never. */
  readonly isReceived?: (number: string) => boolean
  readonly delayed?: (number: string) => BlockedTransfer | undefined
  /** Whether the spy should have sent this number, but has not. Default: never. */
  readonly isMissed?: (number: string, publishedAt: number) => boolean
}
