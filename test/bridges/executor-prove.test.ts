import { UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { concat, decodeBase64, toBeHex, zeroPadValue } from 'ethers'
import { describe, expect, test } from 'vitest'
import { encodeCall, selectorOf } from '../../bridges/kit/calls.ts'
import { createVerifier } from '../../bridges/kit/signed-messages.ts'
import { createExecutorEndpoint } from '../../bridges/executor/evm.ts'
import type { ExecutorTerms } from '../../bridges/executor/judge.ts'
import { createDecode, type ExecutorMessage, readMessage, writeMessage } from '../../bridges/executor/message.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { bytesOf, quoter, signed } from '../helpers/executor.ts'
import { altered, signVaa } from '../helpers/vaa.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const universal = (of: string) => of.slice(2).padStart(64, '0')
const [executor, receiver, other, sender] = ['a', 'b', 'c', 'd'].map(address) as [string, string, string, string]
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])

const quote = (prices: { gasPrice?: bigint; expiry?: bigint } = {}) =>
  signed({
    ...{ quoter, payee: universal(address('e')), sourceChain: 2, targetChain: 4, expiry: 2_000_000_000n, baseFee: 0n },
    ...{ gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n, ...prices },
  })
const gasOf = (gasLimit: bigint) => Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit, msgValue: 5n }]))
const instructions = gasOf(100_000n)
const requestFor = (sequence: bigint) =>
  Buffer.from(concat(['0x45525631', toBeHex(2, 2), zeroPadValue(sender, 32), toBeHex(sequence, 8)]).slice(2), 'hex')
const vaaOf = (payload = '0x01', { guardians = 3, from = universal(sender), sequence = 7n } = {}) =>
  signVaa({ emitterChain: 2, emitter: from, sequence, payload }, { guardians }).bytes

const message = (change: Partial<ExecutorMessage['request']> = {}, vaa: Uint8Array = vaaOf()): ExecutorMessage => ({
  ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested: vaa.length > 0 ? [vaa] : [] },
  request: {
    ...{ quoter, amountPaid: 100_005n, targetChain: 4, targetAddress: universal(receiver), refundAddress: address('f') },
    ...{ signedQuote: quote(), request: requestFor(7n), instructions, ...change },
  },
})
/** Requests that the source has logged. `verifyRequest` refuses all other requests. */
const logs = [writeMessage(message({}, new Uint8Array()))]
const record = address('9')
/** Refund address of requests about which no node answers. */
const unread = address('8')

const within = { bridge: 'ntt', sourceChain: 'polygon' }

interface Setting {
  isDelivered?: () => boolean
  isAway?: () => boolean
  published?: Uint8Array
  recordContract?: string
  clock?: () => number
}

const receivers = { [receiver]: { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' } }
const termsWith = (recordContract?: string): ExecutorTerms => ({
  ...{ quoter, honourExpired: false },
  chains: new Map([
    [4, { caps: { maxGasLimit: 1_000_000n, maxMsgValue: 10n, maxGasDropOff: 5n }, receivers, recordContract, prefixes: ['ERV1'] }],
  ]),
})

const [always, never] = [() => true, () => false]

function endpointOf({ isDelivered = never, isAway = never, published, recordContract, clock }: Setting = {}) {
  const set = { index: 0, keys: devnetGuardians(3).map(({ address: key }) => key), expirationTime: 0, current: true }
  return createExecutorEndpoint({
    chain: { name: 'bsc', call: async () => toBeHex(isDelivered() ? 1n : 0n, 32) },
    terms: termsWith(recordContract),
    maxMsgValue: 10n,
    clock,
    receivers,
    recordContract,
    verify: createVerifier({ get: async () => set }, () => 1_700_000_000),
    verifyRequest: async (one) => {
      if (isAway() || one.request.refundAddress === unread) throw new RelayerError('NODE_UNAVAILABLE')
      const asLogged = writeMessage({ ...one, attested: [] })
      if (!logs.some((log) => Buffer.compare(log, asLogged) === 0)) throw new RelayerError('PLACE_MISMATCH')
    },
    decode: createDecode(new Map([[2, { name: 'ethereum', contract: executor }]]), names),
    within: () => [within],
    findVaa: async (_, from) =>
      published && !from ? { kind: 'found', vaa: published, api: 0 } : { kind: 'absent', why: 'not signed yet' },
  })
}

const decode = createDecode(new Map([[2, { name: 'ethereum', contract: executor }]]), names)
const transferOf = (one: ExecutorMessage) => decode(writeMessage(one))

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

test('without a signed message, nothing may report that the delivery of a request is gone', async () => {
  const asLogged = transferOf(message({}, new Uint8Array()))
  const may = (options: Setting, transfer = asLogged) => endpointOf({ isDelivered: always, ...options }).mayShow?.(transfer)
  expect([await may({}), await may({ published: vaaOf('0x01', { guardians: 1 }) })]).toEqual([false, false])
  expect([await may({ published: vaaOf() }), await may({}, transferOf(message()))]).toEqual([true, true])
})

test('a request shows no delivery by a signed message that it does not ask for', async () => {
  const foreign = transferOf(message({}, vaaOf('0x01', { sequence: 8n })))
  const endpoint = endpointOf({ isDelivered: always })
  expect([await endpoint.delivered(foreign, 'latest'), await endpoint.mayShow?.(foreign)]).toEqual([false, false])
})

test('the transfer of a request is the same before and after its message is signed', () => {
  const { message: _, ...before } = transferOf(message({}, new Uint8Array()))
  expect(transferOf(message())).toMatchObject(before)
})

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

  const asking = (gasLimit: bigint, change: Partial<ExecutorMessage['request']> = {}) =>
    message({
      instructions: gasOf(gasLimit),
      ...{ amountPaid: gasLimit + 5n, ...change },
    })

  test('a key signs the call of a paid request, however many other requests for the same call pay for less', async () => {
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

  test('a key signs the call of a request in time, however many dearer ones for this call have expired', async () => {
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

  test('if no request proves a call, a read that failed is tried again before the call is given up', async () => {
    const { endpoint, intent } = await planned(asking(500_000n, { refundAddress: unread }))
    await endpoint.delivery(transferOf(asking(600_000n, { refundAddress: other }))).call()
    await expect(endpoint.proveCall(intent)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test.each([
    ['that nobody made', { refundAddress: other }, 'CALL_UNJUSTIFIED'],
    ['at places that no node shows', { refundAddress: unread }, 'NODE_UNAVAILABLE'],
  ])('eight requests %s stop one proof, and not the next one', async (_, change, code) => {
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

describe('The check of a request', () => {
  test('the check of a request accepts it, and refuses a transfer that claims another place', async () => {
    const transfer = transferOf(message())
    expect(await endpointOf().validate(transfer)).toEqual({ kind: 'valid' })
    expect(await endpointOf().validate({ ...transfer, sourceChain: 'former-name' })).toEqual({ kind: 'valid' })
    expect(await endpointOf().validate({ ...transfer, sequence: '9000004' })).toMatchObject({ code: 'MESSAGE_MISMATCH' })
  })

  test("the config is the reason to refuse a request of another Executor's contract, and no other request", async () => {
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
