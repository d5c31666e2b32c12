import type { DevnetAccount } from '../chain/accounts.ts'
import { startGuardianApi, type GuardianApi } from './guardian-api.ts'
import { startSpy, type Spy } from './spy.ts'
import { digestOf, quorumOf, signVaa, toUniversal, type Message, type SignedVaa } from './vaa.ts'
import { watchChain, type Watcher } from './watcher.ts'
import type { VaaServer } from './vaa-server.ts'
import type { WormholeChain } from './wormhole.ts'
import { startWormholescan } from './wormholescan.ts'

export interface GuardianOptions {
  readonly guardians: readonly DevnetAccount[]
  /** How many sign: a quorum (as what the network gossips) or all. Default quorum. */
  readonly sign?: 'quorum' | 'all'
  readonly spyPort?: number
  readonly apiPort?: number
  readonly sendTimeoutMs?: number
  /** Trouble of the watchers (a node that is down); default: nothing. They go on by themselves. */
  readonly log?: (line: string) => void
}

/** A signed message and its identity. */
export interface Observation extends SignedVaa {
  readonly message: Message
}

/**
 * What becomes of a message that the guardians see. sign: as ever. mute: signed and kept, and the spy does not tell. hold: the Governor queues it until
 * `release`. miss: nobody observes it.
 */
export type Treatment = 'sign' | 'mute' | 'hold' | 'miss'

/** The devnet's guardian network in one object: it observes, signs, gossips (spy) and answers (REST). */
export interface Guardian {
  readonly spy: Spy
  /** The REST API, and its URL. */
  readonly api: GuardianApi
  readonly apiUrl: string
  /** Wormholescan: it has what the guardians have signed. */
  readonly wormholescan: VaaServer
  /** How messages are treated from now on. */
  treat(how: (message: Message) => Treatment): void
  /**
   * From now on they sign as the set of this index, with the same keys, and the servers have everything signed anew; the spy tells nothing of that. The
   * chains are told by `upgradeGuardians`.
   */
  renew(setIndex: number): void
  /** The Governor lets go of all that it holds: it is signed and gossiped. */
  release(): void
  /** Signed VAAs so far, in the order of signing. */
  readonly observations: readonly Observation[]
  find(chain: number, emitter: string, sequence: bigint | string): SignedVaa | undefined
  /** Resolves with the signed VAA as soon as there is one. Throws Error after `timeoutMs` (default 60,000). */
  waitFor(chain: number, emitter: string, sequence: bigint | string, timeoutMs?: number): Promise<SignedVaa>
  /** Signs any message, without storing or sending it: for tests that need a VAA which no contract published. */
  sign(message: Message): SignedVaa
  /** Observing stops (a guardian outage); what was published meanwhile is signed after `resume()`. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
}

/** Starts watching from the first block of each chain. What the deployment published is served by the API, but no longer gossiped: it is old. */
export async function startGuardian(chains: readonly WormholeChain[], options: GuardianOptions): Promise<Guardian> {
  const { guardians } = options
  const spy = await startSpy({ port: options.spyPort, sendTimeoutMs: options.sendTimeoutMs })
  const store = new Map<string, Observation>()
  const seen = new Set<string>()
  const observations: Observation[] = []
  const waiters = new Set<() => void>()
  let setIndex = 0
  const sign = (message: Message) => {
    const count = options.sign === 'all' ? guardians.length : quorumOf(guardians.length)
    return signVaa(
      message,
      guardians,
      Array.from({ length: count }, (_, index) => index),
      setIndex,
    )
  }
  const held = new Map<string, Message>()
  let treatment: (message: Message) => Treatment = () => 'sign'
  const observe = (message: Message) => {
    // A rewound cursor reads messages again; the same digest is the same message.
    const digest = digestOf(message)
    if (seen.has(digest)) return
    seen.add(digest)
    const how = treatment(message)
    if (how === 'hold') held.set(key(message.emitterChain, message.emitter, message.sequence), message)
    else if (how !== 'miss') publish(message, how)
  }
  const publish = (message: Message, how: 'sign' | 'mute') => {
    const observation = { ...sign(message), message }
    store.set(key(message.emitterChain, message.emitter, message.sequence), observation)
    observations.push(observation)
    if (how === 'sign' && !ofDeployment(chains, message)) spy.publish(observation.bytes, message.emitterChain, message.emitter)
    for (const wake of waiters) wake()
  }
  const find = (chain: number, emitter: string, sequence: bigint | string) => store.get(key(chain, emitter, sequence))
  const bytesOf = (chain: number, emitter: string, sequence: string) => find(chain, emitter, sequence)?.bytes
  const isHeld = (chain: number, emitter: string, sequence: string) => held.has(key(chain, emitter, sequence))
  const api = await startGuardianApi(bytesOf, options.apiPort, isHeld)
  const wormholescan = await startWormholescan(bytesOf, 0, isHeld)
  let watchers: Watcher[] = []
  const resume = () => {
    if (watchers.length > 0) return
    watchers = chains.map((chain) => watchChain(chain, observe, (error) => options.log?.(`guardian, ${chain.name}: ${error.message}`)))
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
    treat(how) {
      treatment = how
    },
    renew(index) {
      setIndex = index
      for (const [place, { message }] of store) store.set(place, { ...sign(message), message })
    },
    release() {
      const messages = [...held.values()]
      held.clear()
      for (const message of messages) publish(message, 'sign')
    },
    observations,
    find,
    sign,
    pause,
    resume,
    waitFor: (chain, emitter, sequence, timeoutMs = 60_000) =>
      waitFor(() => find(chain, emitter, sequence), waiters, timeoutMs, `${chain}/${emitter}/${sequence}`),
    async stop() {
      await Promise.all([pause(), spy.stop(), api.stop(), wormholescan.stop()])
    },
  }
}

function waitFor(look: () => SignedVaa | undefined, waiters: Set<() => void>, timeoutMs: number, what: string): Promise<SignedVaa> {
  return new Promise((resolve, reject) => {
    const end = (found?: SignedVaa) => {
      waiters.delete(wake)
      clearTimeout(timer)
      if (found) resolve(found)
      else reject(new Error(`The guardian signed nothing for ${what} in ${timeoutMs} ms`))
    }
    const wake = () => {
      const found = look()
      if (found) end(found)
    }
    const timer = setTimeout(() => end(), timeoutMs)
    waiters.add(wake)
    wake()
  })
}

function ofDeployment(chains: readonly WormholeChain[], message: Message): boolean {
  const chain = chains.find(({ wormholeChainId }) => wormholeChainId === message.emitterChain)
  return chain !== undefined && message.emitter === toUniversal(chain.tokenBridge) && message.sequence < chain.firstSequence
}

function key(chain: number, emitter: string, sequence: bigint | string): string {
  return `${chain}/${emitter.toLowerCase()}/${sequence}`
}
