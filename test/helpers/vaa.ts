import { concat, getBytes, toBeHex } from 'ethers'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { type Message, signVaa as sign, type SignedVaa } from '../../lab/devnet/wormhole/vaa.ts'
import mainnet from '../fixtures/mainnet-vaas.json' with { type: 'json' }

export type MainnetVaa = (typeof mainnet.vaas)[number]
export const mainnetVaas: readonly MainnetVaa[] = mainnet.vaas
/** Guardian sets of the mainnet by index. Addresses are lower-case. */
export const mainnetGuardians: ReadonlyMap<number, readonly string[]> = new Map(
  Object.entries(mainnet.guardianSets).map(([index, keys]) => [Number(index), keys.map((key) => key.toLowerCase())]),
)

export function mainnetVaa(name: string): MainnetVaa {
  const found = mainnet.vaas.find((vaa) => vaa.name.startsWith(name))
  if (!found) throw new Error(`The fixture has no VAA "${name}"`)
  return found
}

export function bytesOf({ vaa }: Pick<MainnetVaa, 'vaa'>): Uint8Array {
  return new Uint8Array(Buffer.from(vaa, 'base64'))
}

export interface TransferFields {
  readonly kind: number
  readonly amount: bigint
  /** All addresses in payloads are 64 hex digits. */
  readonly token: string
  readonly tokenChain: number
  readonly to: string
  readonly toChain: number
  readonly fee: bigint
  /** The bytes after the first 133. In a payload 3 they belong to the receiving contract. */
  readonly rest: string
}

/** A payload of the token bridge, 0x hex. Default: a payload 1. */
export function transferPayload(fields: Partial<TransferFields> = {}): string {
  const {
    kind = 1,
    amount = 100_000_000n,
    token = '11'.repeat(32),
    tokenChain = 2,
    to = `${'00'.repeat(12)}${'22'.repeat(20)}`,
    toChain = 4,
    fee = 0n,
    rest = '0x',
  } = fields
  return concat([
    toBeHex(kind, 1),
    toBeHex(amount, 32),
    `0x${token}`,
    toBeHex(tokenChain, 2),
    `0x${to}`,
    toBeHex(toChain, 2),
    toBeHex(fee, 32),
    rest,
  ])
}

export interface SignOptions {
  /** Number of guardians in the set. Default: 1. */
  readonly guardians?: number
  /** Indexes of the guardians that sign. Default: the first guardians that make a quorum. */
  readonly signers?: readonly number[]
  /** Index of the guardian set. Default: 0. */
  readonly setIndex?: number
}

/** Signs a message with the devnet's guardian keys. Default: a payload 1 from Wormhole chain 2 to 4. */
export function signVaa(message: Partial<Message> = {}, { guardians = 1, signers, setIndex = 0 }: SignOptions = {}): SignedVaa {
  const whole: Message = {
    timestamp: 1_700_000_000,
    vaaNonce: 7,
    emitterChain: 2,
    emitter: `${'00'.repeat(12)}${'33'.repeat(20)}`,
    sequence: 42n,
    consistencyLevel: 1,
    payload: transferPayload(),
    ...message,
  }
  return sign(whole, devnetGuardians(guardians), signers, setIndex)
}

export function altered(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = getBytes(bytes, 'vaa').slice()
  copy.set(values, at)
  return copy
}
