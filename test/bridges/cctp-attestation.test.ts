import { concat, getBytes, keccak256, SigningKey, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { checkAttestation, createAttesters, verifyAttested } from '../../bridges/cctp/attesters.ts'
import { curveOrder } from '../../chains/crypto/curve.ts'
import { attest, attesters, burnBytes, transmitterReader } from '../helpers/cctp.ts'
import { codeOf, codeOfAsync } from '../helpers/refusals.ts'
import { altered } from '../helpers/vaa.ts'

const bytes = burnBytes(2)
const [first, second, third] = attesters as [(typeof attesters)[0], (typeof attesters)[0], (typeof attesters)[0]]
const enabled = new Set([first.address, second.address])
const check = (attestation: Uint8Array, threshold = 2) => codeOf(() => checkAttestation({ bytes, attestation }, { threshold, enabled }))

/** The first attester's signature with the higher of two equivalent values of s, which the contract refuses. */
function highS(): Uint8Array {
  const { r, s, yParity } = new SigningKey(first.privateKey).sign(keccak256(bytes))
  return getBytes(concat([r, toBeHex(curveOrder - BigInt(s), 32), toBeHex(28 - yParity, 1)]))
}

describe('An attestation', () => {
  test('an attestation needs the signatures of the threshold, by enabled attesters in ascending order', () => {
    expect(check(attest(bytes))).toBe('none')
    expect(check(attest(bytes, [second]), 1)).toBe('none')
  })

  test.each([
    ['no signature', new Uint8Array(), 2],
    ['no signature at threshold 0', new Uint8Array(), 0],
    ['too few', attest(bytes, [first]), 2],
    ['too many', attest(bytes), 1],
    ['a byte too many', getBytes(concat([attest(bytes), '0x00'])), 2],
    ['descending order', attest(bytes, [second, first]), 2],
    ['one attester twice', attest(bytes, [first, first]), 2],
    ['an attester that is not enabled', attest(bytes, [first, third]), 2],
    ['another message', attest(burnBytes(1)), 2],
    ['a high s', highS(), 1],
    ['v 0', altered(attest(bytes, [first]), 64, 0), 1],
    ['v 29', altered(attest(bytes, [first]), 64, 29), 1],
    ['zeros', new Uint8Array(65), 1],
    ['r above the order', altered(attest(bytes, [first]), 0, ...Array.from({ length: 32 }, () => 0xff)), 1],
  ])('an attestation is refused with %s', (_, attestation, threshold) => expect(check(attestation, threshold)).toBe('CCTP_ATTESTATION'))

  test('an attestation is refused after a change of any of its bytes', () => {
    const good = attest(bytes, [first])
    for (let at = 0; at < good.length; at++) expect(check(altered(good, at, (good[at] ?? 0) ^ 1), 1), `byte ${at}`).toBe('CCTP_ATTESTATION')
  })
})

describe('The attesters of a target', () => {
  function network() {
    const time = { now: 0 }
    const reader = transmitterReader()
    return { ...reader, time, read: createAttesters(reader.chain, `0x${'b1'.repeat(20)}`, () => time.now) }
  }

  test('the attesters of a target are what more than half of the nodes say', async () => {
    const { state, read } = network()
    expect(await read()).toEqual({ threshold: 2, enabled })
    expect(state.at).toEqual(new Set(['majority-latest']))
  })

  test('the attesters of a target are read once a minute, and serve while no node answers', async () => {
    const { state, time, read } = network()
    await Promise.all(Array.from({ length: 50 }, () => read()))
    expect(state.calls).toBe(4)
    time.now = 60_000
    state.up = false
    expect(await read()).toEqual({ threshold: 2, enabled })
    const other = network()
    other.state.up = false
    expect(await codeOfAsync(() => other.read())).toBe('NODE_UNAVAILABLE')
    other.state.up = true
    expect(await codeOfAsync(() => other.read())).toBe('none')
  })

  test('the attesters of a target are read again for an attestation that does not fit, once a second at most', async () => {
    const { state, time, read } = network()
    const attestation = attest(bytes, [first, third])
    const verify = () => codeOfAsync(() => verifyAttested({ bytes, attestation }, read))
    expect([await verify(), await verify()]).toEqual(['CCTP_ATTESTATION', 'CCTP_ATTESTATION'])
    expect(state.calls).toBe(4)
    state.enabled = [first.address, third.address]
    expect(await verify()).toBe('CCTP_ATTESTATION')
    time.now = 1_000
    expect(await verify()).toBe('none')
    expect(state.calls).toBe(8)
  })

  test.each([
    ['a threshold above their number', { threshold: 3 }],
    ['too many of them', { enabled: Array.from({ length: 65 }, () => first.address) }],
  ])('the attesters of a target are refused with %s', async (_, change) => {
    const { state, read } = network()
    Object.assign(state, change)
    expect(await codeOfAsync(() => read())).toBe('NODE_REFUSED')
  })
})
