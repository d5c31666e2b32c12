import { serializeLayout } from '@wormhole-foundation/sdk-base'
import { relayInstructionsLayout, UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { concat, getBytes, keccak256, SigningKey } from 'ethers'
import fc from 'fast-check'
import { encodeQuote, type Quote } from '../../bridges/executor/quote.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'

const { address, privateKey } = devnetAccount(20)
export const quoter = address
export const key = new SigningKey(privateKey)
export const highestU64 = 2n ** 64n - 1n
export const u16 = fc.nat(65_535)
export const u64 = fc.bigInt({ min: 0n, max: highestU64 })
export const u128 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })
export const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((one) => Buffer.from(one).toString('hex'))
/** Seconds that JavaScript's Date can represent. */
const seconds = fc.bigInt({ min: 0n, max: 8_640_000_000_000n })
export const price = fc.bigInt({ min: 1n, max: highestU64 })
export const quotes: fc.Arbitrary<Quote> = fc.record({
  quoter: hex(20).map((one) => `0x${one}`),
  payee: hex(32),
  sourceChain: u16,
  targetChain: u16,
  expiry: seconds,
  baseFee: u64,
  gasPrice: u64,
  sourcePrice: price,
  targetPrice: u64,
})

export function signed(quote: Quote, by = key): Buffer {
  const bytes = encodeQuote(quote)
  return Buffer.from(getBytes(concat([bytes, by.sign(keccak256(bytes)).serialized])))
}

export const instruction = fc.oneof(
  fc.record({ type: fc.constant('GasInstruction' as const), gasLimit: u128, msgValue: u128 }),
  fc.record({
    type: fc.constant('GasDropOffInstruction' as const),
    dropOff: u128,
    recipient: hex(32).map((one) => new UniversalAddress(one)),
  }),
)
export type Instruction = (typeof instruction)['generate'] extends (...any: never[]) => { value: infer One } ? One : never
export const bytesOf = (requests: readonly Instruction[]) =>
  serializeLayout(relayInstructionsLayout, { requests: requests.map((request) => ({ request })) })
