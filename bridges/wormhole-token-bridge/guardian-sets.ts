import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { coreAbi } from './contracts.ts'

/** A guardian set as a core contract keeps it. */
export interface GuardianSet {
  readonly index: number
  /** 0x addresses, lower case, in the set's order. */
  readonly keys: readonly string[]
  /** Seconds since the epoch when a set that is no longer current expires; 0 while it is current. */
  readonly expirationTime: number
  readonly current: boolean
}

/** What was read is read again after this long, ms: an upgrade makes the current set an expiring one. */
const ttlMs = 60_000
/** For a set that is not known yet the contract is asked at most this often, ms, whatever junk comes in. */
const unknownEveryMs = 1_000

export interface GuardianSetsOptions {
  readonly chain: ContractReader
  readonly core: string
  /** ms since any moment; for tests. */
  readonly clock?: () => number
}

interface Kept<T> {
  readonly value: Promise<T>
  readonly readAt: number
}

export type GuardianSets = ReturnType<typeof createGuardianSets>

/** One node could invent a set whose keys it has, or keep an expired one alive. */
const at = 'majority-latest'

/** The guardian sets of one core contract, read rarely, of most nodes: a set changes about once a year. */
export function createGuardianSets({ chain, core, clock = () => performance.now() }: GuardianSetsOptions) {
  const sets = new Map<number, Kept<GuardianSet>>()
  const newest = new Map<'index', Kept<number>>()

  function keep<K, T>(cache: Map<K, Kept<T>>, key: K, maxAgeMs: number, make: () => Promise<T>): Promise<T> {
    const known = cache.get(key)
    if (known && clock() - known.readAt < maxAgeMs) return known.value
    const value = make().catch((error: unknown) => {
      // Sets hardly ever change: while no node answers, the last answer is better than none. `validate` checks again before anything is sent.
      if (known) return known.value
      throw error
    })
    const made = { value, readAt: clock() }
    cache.set(key, made)
    // A read that failed at first must not be remembered; its callers get the error.
    value.catch(() => cache.get(key) === made && cache.delete(key))
    return value
  }

  function newestIndex(maxAgeMs: number): Promise<number> {
    return keep(newest, 'index', maxAgeMs, async () => {
      const [index] = await read(chain, { abi: coreAbi, to: core, method: 'getCurrentGuardianSetIndex', at })
      return Number(index)
    })
  }

  // The index is read before the set: if an upgrade falls between the two, the set already has its expiration time.
  async function readSet(index: number, current: number): Promise<GuardianSet> {
    // By position: the answer is an array, whose own `keys` hides the field of that name.
    const [set] = await read(chain, { abi: coreAbi, to: core, method: 'getGuardianSet', args: [index], at })
    const [keys, expires] = set as [readonly string[], bigint]
    const expirationTime = Number(expires)
    return { index, keys: Array.from(keys, (key) => key.toLowerCase()), expirationTime, current: index === current && expirationTime === 0 }
  }

  return {
    /**
     * Throws GUARDIAN_SET_UNKNOWN for the next set, of which the contract does not know yet, GUARDIAN_SET_IMPOSSIBLE for one above that, since sets come one
     * after the other, and what reads throw.
     */
    async get(index: number): Promise<GuardianSet> {
      let current = await newestIndex(ttlMs)
      if (index > current) current = await newestIndex(unknownEveryMs)
      if (index > current)
        throw new RelayerError(index > current + 1 ? 'GUARDIAN_SET_IMPOSSIBLE' : 'GUARDIAN_SET_UNKNOWN', {
          facts: { chain: chain.name, guardianSet: index, newest: current },
        })
      return keep(sets, index, ttlMs, () => readSet(index, current))
    },
  }
}
