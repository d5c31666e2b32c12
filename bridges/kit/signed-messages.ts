import { getBytes, Interface, keccak256, toBeHex } from 'ethers'
import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ChainName, type Transfer, unconfiguredSource } from '../../domain/transfer/transfer.ts'
import { parseVaa, quorum, toHex, type Vaa } from '../../domain/vaa.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { type ContractReader, doubtedEveryMs, read, ttlMs } from './contract-reader.ts'
import type { DeliveredView, Route, Shown, SignedMessage } from './plugin.ts'
import type { Refusals } from './verdict.ts'
import { shows } from './views.ts'

export const signedRefusals = {
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
  // The intake refuses such a message. A started transfer meets this error only if a node is far behind or lies.
  GUARDIAN_SET_IMPOSSIBLE: { kind: 'wait', unverified: true },
  MESSAGE_TOO_LARGE: { kind: 'declined' },
  EMITTER_UNKNOWN: { kind: 'rejected' },
  PAYLOAD_KIND: { kind: 'rejected' },
  PAYLOAD_LENGTH: { kind: 'rejected' },
} as const satisfies Refusals

export type ChainNames = ReadonlyMap<number, ChainName>

export function signedBy(bytes: Uint8Array): number {
  return parseVaa(bytes).guardianSetIndex
}

/** From IWormhole.sol. */
export const coreAbi = new Interface([
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32 index) view returns (tuple(address[] keys, uint32 expirationTime))',
  'function nextSequence(address emitter) view returns (uint64)',
  'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce, bytes payload, uint8 consistencyLevel)',
])

/** Fingerprint of a body → digest. Each step of a transfer reads its message again. */
const digests = new LRUCache<string, string>({ max: 4_096 })

/** Computes the digest as parseVM in Messages.sol does. In Wormhole's SDKs, `hash` is the single keccak256. */
export function digestOf({ body }: { readonly body: Uint8Array }): string {
  const key = fingerprint(body)
  const digest = digests.get(key) ?? keccak256(keccak256(body))
  digests.set(key, digest)
  return digest
}

/**
 * Makes the error for a message that no bridge reads. `route`: set if a route fits the message, but the route's product
 * does not read it.
 */
export function ofNobody({ emitterChain, emitter }: SignedMessage, route?: Route): RelayerError {
  const detail = route && 'A route fits this message, but its bridge does not read it (`decode`).'
  return new RelayerError('PAYLOAD_KIND', { detail, facts: { emitterChain, emitter } })
}

/** Throws MESSAGE_MISMATCH if the message is not the transfer's. */
function demandMessage(transfer: Transfer, { digest: found, emitter, emitterChain, sequence }: MessageIdentity): void {
  const isSource = emitter === transfer.emitter && String(emitterChain) === transfer.sourceId
  if (found !== transfer.digest || !isSource || sequence !== transfer.sequence)
    throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found } })
}

export interface Routed {
  readonly vaa: Vaa
  readonly signed: SignedMessage
  readonly route: Route
}

interface Reading {
  /** Absent: PAYLOAD_KIND. */
  readonly unrouted?: ((message: SignedMessage) => RelayerError) | undefined
  /**
   * The transfer that the message must be of. This is checked before the route, because a run that an attacker has
   * started with another message must not end as declined.
   */
  readonly transfer?: Transfer | undefined
}

/**
 * Finds the first route that fits. A source outside `chainNames` is named `wormhole-<id>`. Throws VAA_*,
 * MESSAGE_MISMATCH and the error of `unrouted`.
 */
export function readRouted(
  bytes: Uint8Array,
  routes: readonly Route[],
  chainNames: ChainNames,
  { unrouted = ofNobody, transfer }: Reading = {},
): Routed {
  const vaa = parseVaa(bytes)
  const { emitterChain, emitter, sequence, payload } = vaa
  const source = chainNames.get(emitterChain) ?? unconfiguredSource(emitterChain)
  const signed = { bytes, source, emitterChain, emitter, sequence, digest: digestOf(vaa), payload }
  if (transfer) demandMessage(transfer, signed)
  const route = routes.find((one) => fits(one, signed))
  if (route) return { vaa, signed, route }
  throw unrouted(signed)
}

function fits({ from, where = {} }: Route, { source, emitter, payload }: SignedMessage): boolean {
  if (from !== 'accepted' && !from.some((one) => one.emitter === emitter && one.source === source)) return false
  return Object.entries(where).every(([offset, bytes]) => {
    const start = Number(offset)
    return toHex(payload.subarray(start, start + bytes.length / 2)) === bytes
  })
}

const mostVerified = 4_096

