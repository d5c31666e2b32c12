import { getBytes, Interface, keccak256, type BytesLike } from 'ethers'
import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { parseVaa, quorum, type Vaa } from '../../domain/vaa.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { type ContractReader, doubtedEveryMs, read, ttlMs } from './contract-reader.ts'

/** From IWormhole.sol. */
export const coreAbi = new Interface([
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32 index) view returns (tuple(address[] keys, uint32 expirationTime))',
  'function nextSequence(address emitter) view returns (uint64)',
  'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce, bytes payload, uint8 consistencyLevel)',
])

/** Messages.sol, parseVM. Both Wormhole SDKs use the name `hash` for the single keccak instead. */
export function digestOf({ body }: { readonly body: BytesLike }): string {
  return keccak256(keccak256(body))
}

const mostVerified = 4_096

/** Throws VAA_*, GUARDIAN_SET_EXPIRED, GUARDIAN_SET_UNKNOWN (wait), read errors. `now`: the target's time, seconds. */
export function createVerifier(guardianSets: GuardianSets, now: () => number) {
  /** Fingerprint of a message → the set whose signatures it has. */
  const verified = new LRUCache<string, string>({ max: mostVerified })
  return async function verify(message: Uint8Array): Promise<void> {
    const vaa = parseVaa(message)
    if (vaa.signatures.length === 0) throw new RelayerError('VAA_NO_QUORUM', { facts: { signatures: 0, needed: quorum(0) } })
    const set = await guardianSets.get(vaa.guardianSetIndex)
    const time = set.current ? 0 : now()
    const under = `${set.index} ${set.keys.join(' ')}`
    const key = fingerprint(message)
    if (verified.get(key) !== under) verifySignatures(vaa, set)
    verified.set(key, under)
    // Checked last, so that this error implies valid signatures.
    const { index, current, expirationTime } = set
    if (!current && expirationTime < time)
      throw new RelayerError('GUARDIAN_SET_EXPIRED', { facts: { guardianSet: index, expirationTime, now: time } })
  }
}

/** Checks as Messages.sol (verifyVM) does. Throws VAA_NO_QUORUM, VAA_GUARDIAN_INDEX, VAA_SIGNATURE_INVALID. */
function verifySignatures(vaa: Vaa, set: GuardianSet): void {
  const needed = quorum(set.keys.length)
  if (vaa.signatures.length < needed) throw new RelayerError('VAA_NO_QUORUM', { facts: { signatures: vaa.signatures.length, needed } })
  const digest = getBytes(digestOf(vaa))
  for (const { guardianIndex, signature } of vaa.signatures) {
    const guardian = set.keys[guardianIndex]
    const facts = { guardianSet: set.index, guardian: guardianIndex }
    if (guardian === undefined) throw new RelayerError('VAA_GUARDIAN_INDEX', { facts: { ...facts, guardians: set.keys.length } })
    const signer = secp256k1().recover(digest, signature.subarray(0, 64), signature[64] ?? Number.NaN)
    if (signer !== guardian) throw new RelayerError('VAA_SIGNATURE_INVALID', { facts })
  }
}

export interface GuardianSet {
  readonly index: number
  readonly keys: readonly string[]
  /** Seconds since the epoch; 0 for the current set. */
  readonly expirationTime: number
  readonly current: boolean
}

type GuardianSets = ReturnType<typeof createGuardianSets>

/** One node could invent a set or keep an expired set alive. */
const at = 'majority-latest'

export function createGuardianSets(chain: ContractReader, core: string, clock = () => performance.now()) {
  const keeping = { orLast: true, clock }
  const newest = keptReads<'index', number>(readNewest, undefined, keeping)
  // An upgrade makes the current set expire.
  const sets = keptReads<number, GuardianSet>(readSet, undefined, keeping)

  async function readNewest(): Promise<number> {
    const [index] = await read(chain, { abi: coreAbi, to: core, method: 'getCurrentGuardianSetIndex', at })
    return Number(index)
  }

  async function readSet(index: number): Promise<GuardianSet> {
    const current = await newest.get('index', ttlMs)
    // Fields are read by position, because an array's method `keys` hides the field `keys`.
    const [set] = await read(chain, { abi: coreAbi, to: core, method: 'getGuardianSet', args: [index], at })
    const [keys, expires] = set as [readonly string[], bigint]
    const expirationTime = Number(expires)
    return { index, keys: Array.from(keys, (key) => key.toLowerCase()), expirationTime, current: index === current && expirationTime === 0 }
  }

  return {
    /** Throws GUARDIAN_SET_UNKNOWN (next index), GUARDIAN_SET_IMPOSSIBLE (higher indexes), read errors. */
    async get(index: number): Promise<GuardianSet> {
      let current = await newest.get('index', ttlMs)
      if (index > current) current = await newest.get('index', doubtedEveryMs)
      if (index > current)
        throw new RelayerError(index > current + 1 ? 'GUARDIAN_SET_IMPOSSIBLE' : 'GUARDIAN_SET_UNKNOWN', {
          facts: { chain: chain.name, guardianSet: index, newest: current },
        })
      return sets.get(index, ttlMs)
    },
  }
}
