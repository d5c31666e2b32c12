import { UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { describe, expect, test } from 'vitest'
import { intentOf } from '../../bridges/executor/calls.ts'
import { encodeCall, selectorOf } from '../../bridges/kit/calls.ts'
import { type ExecutorMessage, writeMessage } from '../../bridges/executor/message.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { bytesOf } from '../helpers/executor.ts'
import { altered } from '../helpers/vaa.ts'
import {
  universal,
  receiver,
  other,
  quote,
  gasOf,
  requestFor,
  vaaOf,
  message,
  logs,
  record,
  unread,
  within,
  always,
  endpointOf,
  transferOf,
} from './executor-setting.ts'

describe('A key signs only the call that a request paid for', () => {
  async function planned(one: ExecutorMessage, options = {}) {
    const endpoint = endpointOf(options)
    return { endpoint, intent: await endpoint.delivery(transferOf(one)).call() }
  }

  const proved = [
    {
      ...{ bridge: 'executor', sourceChain: 'ethereum', payment: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      parties: expect.objectContaining({ recipient: expect.any(String), token: expect.any(String) }),
    },
    within,
  ]

  test('a key signs the call of a paid request, and the plan has no more gas than was paid for', async () => {
    const { endpoint, intent } = await planned(message())
    expect(intent).toEqual({ to: receiver, data: encodeCall({ function: 'executeVAAv1(bytes)', args: [vaaOf()] }), value: '5' })
    expect(endpoint.delivery(transferOf(message()))).toMatchObject({ gasAtMost: 100_000n, payment: { coins: '5' } })
    await expect(endpoint.proveCall(intent, '100000')).resolves.toEqual(proved)
    await expect(endpoint.proveCall(intent, '100001')).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(endpoint.openCalls).toEqual({ [selectorOf('executeVAAv1(bytes)')]: '10' })
  })

  test('for an unlisted contract a key signs the call of the record, until the record shows the delivery', async () => {
    const unlisted = message({ targetAddress: universal(other) }, vaaOf())
    logs.push(writeMessage({ ...unlisted, attested: [] }))
    const { endpoint, intent } = await planned(unlisted, { recordContract: record })
    expect(intent).toMatchObject({ to: record, value: '5' })
    await expect(endpoint.proveCall(intent)).resolves.toEqual(proved)
    for (const change of [{ to: other }, { value: '4' }, { data: `${intent.data}00` }])
      await expect(endpoint.proveCall({ ...intent, ...change })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    const done = await planned(unlisted, { recordContract: record, isDelivered: always })
    await expect(done.endpoint.proveCall(intent)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a key makes no call for a request whose coins were paid for on another chain', async () => {
    const elsewhere = message({ targetChain: 5, signedQuote: quote({ targetChain: 5 }) })
    logs.push(writeMessage({ ...elsewhere, attested: [] }))
    expect(transferOf(elsewhere).targetChain).toBe('polygon')
    const forged = { ...transferOf(elsewhere), targetChain: 'bsc' }
    const made = async () => endpointOf().delivery(forged).call()
    await expect(made()).rejects.toMatchObject({ code: 'MESSAGE_MISMATCH' })
  })

  test('no call is made to a contract for which no view shows the delivery', () => {
    const wanted = { gasLimit: 100_000n, msgValue: 5n, dropOff: 0n }
    const unlisted = message({ targetAddress: universal(other) }, vaaOf())
    expect(() => intentOf({ receivers: {} }, unlisted, wanted)).toThrow(expect.objectContaining({ code: 'EXECUTOR_UNSUPPORTED' }))
  })

  const asking = (gasLimit: bigint, change: Partial<ExecutorMessage['request']> = {}) =>
    message({
      instructions: gasOf(gasLimit),
      ...{ amountPaid: gasLimit + 5n, ...change },
    })

  test("a key signs a paid request's call, although many other requests for the call pay for less gas", async () => {
    const own = asking(300_000n)
    const others = Array.from({ length: 40 }, (_, index) => asking(100_000n, { amountPaid: 100_005n + BigInt(index) }))
    const forged = asking(400_000n, { refundAddress: other })
    logs.push(...[own, ...others].map((one) => writeMessage({ ...one, attested: [] })))
    const { endpoint, intent } = await planned(own)
    for (const one of [...others, forged]) expect(await endpoint.delivery(transferOf(one)).call()).toEqual(intent)
    const [proof] = await endpoint.proveCall(intent, '250000')
    expect(proof).toMatchObject({ payment: transferOf(own).digest })
    await expect(endpoint.proveCall(intent, '300001')).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a key signs the call of a valid request, although many expired requests for it paid more', async () => {
    const expiring = quote({ expiry: 1_000n })
    const late = Array.from({ length: 9 }, (_, index) => asking(500_000n + BigInt(index), { signedQuote: expiring }))
    const own = asking(310_000n)
    logs.push(...[own, ...late].map((one) => writeMessage({ ...one, attested: [] })))
    let seconds = 999
    const endpoint = endpointOf({ clock: () => seconds * 1_000 })
    const [intent] = await Promise.all(late.map((one) => endpoint.delivery(transferOf(one)).call()))
    seconds = 1_000 + 599
    await endpoint.delivery(transferOf(own)).call()
    // If a request was admitted in time, a key signs its call for ten more minutes after the quote has expired.
    await expect(endpoint.proveCall(intent!, '500008')).resolves.toEqual(proved)
    seconds = 1_000 + 600
    await expect(endpoint.proveCall(intent!, '310001')).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    const [proof] = await endpoint.proveCall(intent!, '310000')
    expect(proof).toMatchObject({ payment: transferOf(own).digest })
  })

  test('if no request proves a call and a read failed, the read is retried before the key refuses the call', async () => {
    const { endpoint, intent } = await planned(asking(500_000n, { refundAddress: unread }))
    await endpoint.delivery(transferOf(asking(600_000n, { refundAddress: other }))).call()
    await expect(endpoint.proveCall(intent)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test.each([
    ['that nobody made', { refundAddress: other }, 'CALL_UNJUSTIFIED'],
    ['at places that no node shows', { refundAddress: unread }, 'NODE_UNAVAILABLE'],
  ])('eight requests %s prevent one proof, but not the next proof', async (_, change, code) => {
    const { endpoint, intent } = await planned(message())
    for (let gas = 500_000n; gas < 500_008n; gas++) await endpoint.delivery(transferOf(asking(gas, change))).call()
    await expect(endpoint.proveCall(intent)).rejects.toMatchObject({ code })
    expect(await endpoint.delivery(transferOf(message())).call()).toEqual(intent)
    await expect(endpoint.proveCall(intent)).resolves.toEqual(proved)
  })

  test('after a failed read, too much gas or an undone delivery, a request can be proved again', async () => {
    const own = asking(200_000n)
    logs.push(writeMessage({ ...own, attested: [] }))
    let [isAway, isDelivered] = [true, false]
    const { endpoint, intent } = await planned(own, { isAway: () => isAway, isDelivered: () => isDelivered })
    const refused = (code: string, gasLimit?: string) => expect(endpoint.proveCall(intent, gasLimit)).rejects.toMatchObject({ code })
    await refused('NODE_UNAVAILABLE')
    isAway = false
    await refused('CALL_UNJUSTIFIED', '200001')
    isDelivered = true
    await refused('CALL_UNJUSTIFIED')
    // A reorg has removed the block with the delivery.
    isDelivered = false
    await expect(endpoint.proveCall(intent)).resolves.toEqual(proved)
  })

  test("losses count for the request alone, and a drop-off's recipient is a party", async () => {
    const drop = { type: 'GasDropOffInstruction' as const, dropOff: 1n, recipient: new UniversalAddress(universal(other)) }
    const wanted = Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit: 100_000n, msgValue: 0n }, drop]))
    const partiesOf = (one: ExecutorMessage) => endpointOf({ recordContract: record }).delivery(transferOf(one)).parties
    const [first, second] = [partiesOf(message()), partiesOf(message({ instructions: wanted }))]
    expect(second).toMatchObject({ recipient: first.recipient, token: first.token, payee: other })
    expect(first.payee).toBeUndefined()
    expect(second.lossesOf).not.toBe(first.lossesOf)
  })

  test('a drop-off needs an address of the target', async () => {
    const drop = { type: 'GasDropOffInstruction' as const, dropOff: 1n, recipient: new UniversalAddress('ab'.repeat(32)) }
    const wanted = Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit: 100_000n, msgValue: 0n }, drop]))
    const one = message({ targetAddress: universal(other), instructions: wanted })
    await expect(planned(one, { recordContract: record })).rejects.toMatchObject({ code: 'EXECUTOR_UNSUPPORTED' })
  })

  const data = (vaa: Uint8Array, signature = 'executeVAAv1(bytes)') => encodeCall({ function: signature, args: [vaa] })
  const changed = altered(vaaOf('0x0100'), vaaOf('0x0100').length - 1, 9)
  const changes: readonly (readonly [string, Partial<Intent>])[] = [
    ['another function', { data: data(vaaOf(), 'withdraw(bytes)') }],
    ['another contract', { to: other }],
    ['more coins', { value: '6' }],
    ['bytes behind the arguments', { data: `${data(vaaOf())}00` }],
    ['another message', { data: data(vaaOf('0x02')) }],
  ]
  test.each(changes)('a key refuses %s in the call of a paid request', async (_, change) => {
    const { endpoint, intent } = await planned(message())
    await expect(endpoint.proveCall({ ...intent, ...change })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  const forged: readonly (readonly [string, ExecutorMessage])[] = [
    ['a request that was not logged', message({ refundAddress: other })],
    ['a request for another message', message({ request: requestFor(8n) })],
    ['a message of another emitter, really signed', message({}, vaaOf('0x01', { from: universal(other) }))],
    ['a changed payload', message({}, changed)],
    ['another guardian set', message({}, vaaOf('0x01', { guardians: 1 }))],
  ]
  test.each(forged)('a key refuses a call for %s', async (_, one) => {
    const { endpoint, intent } = await planned(one)
    await expect(endpoint.proveCall(intent)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a key refuses a call that is delivered, because it was paid for once', async () => {
    const { endpoint, intent } = await planned(message(), { isDelivered: always })
    await expect(endpoint.proveCall(intent)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })
})
