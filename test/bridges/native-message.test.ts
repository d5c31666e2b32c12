import { AbiCoder, concat, hexlify, keccak256 } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createDecode,
  completionArguments,
  idOf,
  nativeBridge,
  type NativeMessage,
  type NativeRoute,
  type NativeTransfer,
  readMessage,
  transferOfCompletion,
  writeMessage,
  contentOf,
} from '../../bridges/native-bridge/message.ts'
import { batchIntent, completionIntent } from '../../bridges/native-bridge/calls.ts'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { codeOf } from '../helpers/refusals.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((value) => hexlify(value))
const transfers: fc.Arbitrary<NativeTransfer> = fc
  .record({
    initiator: bytes(20),
    recipient: bytes(32),
    amount: fc.bigInt(1n, 2n ** 256n - 1n),
    nonce: fc.bigInt(1n, 2n ** 64n - 1n),
  })
  .map((fields) => ({ ...fields, id: idOf(fields) }))
const messages: fc.Arbitrary<NativeMessage> = fc
  .tuple(transfers, fc.bigInt(1n, 2n ** 64n - 1n), bytes(20))
  .map(([transfer, sourceNetworkId, sourceBridge]) => ({ ...transfer, sourceNetworkId, sourceBridge }))

const fields = {
  initiator: `0x${'a1'.repeat(20)}`,
  recipient: `0x${'0'.repeat(24)}${'b2'.repeat(20)}`,
  amount: 700n,
  nonce: 3n,
}
const message: NativeMessage = { ...fields, id: idOf(fields), sourceNetworkId: 1337n, sourceBridge: `0x${'c3'.repeat(20)}` }
const route = {
  sourceChain: 'source',
  sourceNetworkId: '1337',
  sourceBridge: message.sourceBridge,
  targetChain: 'target',
  targetBridge: `0x${'d4'.repeat(20)}`,
}
const types = ['bytes32', 'uint256', 'bytes32', 'uint256', 'uint256', 'uint256', 'uint256']

/** Encodes the message with these changes. The changed values may not fit the message's types. */
function bent(changes: Partial<Record<keyof NativeMessage, bigint | string>>): Uint8Array {
  const { id, initiator, recipient, amount, nonce, sourceNetworkId, sourceBridge } = { ...message, ...changes }
  const words = [id, BigInt(initiator), recipient, amount, nonce, sourceNetworkId, BigInt(sourceBridge)]
  return Buffer.from(AbiCoder.defaultAbiCoder().encode(types, words).slice(2), 'hex')
}

const decodeBy = (...routes: NativeRoute[]) => createDecode(routes)

describe('the native bridge message', () => {
  test('the native bridge message is the ABI encoding of its fields', () => {
    fc.assert(
      fc.property(messages, (one) => {
        const values = [one.id, one.initiator, one.recipient, one.amount, one.nonce, one.sourceNetworkId, one.sourceBridge]
        const encoded = AbiCoder.defaultAbiCoder().encode(
          ['bytes32', 'address', 'bytes32', 'uint256', 'uint256', 'uint64', 'address'],
          values,
        )
        expect(hexlify(writeMessage(one))).toBe(encoded)
        expect(readMessage(writeMessage(one))).toEqual(one)
      }),
    )
  })

  test.each([
    ['shorter', writeMessage(message).subarray(1)],
    ['longer', Buffer.concat([writeMessage(message), Buffer.alloc(32)])],
    ['of the nonce 0', bent({ nonce: 0n })],
    ['of a nonce that is no u64', bent({ nonce: 2n ** 64n })],
    ['of the amount 0', bent({ amount: 0n })],
    ['of the network 0', bent({ sourceNetworkId: 0n })],
    ['of a network that is no u64', bent({ sourceNetworkId: 2n ** 64n + 1337n })],
    ['of an initiator that is no address', bent({ initiator: `0x01${message.initiator.slice(2)}` })],
    ['of a contract that is no address', bent({ sourceBridge: `0x${'1'.repeat(24)}${message.sourceBridge.slice(2)}` })],
  ])('the native bridge message is refused if it is %s', (_, altered) => {
    expect(codeOf(() => readMessage(altered))).toBe('NATIVE_MESSAGE')
  })

  test('a native bridge message is refused if any bit of the fields behind its id is changed', () => {
    const good = writeMessage(message)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 * 32 * 8 - 1 }), (bit) => {
        const altered = Uint8Array.from(good)
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(['NATIVE_ID_MISMATCH', 'NATIVE_MESSAGE']).toContain(codeOf(() => readMessage(altered)))
      }),
    )
    expect(codeOf(() => readMessage(bent({ amount: 701n })))).toBe('NATIVE_ID_MISMATCH')
  })

  test('the native bridge message becomes a transfer in plain JSON', () => {
    const transfer = decodeBy(route)(writeMessage(message))
    expect(transfer).toEqual({
      bridge: nativeBridge,
      sourceChain: 'source',
      sourceId: route.sourceNetworkId,
      targetChain: 'target',
      emitter: `${'0'.repeat(24)}${'c3'.repeat(20)}`,
      sequence: '3',
      digest: message.id,
      message: Buffer.from(writeMessage(message)).toString('base64'),
    })
    const { amount, recipient } = message
    const token = `${route.sourceNetworkId}/${transfer.emitter}`
    expect(contentOf(message)).toEqual({ amount: String(amount), token, recipient: `0x${recipient.slice(26)}` })
    expect(JSON.parse(JSON.stringify(transfer))).toEqual(transfer)
    expect(transferId(transfer)).toBe(`native-bridge:${route.sourceNetworkId}:${transfer.emitter}:3:${message.id.slice(2, 18)}`)
  })
})

