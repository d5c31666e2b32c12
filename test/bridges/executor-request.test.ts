import { decodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import { readMessage, writeMessage } from '../../bridges/executor/message.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { universal, other, vaaOf, message, logs, always, never, endpointOf, transferOf, type Setting } from './executor-setting.ts'

test('a request is written and read again, with and without its message', () => {
  for (const one of [message(), message({}, new Uint8Array())])
    expect(writeMessage(readMessage(writeMessage(one)))).toEqual(writeMessage(one))
  expect(() => readMessage(concatBytes(writeMessage(message()), Uint8Array.of(0)))).toThrow(
    expect.objectContaining({ code: 'EXECUTOR_MESSAGE' }),
  )
})

test('a message above the limit is not decoded, and a request whose VAA would make it so large is declined', async () => {
  expect(() => readMessage(new Uint8Array(mostMessageBytes + 1))).toThrow(expect.objectContaining({ code: 'MESSAGE_TOO_LARGE' }))
  const asLogged = transferOf(message({}, new Uint8Array()))
  const attested = async (bytes: number) => {
    const endpoint = endpointOf({ published: vaaOf(`0x${'01'.repeat(bytes)}`) })
    return [(await endpoint.attest?.(asLogged))?.kind, await endpoint.validate(asLogged)]
  }
  expect(await attested(190_000)).toMatchObject(['attested', {}])
  expect(await attested(mostMessageBytes)).toMatchObject([undefined, { kind: 'declined', code: 'EXECUTOR_UNSUPPORTED' }])
})

test('a request as it was logged shows its delivery, once guardians have signed the message', async () => {
  const asLogged = transferOf(message({}, new Uint8Array()))
  const shown = (options: Setting) => endpointOf({ isDelivered: always, ...options }).delivered(asLogged, 'finalized')
  expect(await shown({})).toBe(false)
  expect(await shown({ published: vaaOf('0x01', { guardians: 1 }) })).toBe(false)
  expect(await shown({ published: vaaOf() })).toBe(true)
  expect(await shown({ published: vaaOf(), isDelivered: never })).toBe(false)
})

test('without a signed message, the delivery of a request is never reported as undone', async () => {
  const asLogged = transferOf(message({}, new Uint8Array()))
  const may = (options: Setting, transfer = asLogged) => endpointOf({ isDelivered: always, ...options }).mayShow?.(transfer)
  expect([await may({}), await may({ published: vaaOf('0x01', { guardians: 1 }) })]).toEqual([false, false])
  expect([await may({ published: vaaOf() }), await may({}, transferOf(message()))]).toEqual([true, true])
})

test('the delivery of another signed message does not count as the delivery of a request', async () => {
  const foreign = transferOf(message({}, vaaOf('0x01', { sequence: 8n })))
  const endpoint = endpointOf({ isDelivered: always })
  expect([await endpoint.delivered(foreign, 'latest'), await endpoint.mayShow?.(foreign)]).toEqual([false, false])
})

test('the transfer of a request is the same before and after its message is signed', () => {
  const { message: _, ...before } = transferOf(message({}, new Uint8Array()))
  expect(transferOf(message())).toMatchObject(before)
})

describe('The check of a request', () => {
  test('the check of a request accepts it, and refuses a transfer that claims another place', async () => {
    const transfer = transferOf(message())
    expect(await endpointOf().validate(transfer)).toEqual({ kind: 'valid' })
    expect(await endpointOf().validate({ ...transfer, sourceChain: 'former-name' })).toEqual({ kind: 'valid' })
    expect(await endpointOf().validate({ ...transfer, sequence: '9000004' })).toMatchObject({ code: 'MESSAGE_MISMATCH' })
  })

  test('only a request of another Executor contract is refused because of the config', async () => {
    const transfer = transferOf(message())
    const rejected = { kind: 'rejected', code: 'MESSAGE_MISMATCH' }
    expect(await endpointOf().validate({ ...transfer, emitter: universal(other) })).toMatchObject({ ...rejected, ofConfig: true })
    const foreign = await endpointOf().validate({ ...transfer, digest: `0x${'00'.repeat(32)}` })
    expect(foreign).toMatchObject(rejected)
    expect(foreign).not.toHaveProperty('ofConfig')
  })

  test.each([
    ['underpaid', message({ amountPaid: 100_004n }), 'EXECUTOR_UNDERPAID'],
    ['for a contract without a view', message({ targetAddress: universal(other) }), 'EXECUTOR_UNSUPPORTED'],
    ['of another provider', message({ quoter: other }), 'EXECUTOR_QUOTE_UNKNOWN'],
  ])('the check of a request declines a request that is %s', async (_, one, code) => {
    expect(await endpointOf().validate(transferOf(one))).toMatchObject({ kind: 'declined', code })
  })

  test('the check of a request waits while the guardians have not signed its message', async () => {
    const unsigned = transferOf(message({}, new Uint8Array()))
    expect(await endpointOf().attest?.(unsigned)).toMatchObject({ kind: 'wait', code: 'VAA_NOT_FOUND', reason: 'not signed yet' })
    expect(await endpointOf().attest?.(transferOf(message()))).toBeUndefined()
    expect(Buffer.from(logs[0]!).equals(decodeBase64(unsigned.message))).toBe(true)
  })
})

function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}
