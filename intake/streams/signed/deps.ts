import type { Bridge } from '../../../bridges/port.ts'
import type { SignedSource } from '../../../bridges/source-port.ts'
import type { Chain, Heads } from '../../../chains/port.ts'
import type { Logger } from '../../../observability/logger.ts'
import type { Submitter } from '../../submit/submitter.ts'
import type { VaaLookup } from '../../submit/vaa-lookup.ts'
import type { StreamClient } from '../stream-client.ts'

/** What the parts of an emitter's agent share. */
export interface SignedDeps {
  readonly source: SignedSource
  /** The chain that the emitter is on; without a node of it, `chainWithoutNode`. */
  readonly chain: Pick<Chain, 'name' | 'block'> & { readonly heads: Pick<Heads, 'current' | 'subscribe'> }
  readonly bridge: Pick<Bridge, 'name' | 'decode' | 'endpoint'>
  readonly streamClient: Pick<StreamClient, 'apply' | 'state' | 'view'>
  readonly submitter: Submitter
  readonly lookup: VaaLookup
  readonly logger: Logger
  /** Most blocks of one read of logs. */
  readonly rangeBlocks: number
  /** How far back a stream looks that begins without a checkpoint, ms. */
  readonly lookBackMs: number
}
