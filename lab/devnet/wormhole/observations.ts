import { digestOf, type Message, type SignedVaa } from './vaa.ts'

export interface Observation extends SignedVaa {
  readonly message: Message
}

/** sign: sign and gossip. mute: sign without gossip. hold: queue in the Governor until `release`. miss: ignore. */
export type Treatment = 'sign' | 'mute' | 'hold' | 'miss'

export interface Observations {
  readonly all: readonly Observation[]
  observe(message: Message): void
  treat(how: (message: Message) => Treatment): void
  release(most?: number): void
  signAgain(): void
  find(chain: number, emitter: string, sequence: bigint | string): SignedVaa | undefined
  isHeld(chain: number, emitter: string, sequence: string): boolean
  waitFor(chain: number, emitter: string, sequence: bigint | string, timeoutMs?: number): Promise<SignedVaa>
}

export function createObservations(sign: (message: Message) => SignedVaa, gossip: (observation: Observation) => void): Observations {
  const signed = new Map<string, Observation>()
  const seen = new Set<string>()
  const held = new Map<string, Message>()
  const all: Observation[] = []
  const waiters = new Set<() => void>()
  let treatment: (message: Message) => Treatment = () => 'sign'
  const publish = (message: Message, how: 'sign' | 'mute') => {
    const observation = { ...sign(message), message }
    signed.set(keyOf(message), observation)
    all.push(observation)
    if (how === 'sign') gossip(observation)
    for (const wake of waiters) wake()
  }
  const find = (chain: number, emitter: string, sequence: bigint | string) => signed.get(key(chain, emitter, sequence))
  return {
    all,
    observe(message) {
      // Known messages are skipped, because a watcher reads messages again after its cursor has been set back.
      const digest = digestOf(message)
      if (seen.has(digest)) return
      seen.add(digest)
      const how = treatment(message)
      if (how === 'hold') held.set(keyOf(message), message)
      else if (how !== 'miss') publish(message, how)
    },
    treat(how) {
      treatment = how
    },
    release(most = held.size) {
      const messages = [...held].slice(0, most)
      for (const [place, message] of messages) {
        held.delete(place)
        publish(message, 'sign')
      }
    },
    signAgain() {
      for (const [place, { message }] of signed) signed.set(place, { ...sign(message), message })
    },
    find,
    isHeld: (chain, emitter, sequence) => held.has(key(chain, emitter, sequence)),
    waitFor: (chain, emitter, sequence, timeoutMs = 60_000) =>
      waitFor(() => find(chain, emitter, sequence), waiters, timeoutMs, `${chain}/${emitter}/${sequence}`),
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

function keyOf({ emitterChain, emitter, sequence }: Message): string {
  return key(emitterChain, emitter, sequence)
}

function key(chain: number, emitter: string, sequence: bigint | string): string {
  return `${chain}/${emitter.toLowerCase()}/${sequence}`
}
