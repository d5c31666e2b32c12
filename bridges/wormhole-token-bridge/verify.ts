import { decodeBase64, getBytes } from 'ethers'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa, quorum, type Vaa } from '../../domain/vaa.ts'
import { createVerifiedMessages } from '../kit/verified-messages.ts'
import { type Refusals, toVerdict } from '../kit/verdict.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { coreAbi, type TokenBridgeReads, unregistered } from './contracts.ts'
import { digestOf, readMessage, type TokenBridgeMessage, type TokenTransfer } from './message.ts'

/** Policy of one target chain. Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of their native chain. */
export interface PolicyOptions {
  /** Origin tokens that are delivered. Absent: all. */
  readonly assets?: readonly string[]
  /** Origin token → minimum fee, decimal, in the VAA's units (at most 8 decimals). */
  readonly minimumFees?: Readonly<Record<string, string>>
  /** Origin token → value of one VAA unit, wei of the target's coin, decimal. */
  readonly prices?: Readonly<Record<string, string>> | undefined
  /** True: delivers tokens without a minimum fee from this chain. Absent: from none. */
  readonly isFree?: (sourceChain: ChainName) => boolean
  /** Recipient contract (lower-case 0x) → its function `name(bytes)` for payload 3. Only the recipient may redeem. */
  readonly calls?: Readonly<Record<string, string>>
}

interface ProofOptions {
  readonly chain: { readonly name: string }
  /** Wormhole chain id. */
  readonly wormholeChainId: number
  readonly verify: (message: Uint8Array) => Promise<void>
  readonly reads: Pick<TokenBridgeReads, 'emitter' | 'agreedEmitter'>
}

/** Checks target, signatures and registered emitter. Throws MESSAGE_MISMATCH, EMITTER_UNKNOWN, what `verify` throws. */
export function createProof({ chain, wormholeChainId, verify, reads }: ProofOptions) {
  return async function prove(bytes: Uint8Array): Promise<TokenBridgeMessage> {
    const message = readMessage(bytes)
    const { emitter, emitterChain } = message.vaa
    const { targetChain } = message.transfer
    if (targetChain !== wormholeChainId) {
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { chain: chain.name, wormholeChainId, targetChain } })
    }
    await verify(bytes)
    await checkEmitter({ chain, reads }, emitterChain, emitter)
    return message
  }
}

export type Proof = ReturnType<typeof createProof>

/** See `Endpoint`. `validate` checks all conditions of a delivery. */
export function createVerdicts(policy: PolicyOptions, verify: ProofOptions['verify'], prove: Proof) {
  /** Throws MESSAGE_MISMATCH, and what `prove` and `checkPolicy` throw. */
  async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    const { vaa, digest } = readMessage(bytes)
    const isSource = vaa.emitter === transfer.emitter && String(vaa.emitterChain) === transfer.sourceId
    const isSame = digest === transfer.digest && isSource && vaa.sequence === transfer.sequence
    if (!isSame) throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found: digest } })
    checkPolicy(policy, transfer.sourceChain, (await prove(bytes)).transfer)
  }

  return {
    verify: (message: Uint8Array) => toVerdict(verify(message), refusals),
    accepts: (message: Uint8Array) => toVerdict(prove(message), refusals),
    validate: (transfer: Transfer) => toVerdict(check(transfer), refusals),
  }
}

/** Throws EMITTER_UNKNOWN unless the target registered the emitter, by most nodes. Refusals are not cached. */
export async function checkEmitter({ chain, reads }: Pick<ProofOptions, 'chain' | 'reads'>, emitterChain: number, emitter: string) {
  if ((await reads.emitter(emitterChain)) === emitter) return
  const registered = await reads.agreedEmitter(emitterChain)
  if (registered === emitter) return
  const detail = registered === unregistered ? `The token bridge of ${chain.name} has registered none for that chain.` : ''
  throw new RelayerError('EMITTER_UNKNOWN', { detail, facts: { emitterChain, emitter } })
}

/** The config's rules. Throws PAYLOAD_WITH_CALL, ASSET_UNSUPPORTED, FEE_NOT_CONFIGURED, FEE_TOO_LOW. */
function checkPolicy({ assets, minimumFees, calls, isFree }: PolicyOptions, sourceChain: ChainName, transfer: TokenTransfer): void {
  const { kind, recipient, originToken, fee } = transfer
  if (kind === 3 && calls?.[recipient] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient } })
  if (assets && !assets.includes(originToken)) throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
  // A transfer with a configured call (payload 3) pays no fee and is delivered for free.
  if (kind === 3) return
  const minimum = minimumFees?.[originToken] ?? (isFree?.(sourceChain) ? '0' : undefined)
  if (minimum === undefined) throw new RelayerError('FEE_NOT_CONFIGURED', { facts: { token: originToken, sourceChain } })
  if (fee < BigInt(minimum)) throw new RelayerError('FEE_TOO_LOW', { facts: { token: originToken, fee: String(fee), minimum } })
}

