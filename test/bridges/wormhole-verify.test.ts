import { getBytes, toBeHex, toBigInt } from 'ethers'
import { describe, expect, test, vi } from 'vitest'
import { createVerifier, type GuardianSet } from '../../bridges/kit/signed-messages.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { altered, bytesOf, mainnetGuardians, mainnetVaas, type SignOptions, signVaa } from '../helpers/vaa.ts'

const now = 1_700_000_000
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const firstSignature = 7

function devnetSet(guardians: number, fields: Partial<GuardianSet> = {}): GuardianSet {
  return { index: 0, keys: devnetGuardians(guardians).map(({ address }) => address), expirationTime: 0, current: true, ...fields }
}

function verdictOn(bytes: Uint8Array, set: GuardianSet): Promise<string> {
  return codeOfAsync(() => createVerifier({ get: async () => set }, () => now)(bytes))
}

function signed(options: SignOptions): Uint8Array {
  return signVaa({}, options).bytes
}

describe('the signatures of a message', () => {
  test.each(mainnetVaas)('the verifier judges a real VAA by its real set: $name', async (vector) => {
    const keys = mainnetGuardians.get(vector.guardianSetIndex)!
    const set = { index: vector.guardianSetIndex, keys, expirationTime: 0, current: true }
    const good = vector.validSignatures === vector.signatures
    expect(await verdictOn(bytesOf(vector), set)).toBe(good ? 'none' : 'VAA_SIGNATURE_INVALID')
  })

  test('the verifier refuses a real VAA by any set that did not sign it', async () => {
    const vector = mainnetVaas[0]!
    const others = [...mainnetGuardians].filter(([index]) => index !== vector.guardianSetIndex)
    const sets = others.map(([index, keys]) => ({ index, keys, expirationTime: 0, current: true }))
    const codes = await Promise.all(sets.map((set) => verdictOn(bytesOf(vector), set)))
    // Sets 2 and 3 differ from set 1 only in a guardian who did not sign this VAA.
    expect(codes.filter((code) => code !== 'none').length).toBeGreaterThanOrEqual(4)
    expect(new Set(codes.filter((code) => code !== 'none'))).toEqual(new Set(['VAA_GUARDIAN_INDEX', 'VAA_SIGNATURE_INVALID']))
  })

  test('a message needs a quorum of any guardians', async () => {
    const indices = Array.from({ length: 19 }, (_, index) => index)
    const set = devnetSet(19)
    expect(await verdictOn(signed({ guardians: 19, signers: [] }), set)).toBe('VAA_NO_QUORUM')
    expect(await verdictOn(signed({ guardians: 19, signers: indices.slice(0, 12) }), set)).toBe('VAA_NO_QUORUM')
    expect(await verdictOn(signed({ guardians: 19, signers: indices.slice(0, 13) }), set)).toBe('none')
    expect(await verdictOn(signed({ guardians: 19, signers: indices.slice(6) }), set)).toBe('none')
    expect(await verdictOn(signed({ guardians: 19, signers: indices }), set)).toBe('none')
    expect(await verdictOn(signed({ guardians: 1, signers: [] }), devnetSet(1))).toBe('VAA_NO_QUORUM')
  })

  test('the verifier refuses a guardian outside the set', async () => {
    expect(await verdictOn(signed({ guardians: 19, signers: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 18] }), devnetSet(18))).toBe(
      'VAA_GUARDIAN_INDEX',
    )
    expect(await verdictOn(altered(signed({}), 6, 255), devnetSet(1))).toBe('VAA_GUARDIAN_INDEX')
  })

  test('the verifier refuses one bad signature beyond the quorum, as the contract does', async () => {
    const all = signed({ guardians: 19, signers: Array.from({ length: 19 }, (_, index) => index) })
    expect(await verdictOn(altered(all, firstSignature + 18 * 66 + 40, 1, 2, 3), devnetSet(19))).toBe('VAA_SIGNATURE_INVALID')
  })

  test('the verifier refuses a body without signatures', async () => {
    const bytes = signed({})
    expect(await verdictOn(altered(bytes, bytes.length - 1, 1), devnetSet(1))).toBe('VAA_SIGNATURE_INVALID')
  })

  test.each([
    ['r is zero', 0, new Uint8Array(32)],
    ['r is past the order', 0, getBytes(toBeHex(2n ** 256n - 1n))],
    ['s is zero', 32, new Uint8Array(32)],
    ['s is the order', 32, getBytes(toBeHex(curveOrder))],
    ['s is past the order', 32, getBytes(toBeHex(2n ** 256n - 1n))],
    ['v is 27', 64, new Uint8Array([27])],
    ['v is 255', 64, new Uint8Array([255])],
  ])('the verifier refuses a signature whose %s', async (_, at, value) => {
    expect(await verdictOn(altered(signed({}), firstSignature + at, ...value), devnetSet(1))).toBe('VAA_SIGNATURE_INVALID')
  })

  test('the verifier takes both forms of one signature, as ecrecover does', async () => {
    const bytes = signed({})
    const s = toBigInt(bytes.subarray(firstSignature + 32, firstSignature + 64))
    const mirrored = altered(
      altered(bytes, firstSignature + 32, ...getBytes(toBeHex(curveOrder - s, 32))),
      firstSignature + 64,
      1 - bytes[firstSignature + 64]!,
    )
    expect(await verdictOn(mirrored, devnetSet(1))).toBe('none')
  })

  test('the verifier takes a set that is no longer current until it expires', async () => {
    const old = (expirationTime: number) => devnetSet(1, { current: false, expirationTime })
    expect(await verdictOn(signed({}), old(now + 1))).toBe('none')
    expect(await verdictOn(signed({}), old(now))).toBe('none')
    expect(await verdictOn(signed({}), old(now - 1))).toBe('GUARDIAN_SET_EXPIRED')
    expect(await verdictOn(signed({}), devnetSet(1, { expirationTime: 1 }))).toBe('none')
    // Bytes that name the old set but lack its signatures are refused for good, not as expired.
    const [byOthers] = [signVaa({}).bytes]
    byOthers[firstSignature + 10]! ^= 1
    expect(await verdictOn(byOthers, old(now - 1))).toBe('VAA_SIGNATURE_INVALID')
  })
})

