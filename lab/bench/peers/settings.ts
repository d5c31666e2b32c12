import type { Devnet } from '../../devnet/index.ts'

/**
 * `documented`: default settings, and a key waits for each receipt. `tuned`: high concurrency, and only jobs wait for
 * receipts.
 */
export type EngineForm = 'documented' | 'tuned'

/** Settings of a peer's process, which reads them as JSON from the environment variable PEER_SETTINGS. */
export interface PeerSettings {
  readonly spy: string
  readonly sourceChain: number
  readonly sourceBridge: string
  readonly targetChain: number
  readonly targetBridge: string
  readonly targetNetwork: number
  readonly targetUrl: string
  /** DEVNET private keys of the target. */
  readonly keys: readonly string[]
  /** Maximum number of transactions of a key that wait for a block. */
  readonly window: number
  readonly engine?: { readonly folder: string; readonly redisPort: number; readonly form: EngineForm }
}

/** Window of Portage's lanes on a devnet, so that no contender has more in flight. */
const window = 64

export function settingsOf({ chains, guardian, lanes }: Devnet): PeerSettings {
  const { ethereum: source, bsc: target } = chains
  return {
    spy: guardian.spy.address,
    ...{ sourceChain: source.wormholeChainId, sourceBridge: source.tokenBridge },
    ...{ targetChain: target.wormholeChainId, targetBridge: target.tokenBridge },
    ...{ targetNetwork: target.anvil.chainId, targetUrl: target.anvil.url },
    keys: lanes.filter(({ chain }) => chain === target.name).map(({ privateKey }) => privateKey),
    window,
  }
}