/** Throws VAA_*, GUARDIAN_SET_EXPIRED, GUARDIAN_SET_UNKNOWN (wait), read errors. `now`: the target's time, seconds. */
export function createVerifier(guardianSets: GuardianSets, now: () => number) {
  const good = createVerifiedMessages({ rememberMs: 0 })
  return async function verify(message: Uint8Array): Promise<void> {
    const vaa = parseVaa(message)
    // No guardian set accepts a message without signatures, so no chain is asked for the set.
    if (vaa.signatures.length === 0) throw new RelayerError('VAA_NO_QUORUM', { facts: { signatures: 0, needed: quorum(0) } })
    const set = await guardianSets.get(vaa.guardianSetIndex)
    const time = set.current ? 0 : now()
    const under = `${set.index} ${set.keys.join(' ')}`
    await good.once(message, under, () => verifySignatures(vaa, set))
    // Checked last, so that this error implies valid signatures.
    const { index, current, expirationTime } = set
    if (!current && expirationTime < time)
      throw new RelayerError('GUARDIAN_SET_EXPIRED', { facts: { guardianSet: index, expirationTime, now: time } })
  }
}

/** Checks like verifyVM of Messages.sol. Throws VAA_NO_QUORUM, VAA_GUARDIAN_INDEX, VAA_SIGNATURE_INVALID. */
function verifySignatures(vaa: Vaa, set: GuardianSet): void {
  const needed = quorum(set.keys.length)
  if (vaa.signatures.length < needed) throw new RelayerError('VAA_NO_QUORUM', { facts: { signatures: vaa.signatures.length, needed } })
  const digest = getBytes(digestOf(vaa))
  for (const { guardianIndex, signature } of vaa.signatures) {
    const guardian = set.keys[guardianIndex]
    const facts = { guardianSet: set.index, guardian: guardianIndex }
    if (guardian === undefined) throw new RelayerError('VAA_GUARDIAN_INDEX', { facts: { ...facts, guardians: set.keys.length } })
    // Recovers like ecrecover with v of 0 or 1. Undefined where the contract gets the zero address or reverts.
    const signer = secp256k1().recover(digest, signature.subarray(0, 64), signature[64] ?? Number.NaN)
    if (signer !== guardian) throw new RelayerError('VAA_SIGNATURE_INVALID', { facts })
  }
}

export const refusals: Refusals = {
  MESSAGE_ENCODING: { kind: 'rejected' },
  MESSAGE_MISMATCH: { kind: 'rejected' },
  VAA_TRUNCATED: { kind: 'rejected' },
  VAA_VERSION: { kind: 'rejected' },
  VAA_SIGNATURE_ORDER: { kind: 'rejected' },
  VAA_GUARDIAN_INDEX: { kind: 'rejected' },
  VAA_SIGNATURE_INVALID: { kind: 'rejected' },
  VAA_NO_QUORUM: { kind: 'rejected' },
  GUARDIAN_SET_EXPIRED: { kind: 'rejected', awaitNewSignatures: true },
  GUARDIAN_SET_UNKNOWN: { kind: 'wait', unverified: true },
  // The submitter refuses messages with this error. In a transfer, the error means that a node is far behind or lies.
  GUARDIAN_SET_IMPOSSIBLE: { kind: 'wait', unverified: true },
  MESSAGE_TOO_LARGE: { kind: 'declined' },
  PAYLOAD_KIND: { kind: 'rejected' },
  PAYLOAD_LENGTH: { kind: 'rejected' },
  EMITTER_UNKNOWN: { kind: 'rejected' },
  PAYLOAD_WITH_CALL: { kind: 'declined' },
  ASSET_UNSUPPORTED: { kind: 'declined' },
  FEE_NOT_CONFIGURED: { kind: 'declined' },
  FEE_TOO_LOW: { kind: 'declined' },
}

export interface GuardianSet {
  readonly index: number
  /** 0x addresses, lower case, by place in the set. */
  readonly keys: readonly string[]
  /** Seconds since the epoch; 0 for the current set. */
  readonly expirationTime: number
  readonly current: boolean
}

/** Guardian sets are read again after this time, ms, because an upgrade makes the current set expire. */
const ttlMs = 60_000
/** Minimum time between reads for unknown sets, ms. */
const unknownEveryMs = 1_000

interface Kept<T> {
  readonly value: Promise<T>
  readonly readAt: number
}

type GuardianSets = ReturnType<typeof createGuardianSets>

/** Read from most nodes, since one node could invent a set or keep an expired set alive. */
const at = 'majority-latest'

/** The guardian sets of one core contract. They are read rarely, since a set changes about once a year. */
export function createGuardianSets(chain: ContractReader, core: string, clock = () => performance.now()) {
  const sets = new Map<number, Kept<GuardianSet>>()
  const newest = new Map<'index', Kept<number>>()

  function keep<K, T>(cache: Map<K, Kept<T>>, key: K, maxAgeMs: number, make: () => Promise<T>): Promise<T> {
    const known = cache.get(key)
    if (known && clock() - known.readAt < maxAgeMs) return known.value
    const value = make().catch((error: unknown) => {
      // Without an answer the last known value is used. `validate` checks again before anything is sent.
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

  // The index was read before. If an upgrade came in between, the set already has its expiration time.
  async function readSet(index: number, current: number): Promise<GuardianSet> {
    // Fields are read by position, because an array's method `keys` hides the field `keys`.
    const [set] = await read(chain, { abi: coreAbi, to: core, method: 'getGuardianSet', args: [index], at })
    const [keys, expires] = set as [readonly string[], bigint]
    const expirationTime = Number(expires)
    return { index, keys: Array.from(keys, (key) => key.toLowerCase()), expirationTime, current: index === current && expirationTime === 0 }
  }

  return {
    /** Throws GUARDIAN_SET_UNKNOWN (next index), GUARDIAN_SET_IMPOSSIBLE (higher indexes), read errors. */
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