describe('the verifier', () => {
  test('signatures of the same bytes are checked once per guardian set, and its expiry each time', async () => {
    let set = devnetSet(1)
    const verify = createVerifier({ get: async () => set }, () => now)
    const recover = vi.spyOn(secp256k1(), 'recover')
    const { bytes } = signVaa()
    expect(await codeOfAsync(() => verify(bytes))).toBe('none')
    expect(await codeOfAsync(() => verify(new Uint8Array(bytes)))).toBe('none')
    set = devnetSet(1, { current: false, expirationTime: now })
    expect(await codeOfAsync(() => verify(bytes))).toBe('none')
    expect(recover).toHaveBeenCalledTimes(1)
    set = devnetSet(1, { current: false, expirationTime: now - 1 })
    expect(await codeOfAsync(() => verify(bytes))).toBe('GUARDIAN_SET_EXPIRED')
    set = devnetSet(1)
    expect(await codeOfAsync(() => verify(signVaa({ sequence: 43n }).bytes))).toBe('none')
    expect(recover).toHaveBeenCalledTimes(2)
    recover.mockRestore()
  })

  test('an earlier verdict does not count for other guardian keys, even under the same set index', async () => {
    let set = devnetSet(1)
    const verify = createVerifier({ get: async () => set }, () => now)
    const { bytes } = signVaa()
    expect(await codeOfAsync(() => verify(bytes))).toBe('none')
    set = devnetSet(1, { keys: ['0x0000000000000000000000000000000000000001'] })
    expect(await codeOfAsync(() => verify(bytes))).toBe('VAA_SIGNATURE_INVALID')
    expect(await codeOfAsync(() => verify(altered(bytes, bytes.length - 1, 1)))).toBe('VAA_SIGNATURE_INVALID')
    set = devnetSet(2)
    expect(await codeOfAsync(() => verify(bytes))).toBe('VAA_NO_QUORUM')
    set = devnetSet(1)
    expect(await codeOfAsync(() => verify(bytes))).toBe('none')
  })

  test('the verifier asks for the time only where it matters', async () => {
    const withoutBlocks = () => {
      throw new RelayerError('NODE_UNAVAILABLE')
    }
    const { bytes } = signVaa()
    const of = (set: GuardianSet) => createVerifier({ get: async () => set }, withoutBlocks)
    expect(await codeOfAsync(() => of(devnetSet(1))(bytes))).toBe('none')
    expect(await codeOfAsync(() => of(devnetSet(1, { current: false, expirationTime: now }))(bytes))).toBe('NODE_UNAVAILABLE')
  })
})
