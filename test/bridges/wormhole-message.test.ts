import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf, signedBy } from '../../bridges/kit/signed-messages.ts'
import { parseTokenTransfer } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { codeOf } from '../helpers/refusals.ts'
import { altered, bytesOf, mainnetVaa, mainnetVaas, signVaa, transferPayload } from '../helpers/vaa.ts'

const { product, messages, decode } = tokenBridgeMessages(
  new Map([
    [2, 'ethereum'],
    [4, 'bsc'],
    [10, 'fantom'],
  ]),
)
const transfers = mainnetVaas.filter(({ payloadType }) => payloadType === 1)

describe('the token bridge message', () => {
  test('the guardian set of a message is read without its payload, because long messages are decoded often', () => {
    const { bytes } = signVaa({ payload: '0x02' }, { setIndex: 4 })
    expect(signedBy(bytes)).toBe(4)
    expect(codeOf(() => decode(bytes))).toBe('PAYLOAD_KIND')
    expect(codeOf(() => signedBy(bytes.subarray(0, 5)))).toBe('VAA_TRUNCATED')
  })

  test.each(mainnetVaas)('the token bridge message has the digest that the contracts know: $name', (vector) => {
    expect(digestOf(parseVaa(bytesOf(vector)))).toBe(vector.digest)
  })

  test.each(transfers)('the parser of token bridge messages reads $name', (vector) => {
    const transfer = parseTokenTransfer(parseVaa(bytesOf(vector)).payload)
    const said = vector.transfer!
    expect({ ...transfer, amount: String(transfer.amount), fee: String(transfer.fee) }).toEqual({
      kind: 1,
      amount: said.amount,
      fee: said.fee,
      originToken: `${said.tokenChain}/${said.tokenAddress}`,
      originChain: said.tokenChain,
      originAddress: said.tokenAddress,
      recipient: `0x${said.to.slice(24)}`,
      targetChain: said.toChain,
    })
    if (![2, 4, 10].includes(said.toChain)) return
    expect(product.parties(messages.readBytes(bytesOf(vector)).message)).toEqual({
      amount: said.amount,
      token: `${said.tokenChain}/${said.tokenAddress}`,
      recipient: `0x${said.to.slice(24)}`,
    })
  })

  test('the token bridge message becomes a transfer in plain JSON, whose source need not be configured', () => {
    const vector = mainnetVaa('transfer, payload 1, chain 1 to 2')
    const transfer = decode(bytesOf(vector))
    expect(transfer).toEqual({
      bridge: 'wormhole-token-bridge',
      sourceChain: 'wormhole-1',
      sourceId: '1',
      targetChain: 'ethereum',
      emitter: vector.emitterAddress,
      sequence: '110277',
      digest: vector.digest,
      message: vector.vaa,
    })
    expect(JSON.parse(JSON.stringify(transfer))).toEqual(transfer)
    expect(transferId(transfer)).toBe(`wormhole-token-bridge:1:${vector.emitterAddress}:110277:c90519b2bdfacac4`)
  })

  test('a message has the same id if its source is renamed, or missing in the config', () => {
    const bytes = bytesOf(mainnetVaa('transfer, payload 1, chain 1 to 2'))
    const names = [[], [[1, 'solana']], [[1, 'another-name']]] as const
    const ids = names.map((more) => transferId(tokenBridgeMessages(new Map<number, string>([[2, 'ethereum'], ...more])).decode(bytes)))
    expect(new Set(ids).size).toBe(1)
  })

  test('the token bridge message is one transfer however it is signed', () => {
    const [good, resigned] = [mainnetVaa('the same transfer re-signed'), mainnetVaa('the same transfer with two bad')].map((vector) =>
      decode(bytesOf(vector)),
    )
    expect(good!.message).not.toBe(resigned!.message)
    expect(transferId(good!)).toBe(transferId(resigned!))
  })

  test('two messages that claim one sequence are two transfers', () => {
    const [one, other] = [1n, 2n].map((fee) => decode(signVaa({ payload: transferPayload({ fee }) }).bytes))
    expect([one!.sequence, one!.emitter]).toEqual([other!.sequence, other!.emitter])
    expect(transferId(one!)).not.toBe(transferId(other!))
  })

  test.each([
    ['mainnet attest', bytesOf(mainnetVaa('attest')), 'PAYLOAD_KIND'],
    ['guardian set upgrade', bytesOf(mainnetVaa('guardian set upgrade')), 'PAYLOAD_KIND'],
    ['no payload', signVaa({ payload: '0x' }).bytes, 'PAYLOAD_KIND'],
    ['payload 0', signVaa({ payload: transferPayload({ kind: 0 }) }).bytes, 'PAYLOAD_KIND'],
    ['payload 4', signVaa({ payload: transferPayload({ kind: 4 }) }).bytes, 'PAYLOAD_KIND'],
    ['payload 1 that is too long', signVaa({ payload: transferPayload({ rest: '0x00' }) }).bytes, 'PAYLOAD_LENGTH'],
    ['payload 3 that is too short', signVaa({ payload: transferPayload({ kind: 3 }).slice(0, -2) }).bytes, 'PAYLOAD_LENGTH'],
    ['a target that is not configured', signVaa({ payload: transferPayload({ toChain: 6 }) }).bytes, 'TARGET_CHAIN_UNSUPPORTED'],
    ['target 0', signVaa({ payload: transferPayload({ toChain: 0 }) }).bytes, 'TARGET_CHAIN_UNSUPPORTED'],
    ['version 2', altered(signVaa().bytes, 0, 2), 'VAA_VERSION'],
    ['nothing', new Uint8Array(), 'VAA_TRUNCATED'],
  ])('the parser of token bridge messages refuses %s', (_, bytes, code) => {
    expect(codeOf(() => decode(bytes))).toBe(code)
  })

  test('the parser of token bridge messages takes a payload 3 with a contract part of any length', () => {
    for (const rest of ['0x', '0x00', `0x${'ab'.repeat(500)}`]) {
      const transfer = parseTokenTransfer(parseVaa(signVaa({ payload: transferPayload({ kind: 3, rest, fee: 5n }) }).bytes).payload)
      // Payload 3 has the sender's address where payload 1 has the fee.
      expect([transfer.kind, transfer.fee]).toEqual([3, 0n])
    }
  })

  test('the parser of token bridge messages refuses every shorter copy with a code', () => {
    const whole = bytesOf(mainnetVaa('transfer, payload 1, chain 1 to 2'))
    const codes = Array.from({ length: whole.length + 1 }, (_, length) => codeOf(() => decode(whole.subarray(0, length))))
    const bodyEnd = whole.length - 133
    expect(new Set(codes.slice(0, bodyEnd))).toEqual(new Set(['VAA_TRUNCATED']))
    expect(codes[bodyEnd]).toBe('PAYLOAD_KIND')
    expect(new Set(codes.slice(bodyEnd + 1, -1))).toEqual(new Set(['PAYLOAD_LENGTH']))
    expect(codes.at(-1)).toBe('none')
  })

  test('u64 and u256 stay whole, from the bytes of a message to its id and back', () => {
    const u256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const u64 = fc.oneof(fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
    fc.assert(
      fc.property(u64, u256, u256, (sequence, amount, fee) => {
        const { bytes, digest } = signVaa({ sequence, payload: transferPayload({ amount, fee }) })
        const transfer = decode(bytes)
        expect([transfer.sequence, transfer.digest]).toEqual([String(sequence), digest])
        expect(transferId(transfer)).toContain(`:${sequence}:`)
        const again = parseVaa(Buffer.from(transfer.message, 'base64'))
        const content = parseTokenTransfer(again.payload)
        expect([again.sequence, content.amount, content.fee]).toEqual([String(sequence), amount, fee])
      }),
      { numRuns: 40 },
    )
  })
})
