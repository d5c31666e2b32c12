import type { DevnetAccount } from '../chain/accounts.ts'
import { startGuardianApi, type GuardianApi } from './guardian-api.ts'
import { startSpy, type Spy } from './spy.ts'
import { createObservations, type Observation, type Treatment } from './observations.ts'
import { quorumOf, signVaa, toUniversal, type Message, type SignedVaa } from './vaa.ts'
import { watchChain } from './watcher.ts'
import type { Watcher } from '../chain/watch-logs.ts'
import type { VaaServer } from './vaa-server.ts'
import type { WormholeChain } from './wormhole.ts'
import { startWormholescan } from './wormholescan.ts'

export interface GuardianOptions {
  readonly guardians: readonly DevnetAccount[]
  /** Number of signatures: a quorum, as in gossiped messages, or all guardians. Default: quorum. */
  readonly sign?: 'quorum' | 'all'
  readonly spyPort?: number
  readonly apiPort?: number
  readonly sendTimeoutMs?: number
  /** Gets errors of the watchers, which continue after errors. Default: errors are ignored. */
  readonly log?: (line: string) => void
}

/** The devnet's guardians: they observe messages, sign them, gossip them (spy) and answer requests (REST). */
export interface Guardian {
  readonly spy: Spy
  readonly api: GuardianApi
  readonly apiUrl: string
  /** Serves all signed messages, like `api`. */
  readonly wormholescan: VaaServer
  /** Treats a message of a chain outside this devnet as if a watcher had observed it. */
  observe(message: Message): void
  treat(how: (message: Message) => Treatment): void
  /**
   * Signs all messages of the servers again, and all later messages, with the same keys and a new guardian set index.
   */
  renew(setIndex: number): void
  /** Makes the Governor release all held messages, or only the first `most`. */
  release(most?: number): void
  readonly observations: readonly Observation[]
  find(chain: number, emitter: string, sequence: bigint | string): SignedVaa | undefined
  /** Resolves with the signed VAA once it exists. Throws Error after `timeoutMs` (default 60,000). */
  waitFor(chain: number, emitter: string, sequence: bigint | string, timeoutMs?: number): Promise<SignedVaa>
  /** Signs a message that no contract published. Neither stores nor gossips it. */
  sign(message: Message): SignedVaa
  /** Stops observing, as in an outage of the guardians. `resume()` signs the messages of the outage. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
}

/** Starts the guardians. The servers have the messages of the deployment, but the spy does not send these messages. */
export async function startGuardian(chains: readonly WormholeChain[], options: GuardianOptions): Promise<Guardian> {
  const { guardians } = options
  const spy = await startSpy({ port: options.spyPort, sendTimeoutMs: options.sendTimeoutMs })
  const signers = Array.from({ length: options.sign === 'all' ? guardians.length : quorumOf(guardians.length) }, (_, index) => index)
  let setIndex = 0
  const sign = (message: Message) => signVaa(message, guardians, signers, setIndex)
  const observed = createObservations(sign, ({ message, bytes }) => {
    if (!ofDeployment(chains, message)) spy.publish(bytes, message.emitterChain, message.emitter)
  })
  const bytesOf = (chain: number, emitter: string, sequence: string) => observed.find(chain, emitter, sequence)?.bytes
  const api = await startGuardianApi(bytesOf, options.apiPort, observed.isHeld)
  const wormholescan = await startWormholescan(bytesOf, 0, observed.isHeld)
  let watchers: Watcher[] = []
  const resume = () => {
    if (watchers.length > 0) return
    const log = (chain: WormholeChain) => (error: Error) => options.log?.(`guardian, ${chain.name}: ${error.message}`)
    watchers = chains.map((chain) => watchChain(chain, observed.observe, log(chain)))
  }
  const pause = async () => {
    const stopping = watchers
    watchers = []
    await Promise.all(stopping.map((watcher) => watcher.stop()))
  }
  resume()
  return {
    spy,
    api,
    apiUrl: api.url,
    wormholescan,
    observe: observed.observe,
    treat: observed.treat,
    renew(index) {
      setIndex = index
      observed.signAgain()
    },
    release: observed.release,
    observations: observed.all,
    find: observed.find,
    waitFor: observed.waitFor,
    sign,
    pause,
    resume,
    async stop() {
      await Promise.all([pause(), spy.stop(), api.stop(), wormholescan.stop()])
    },
  }
}

function ofDeployment(chains: readonly WormholeChain[], message: Message): boolean {
  const chain = chains.find(({ wormholeChainId }) => wormholeChainId === message.emitterChain)
  return chain !== undefined && message.emitter === toUniversal(chain.tokenBridge) && message.sequence < chain.firstSequence
}
