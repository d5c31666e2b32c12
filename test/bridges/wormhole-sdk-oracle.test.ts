import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chainIds, contracts, isChainId, toChain } from '@wormhole-foundation/sdk-base'
import { createVAA, deserialize, keccak256, serialize, Signature, UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { digestOf } from '../../bridges/kit/signed-messages.ts'
import { parseTokenTransfer } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { parseVaa, toHex } from '../../domain/vaa.ts'
import { bytesOf, mainnetVaas } from '../helpers/vaa.ts'

// Portage itself cannot use Wormhole's SDK, which refuses VAAs of retired chains (3, Terra).
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const u256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const address = fc.uint8Array({ minLength: 32, maxLength: 32 })
const chain = fc.constantFrom(...chainIds).map((id) => toChain(id))
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })

describe("Wormhole's own SDK", () => {
  test("Wormhole's own SDK reads random transfers like Portage", () => {
    const message = fc.record({ guardianSet: u32, timestamp: u32, nonce: u32, emitterChain: chain, emitter: address, sequence: u64 })
    const transfer = fc.record({ amount: u256, token: address, tokenChain: chain, to: address, toChain: chain, fee: u256 })
    fc.assert(
      fc.property(message, transfer, fc.uniqueArray(fc.integer({ min: 0, max: 18 }), { maxLength: 19 }), (head, body, guardians) => {
        const theirs = createVAA('TokenBridge:Transfer', {
          ...head,
          emitterAddress: new UniversalAddress(head.emitter),
          consistencyLevel: 1,
          signatures: guardians.sort((a, b) => a - b).map((guardianIndex) => ({ guardianIndex, signature: new Signature(1n, 2n, 1) })),
          payload: {
            token: { amount: body.amount, address: new UniversalAddress(body.token), chain: body.tokenChain },
            to: { address: new UniversalAddress(body.to), chain: body.toChain },
            fee: body.fee,
          },
          // TypeScript 7 loses the SDK's types of payloads, so no type fits here.
        } as never)
        const vaa = parseVaa(serialize(theirs))
        const ours = parseTokenTransfer(vaa.payload)
        expect(digestOf(vaa)).toBe(`0x${toHex(keccak256(theirs.hash))}`)
        expect(vaa).toMatchObject({
          guardianSetIndex: head.guardianSet,
          timestamp: head.timestamp,
          vaaNonce: head.nonce,
          emitter: toHex(head.emitter),
          sequence: String(head.sequence),
        })
        expect(toChain(vaa.emitterChain)).toBe(head.emitterChain)
        expect(vaa.signatures.map(({ guardianIndex }) => guardianIndex)).toEqual(guardians)
        expect(ours).toMatchObject({
          amount: body.amount,
          fee: body.fee,
          originAddress: toHex(body.token),
          recipient: `0x${toHex(body.to.subarray(12))}`,
        })
        expect([toChain(ours.originChain), toChain(ours.targetChain)]).toEqual([body.tokenChain, body.toChain])
      }),
    )
  })

  const known = mainnetVaas.filter(({ emitterChain }) => isChainId(emitterChain))
  test.each(known)("Wormhole's own SDK reads a real message like Portage: $name", (vector) => {
    const ours = parseVaa(bytesOf(vector))
    const theirs = deserialize('Uint8Array', bytesOf(vector))
    expect(digestOf(ours)).toBe(`0x${toHex(keccak256(theirs.hash))}`)
    expect(ours.sequence).toBe(String(theirs.sequence))
    expect(ours.emitter).toBe(toHex(theirs.emitterAddress.toUint8Array()))
    expect(toHex(ours.payload)).toBe(toHex(theirs.payload))
  })

  test("Wormhole's own SDK knows the contracts of the example config", () => {
    const file = fileURLToPath(new URL('../../config/portage.example.yaml', import.meta.url))
    const { chains } = parse(readFileSync(file, 'utf8')) as { chains: Record<string, { wormholeChainId: number; contracts: object }> }
    expect(Object.keys(chains).length).toBeGreaterThan(1)
    for (const { wormholeChainId, contracts: ours } of Object.values(chains)) {
      if (!isChainId(wormholeChainId)) throw new Error(`Wormhole has no chain ${wormholeChainId}`)
      const name = toChain(wormholeChainId)
      expect(ours).toEqual({ core: contracts.coreBridge.get('Mainnet', name), tokenBridge: contracts.tokenBridge.get('Mainnet', name) })
    }
  })
})
