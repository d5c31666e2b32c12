import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { coreAbi } from './contracts.ts'

export interface GuardianSet {
  readonly index: number
  /** 0x addresses, lower case, by place in the set. */
  readonly keys: readonly string[]
  /** Seconds since the epoch; 0 for the current set. */
  readonly expirationTime: number
  readonly current: boolean
}

/** Ms until sets are read again: an upgrade makes the current set expire. */
const ttlMs = 60_000
/** Least ms between reads for unknown sets. */
const unknownEveryMs = 1_000

export interface GuardianSetsOptions {
  readonly chain: ContractReader
  readonly core: string
  /** Monotonic ms, for tests. */
  readonly clock?: () => number
}

interface Kept<T> {
  readonly value: Promise<T>
  readonly readAt: number
}

export type GuardianSets = ReturnType<typeof createGuardianSets>

/** One node could invent a set or keep an expired one alive. */
const at = 'majority-latest'

/** The guardian sets of one core contract, from most nodes, read rarely: a set changes about once a year. */
export function createGuardianSets({ chain, core, clock = () => performance.now() }: GuardianSetsOptions) {
  const sets = new Map<number, Kept<GuardianSet>>()
  const newest = new Map<'index', Kept<number>>()

  function keep<K, T>(cache: Map<K, Kept<T>>, key: K, maxAgeMs: number, make: () => Promise<T>): Promise<T> {
    const known = cache.get(key)
    if (known && clock() - known.readAt < maxAgeMs) return known.value
    const value = make().catch((error: unknown) => {
      // Without an answer the last set is used. `validate` checks again before anything is sent.
      if (known) return known.value
      throw error
    })
    const made = { value, readAt: clock() }
    cache.set(key, made)
    value.catch(() => cache.get(key) === made && cache.delete(key))
    return value
  }

  function newestIndex(maxAgeMs: number): Promise<number> {
    return keep(newest, 'index', maxAgeMs, async () => {
      const [index] = await read(chain, { abi: coreAbi, to: core, method: 'getCurrentGuardianSetIndex', at })
      return Number(index)
    })
  }

  // The index first: after an upgrade in between, the set already has its expiration time.
  async function readSet(index: number, current: number): Promise<GuardianSet> {
    // By position: the array's own `keys` hides the field.
    const [set] = await read(chain, { abi: coreAbi, to: core, method: 'getGuardianSet', args: [index], at })
    const [keys, expires] = set as [readonly string[], bigint]
    const expirationTime = Number(expires)
    return { index, keys: Array.from(keys, (key) => key.toLowerCase()), expirationTime, current: index === current && expirationTime === 0 }
  }

  return {
    /** Throws GUARDIAN_SET_UNKNOWN (next set), GUARDIAN_SET_IMPOSSIBLE (higher ones), errors of reads. */
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