export type Verify = (message: Uint8Array, vaa?: Vaa) => Promise<void>

/** `now`: time of the target chain, seconds. The returned function throws VAA_*, GUARDIAN_SET_* and read errors. */
export function createVerifier(guardianSets: GuardianSets, now: () => number): Verify {
  /** Fingerprint of a message → guardian set. */
  const verified = new LRUCache<string, string>({ max: mostVerified })
  return async function verify(message, vaa = parseVaa(message)) {
    if (vaa.signatures.length === 0) throw new RelayerError('VAA_NO_QUORUM', { facts: { signatures: 0, needed: quorum(0) } })
    const set = await guardianSets.get(vaa.guardianSetIndex)
    const time = set.current ? 0 : now()
    const under = `${set.index} ${set.keys.join(' ')}`
    const key = fingerprint(message)
    if (verified.get(key) !== under) verifySignatures(vaa, set)
    verified.set(key, under)
    // The expiration is checked last, so that GUARDIAN_SET_EXPIRED implies valid signatures.
    const { index, current, expirationTime } = set
    if (!current && expirationTime < time)
      throw new RelayerError('GUARDIAN_SET_EXPIRED', { facts: { guardianSet: index, expirationTime, now: time } })
  }
}

/** Checks signatures as verifyVM in Messages.sol does. */
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

/** Guardian sets are read from most nodes, because a single node could invent a set, or hide that a set has expired. */
const at = 'majority-latest'

export function createGuardianSets(chain: ContractReader, core: string, clock = () => performance.now()) {
  const keeping = { orLast: true, clock }
  const newest = keptReads<'index', number>(readNewest, undefined, keeping)
  // A set is read again after `ttlMs`, because an upgrade makes the current set expire.
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
    /** Throws GUARDIAN_SET_UNKNOWN for the next index, GUARDIAN_SET_IMPOSSIBLE for higher ones, and read errors. */
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

function createAcceptance(chain: ContractReader) {
  // Most nodes are asked, because a lie of one node would be kept as long as the process runs.
  const accepted = keptReads(async (key: string) => shows(chain, JSON.parse(key) as Shown, 'majority-latest'), {
    lasting: (answer) => answer,
  })
  return async function demandAccepted({ accepts }: Route, message: MessageIdentity): Promise<void> {
    if (!accepts) return
    const shown = shownBy(message, accepts.contract, accepts)
    if ((await accepted.get(JSON.stringify(shown))) || (await shows(chain, shown, 'agreed-latest'))) return
    const { emitterChain, emitter } = message
    const detail = `${accepts.contract} of ${chain.name} does not accept it.`
    throw new RelayerError('EMITTER_UNKNOWN', { detail, facts: { emitterChain, emitter }, ofConfig: true })
  }
}

export type Prove = ReturnType<typeof createProve>

/**
 * The returned function checks that a message goes to this chain, is signed, and comes from an accepted emitter. Throws
 * MESSAGE_MISMATCH for a message to another chain, EMITTER_UNKNOWN and the errors of `Verify`.
 */
export function createProve(chain: ContractReader, verify: Verify, demandAccepted = createAcceptance(chain)) {
  return async function prove({ vaa, signed, route }: Routed): Promise<void> {
    if (route.to !== chain.name)
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { chain: chain.name, target: route.to }, ofConfig: true })
    await verify(signed.bytes, vaa)
    await demandAccepted(route, signed)
  }
}

/** Throws the errors of `readRouted` and `Prove`. */
export async function readProved(prove: Prove, ...message: Parameters<typeof readRouted>): Promise<Routed> {
  const routed = readRouted(...message)
  await prove(routed)
  return routed
}

export function shownBy(message: MessageIdentity, receiver: string, { contract = receiver, view, args, is }: DeliveredView): Shown {
  return { contract, view, args: args.map((arg) => valueOf(arg, message)), returns: 'bytes32', is: [wordOf(valueOf(is, message))] }
}

export type MessageIdentity = Pick<SignedMessage, 'digest' | 'emitter' | 'emitterChain' | 'sequence'>

export function valueOf(arg: string, { digest, emitter, emitterChain, sequence }: MessageIdentity): string | boolean {
  const values: Readonly<Record<string, string>> = {
    $digest: digest,
    $emitter: `0x${emitter}`,
    $emitterChain: String(emitterChain),
    $sequence: sequence,
  }
  if (Object.hasOwn(values, arg)) return values[arg] ?? ''
  // ethers would encode the text `false` as true.
  return arg === 'true' || arg === 'false' ? arg === 'true' : arg
}

export function wordOf(is: string | boolean): string {
  return toBeHex(BigInt(is), 32)
}