describe('the routes of the native bridge', () => {
  test('the routes of the native bridge go by network and contract, however they are written', () => {
    const back = { ...route, sourceChain: 'target', sourceNetworkId: '1397', targetChain: 'source', targetBridge: route.sourceBridge }
    const spelled = { ...route, sourceBridge: route.sourceBridge.toUpperCase().replace('0X', '0x') }
    const decode = decodeBy(spelled, back)
    expect(decode(writeMessage(message))).toMatchObject({ targetChain: 'target', emitter: `${'0'.repeat(24)}${'c3'.repeat(20)}` })
    expect(decode(writeMessage({ ...message, sourceNetworkId: 1397n }))).toMatchObject({ targetChain: 'source' })
    expect(codeOf(() => decode(writeMessage({ ...message, sourceNetworkId: 1n })))).toBe('NATIVE_ROUTE_UNKNOWN')
    expect(codeOf(() => decode(writeMessage({ ...message, sourceBridge: route.targetBridge })))).toBe('NATIVE_ROUTE_UNKNOWN')
  })

  test('the routes of the native bridge share no contract', () => {
    const otherTarget = { ...route, targetChain: 'third' }
    const otherSource = { ...route, sourceChain: 'third', sourceNetworkId: '5' }
    for (const other of [otherTarget, otherSource]) expect(codeOf(() => decodeBy(route, other))).toBe('CONFIG_INVALID')
  })
})

describe('the arguments of a completion', () => {
  const packed = (types: string[], args: readonly unknown[]) =>
    keccak256(
      concat(types.map((type, index) => (type === 'raw' ? String(args[index]) : AbiCoder.defaultAbiCoder().encode([type], [args[index]])))),
    )

  test('the arguments of a completion hash to the id: the target cuts the same bytes elsewhere', () => {
    fc.assert(
      fc.property(transfers, (transfer) => {
        const [id, initiator, recipient, amount, nonce] = completionArguments(transfer)
        expect([initiator.length, recipient.length]).toEqual([2 + 64, 2 + 40])
        expect(packed(['raw', 'raw', 'uint256', 'uint256'], [initiator, recipient, amount, nonce])).toBe(id)
        expect(transferOfCompletion([id, initiator, recipient, amount, nonce])).toEqual(transfer)
      }),
    )
  })

  test('the arguments of a completion have the initiator padded on its right', () => {
    const [, initiator, recipient] = completionArguments(message)
    expect([initiator, recipient]).toEqual([`0x${'a1'.repeat(20)}${'0'.repeat(24)}`, `0x${'b2'.repeat(20)}`])
  })

  test('the arguments of a batch are those of its completions, column by column', () => {
    fc.assert(
      fc.property(fc.uniqueArray(transfers, { minLength: 1, maxLength: 10, selector: ({ id }) => id }), (many) => {
        const intent = batchIntent(route.targetBridge, many)
        const columns = nativeBridgeAbi.decodeFunctionData('batchCompleteBridgeTransfer', intent.data).toArray() as unknown[][]
        const rows = many.map((one) => completionIntent(route.targetBridge, one).data)
        const back = many.map((_, row) =>
          nativeBridgeAbi.encodeFunctionData(
            'completeBridgeTransfer',
            columns.map((column) => column[row]),
          ),
        )
        expect(back).toEqual(rows)
      }),
      { numRuns: 30 },
    )
    expect(codeOf(() => batchIntent(route.targetBridge, []))).toBe('INPUT_INVALID')
    expect(codeOf(() => batchIntent(route.targetBridge, [message, message]))).toBe('INPUT_INVALID')
  })
})
