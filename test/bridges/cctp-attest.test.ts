import { decodeBase64, hexlify, keccak256 } from 'ethers'
import { describe, expect, test } from 'vitest'
import { readCarried } from '../../bridges/cctp/carried.ts'
import { readBurn, usedNonceKey, zeroWord } from '../../bridges/cctp/message.ts'
import { RelayerError, waitsForItself } from '../../domain/catalogue/errors.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { attest, attesters, baseTransmitters, burnBody, burnBytes, irisWithoutChains, txOf, word } from '../helpers/cctp.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { attested, decode, lane, loggedV2, messageOf, network, nonceOf, transferOf } from '../helpers/cctp-endpoint.ts'

describe('A transfer gets its attestation', () => {
  test.each([
    ['v1', burnBytes(1)],
    ['v2', loggedV2()],
  ])('a transfer gets its attestation once Circle has it: %s', async (_, bytes) => {
    const { see, endpoint } = await network()
    const transfer = transferOf(bytes)
    expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', code: 'CCTP_NOT_ATTESTED', retryInMs: 15_000 })
    see({ bytes, level: 'latest' })
    expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', reason: expect.stringContaining('pending_confirmations') })
    see({ bytes })
    const whole = await attested(endpoint, transfer)
    expect({ ...decode(decodeBase64(whole.message)), message: '' }).toEqual({ ...transfer, message: '' })
    expect(await endpoint.attest?.(whole)).toBeUndefined()
    expect(await endpoint.validate(whole)).toEqual({ kind: 'valid' })
    await endpoint.proveCall(await endpoint.delivery(whole).call())
  })

  test('with its attestation a v2 message is delivered once its nonce is used', async () => {
    const { see, endpoint, state } = await network()
    const transfer = transferOf(loggedV2())
    see({ bytes: loggedV2() })
    expect(await endpoint.delivered(transfer, 'latest')).toBe(false)
    const whole = await attested(endpoint, transfer)
    expect(await endpoint.delivered(whole, 'latest')).toBe(false)
    state.used.add(usedNonceKey(messageOf(whole)))
    expect(await endpoint.delivered(whole, 'finalized')).toBe(true)
  })

  test('the log of a message shows its delivery without the API, also after the attestation has expired', async () => {
    const { see, endpoint, state, asked } = await network({ fastBlocks: 1 })
    const bytes = loggedV2({ minFinality: 1_000 })
    const transfer = transferOf(bytes)
    expect(await endpoint.delivered(transfer, 'finalized')).toBe(false)
    see({ bytes, level: 'latest' })
    const expired = await endpoint.attest?.(transfer)
    expect(expired).toMatchObject({ kind: 'wait', code: 'CCTP_EXPIRED' })
    expect(await endpoint.delivered(transfer, 'finalized')).toBe(false)
    state.used.add(nonceOf(bytes))
    const before = asked('messages')
    expect(await endpoint.delivered(transfer, 'finalized')).toBe(true)
    expect(asked('messages')).toBe(before)
    const whole = await attested(endpoint, transfer)
    expect(await endpoint.validate(whole)).toEqual({ kind: 'valid' })
    expect(await endpoint.attest?.(whole)).toBeUndefined()
  })

  test("if the API lacks a delivered burn's message, an audit cannot report the delivery as undone", async () => {
    const { see, endpoint, state } = await network()
    const transfer = transferOf(loggedV2())
    state.used.add(nonceOf(loggedV2()))
    expect([await endpoint.delivered(transfer, 'latest'), await endpoint.mayShow?.(transfer)]).toEqual([false, false])
    see({ bytes: loggedV2() })
    expect([await endpoint.mayShow?.(transfer), await endpoint.delivered(transfer, 'latest')]).toEqual([true, true])
    expect(await (await network()).endpoint.mayShow?.(await attested(endpoint, transfer))).toBe(true)
    expect(await (await network()).endpoint.mayShow?.(transferOf(burnBytes(1)))).toBe(true)
  })

  test('an audit of 200 burns asks the API about a few at a time, and the API refuses none of them', async () => {
    const iris = await irisWithoutChains()
    const apis = createIris({ urls: [iris.api.url], timeoutMs: 5_000, perSecond: 20 })
    const { endpoint } = await network({ apis })
    const burns = Array.from({ length: 200 }, (_, index) => loggedV2({ body: burnBody(2, { amount: BigInt(index + 1) }) }))
    for (const bytes of burns) iris.see({ bytes })
    const audited = Promise.all(burns.map((bytes) => endpoint.delivered(transferOf(bytes), 'latest')))
    iris.see({ bytes: loggedV2() })
    expect(await endpoint.attest?.(transferOf(loggedV2()))).toMatchObject({ kind: 'attested' })
    expect(new Set(await audited)).toEqual(new Set([false]))
  }, 60_000)

  test("if the target refuses a message's signatures, the message's used nonce does not show a delivery", async () => {
    const { see, endpoint, state, attestations } = await network()
    attestations.signWith(attesters.slice(1))
    see({ bytes: loggedV2() })
    state.used.add(nonceOf(loggedV2()))
    expect(await endpoint.delivered(transferOf(loggedV2()), 'finalized')).toBe(false)
  })

  test('a transfer takes neither the attestation of another message nor one that the target refuses', async () => {
    const { see, endpoint, attestations } = await network()
    const transfer = transferOf(loggedV2())
    see({ bytes: loggedV2({ minFinality: 1_999 }), txHash: txOf(loggedV2()) })
    expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', code: 'CCTP_NOT_ATTESTED' })
    attestations.signWith(attesters.slice(1))
    see({ bytes: loggedV2(), logIndex: 1 })
    expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', code: 'CCTP_ATTESTATION' })
  })

  test('an attested message starts no transfer, because the attestation may be that of an equal burn', async () => {
    const { see, endpoint } = await network()
    see({ bytes: loggedV2() })
    const whole = await attested(endpoint, transferOf(loggedV2()))
    expect(await codeOfAsync(async () => endpoint.accept?.(decodeBase64(whole.message)))).toBe('CCTP_MESSAGE')
  })

  test('a transfer gets no attestation while the API rests, or if its message is for another relayer', async () => {
    const { api, endpoint, asked } = await network()
    api.trouble({ refuse: { status: 429, retryAfterSeconds: 400 } })
    expect(await endpoint.attest?.(transferOf(loggedV2()))).toMatchObject({ kind: 'wait', code: 'IRIS_UNAVAILABLE', retryInMs: 400_000 })
    const before = asked('messages')
    const foreign = transferOf(loggedV2({ destinationCaller: word(attesters[0]!.address) }))
    expect(await endpoint.attest?.(foreign)).toBeUndefined()
    expect(await endpoint.validate(foreign)).toMatchObject({ kind: 'declined', code: 'CCTP_CALLER' })
    expect(asked('messages')).toBe(before)
  })

  test('a burn for another relayer is accepted, and counts as delivered once that relayer delivers it', async () => {
    const { see, endpoint, state } = await network()
    const bytes = loggedV2({ destinationCaller: word(attesters[0]!.address) })
    const foreign = transferOf(bytes)
    expect(await endpoint.accept?.(decodeBase64(foreign.message))).toBeUndefined()
    expect(await endpoint.verify(decodeBase64(foreign.message))).toEqual({ kind: 'valid' })
    see({ bytes })
    expect(await endpoint.delivered(foreign, 'finalized')).toBe(false)
    state.used.add(nonceOf(bytes))
    expect(await endpoint.delivered(foreign, 'finalized')).toBe(true)
  })
})

const hookData = `0x${'7b'.repeat(7_900)}`

describe('A stranger puts many burns with long hooks into one transaction', () => {
  const burns = Array.from({ length: 41 }, (_, index) => loggedV2({ body: burnBody(2, { amount: BigInt(index + 1), hookData }) }))
  const txHash = `0x${'41'.repeat(32)}`

  test('an answer of Circle with more than 2,000,000 bytes attests many burns of one transaction', async () => {
    const iris = await irisWithoutChains()
    const { endpoint, state } = await network({ apis: createIris({ urls: [iris.api.url], timeoutMs: 60_000 }) })
    for (const [logIndex, bytes] of burns.entries()) iris.see({ bytes, txHash, logIndex })
    const { length } = await (await fetch(`${iris.api.url}/v2/messages/0?transactionHash=${txHash}`)).text()
    expect(length).toBeGreaterThan(2_000_000)
    for (const bytes of [burns[0]!, burns[40]!]) {
      const whole = await attested(endpoint, transferOf(bytes, { txHash }))
      expect(await endpoint.delivered(transferOf(bytes, { txHash }), 'finalized')).toBe(false)
      state.used.add(usedNonceKey(messageOf(whole)))
      expect(await endpoint.delivered(transferOf(bytes, { txHash }), 'finalized')).toBe(true)
    }
  })

  test("if Circle's answer is too long, its burns leave the window and wait, and an order can end them", async () => {
    const iris = await irisWithoutChains()
    const apis = createIris({ urls: [iris.api.url], timeoutMs: 60_000, mostBytes: 1_000_000 })
    const { endpoint } = await network({ apis })
    for (const [logIndex, bytes] of burns.entries()) iris.see({ bytes, txHash, logIndex })
    const transfer = transferOf(burns[7]!, { txHash })
    const waiting = { kind: 'wait', code: 'CCTP_NOT_ATTESTED', reason: expect.stringContaining('an answer that is too long') }
    for (let times = 0; times < 2; times++) expect(await endpoint.attest?.(transfer)).toMatchObject(waiting)
    expect(waitsForItself('CCTP_NOT_ATTESTED')).toBe(true)
    for (const at of ['latest', 'finalized', 'agreed'] as const) expect(await endpoint.delivered(transfer, at)).toBe(false)
    const foreign = transferOf(loggedV2({ destinationCaller: word(attesters[0]!.address), body: burnBody(2, { hookData }) }), { txHash })
    expect(await endpoint.validate(foreign)).toMatchObject({ kind: 'declined', code: 'CCTP_CALLER' })
    expect(await endpoint.delivered(foreign, 'agreed')).toBe(false)
  })
})

describe('A fast attestation', () => {
  const bytes = loggedV2({ minFinality: 1_000 })

  test('a fast attestation is delivered as it is, with its fee and its expiration', async () => {
    const { see, endpoint } = await network()
    see({ bytes, level: 'latest' })
    const whole = await attested(endpoint, transferOf(bytes))
    const message = messageOf(whole)
    expect(message.finalityExecuted).toBe(1_000)
    expect(readBurn(message)).toMatchObject({ feeExecuted: 100n, expirationBlock: 7_300n })
    expect(await endpoint.attest?.(whole)).toBeUndefined()
  })

  test.each([
    ['has expired', { fastBlocks: 1 }, 'CCTP_EXPIRED'],
    ['expires before a delivery can reach the chain', { fastBlocks: 40 }, 'CCTP_EXPIRED'],
    ['is not enough for the config', { finality: 'finalized' as const }, 'CCTP_NOT_ATTESTED'],
  ])('a fast attestation that %s is asked for again, once, and replaced', async (_, options, code) => {
    const { see, endpoint, asked } = await network(options)
    const transfer = transferOf(bytes)
    see({ bytes, level: 'latest' })
    for (let times = 0; times < 3; times++)
      expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', code, retryInMs: 5_000 })
    expect(asked('reattest')).toBe(1)
    see({ bytes })
    const whole = await attested(endpoint, transfer)
    expect(messageOf(whole).finalityExecuted).toBe(2_000)
    expect(readBurn(messageOf(whole)).expirationBlock).toBe(0n)
  })

  test('if Circle refuses to renew a fast attestation, only its transfer waits', async () => {
    const reattest = () => Promise.reject(new RelayerError('IRIS_UNAVAILABLE', { detail: 'HTTP 400' }))
    const { see, endpoint } = await network({ fastBlocks: 1, reattest })
    see({ bytes, level: 'latest' })
    const reason = expect.stringContaining('HTTP 400')
    expect(await endpoint.attest?.(transferOf(bytes))).toMatchObject({ kind: 'wait', code: 'CCTP_EXPIRED', reason })
  })

  test('a fast attestation that the target reverts as expired is asked for again, whatever its block numbers', async () => {
    const { see, endpoint, asked } = await network({ ownHeights: false, fastBlocks: 1 })
    see({ bytes, level: 'latest' })
    const whole = await attested(endpoint, transferOf(bytes))
    expect(await endpoint.attest?.(whole)).toBeUndefined()
    const reason = 'Message expired and must be re-signed'
    expect(endpoint.explainRevert({ data: '0x', reason }, whole)).toEqual({ kind: 'wait', code: 'CCTP_EXPIRED', reason })
    expect(await endpoint.attest?.(whole)).toMatchObject({ kind: 'wait', code: 'CCTP_EXPIRED' })
    expect(asked('reattest')).toBe(1)
    see({ bytes })
    expect(messageOf(await attested(endpoint, whole)).finalityExecuted).toBe(2_000)
  })

  test('a fast attestation that has expired after somebody delivered it is left alone', async () => {
    const { see, endpoint, state, asked } = await network({ ownHeights: false, fastBlocks: 1 })
    see({ bytes, level: 'latest' })
    const whole = await attested(endpoint, transferOf(bytes))
    state.used.add(usedNonceKey(messageOf(whole)))
    endpoint.explainRevert({ data: '0x', reason: 'Message expired and must be re-signed' }, whole)
    expect(await endpoint.attest?.(whole)).toBeUndefined()
    expect(asked('reattest')).toBe(0)
  })
})

describe('When Circle rotates its attesters', () => {
  test('a transfer that was not received waits for another attestation, and one that was is delivered', async () => {
    const { see, endpoint, state } = await network()
    see({ bytes: loggedV2() })
    const bytes = readCarried(decodeBase64((await attested(endpoint, transferOf(loggedV2()))).message)).bytes
    const [first, , third] = attesters
    const whole = transferOf(bytes, { txHash: txOf(loggedV2()), attestation: attest(bytes, [first!, third!]) })
    expect(await endpoint.attest?.(whole)).toMatchObject({ kind: 'attested' })
    expect(await endpoint.validate(whole)).toMatchObject({ kind: 'wait', code: 'CCTP_ATTESTATION' })
    state.used.add(usedNonceKey(messageOf(whole)))
    expect(await endpoint.attest?.(whole)).toBeUndefined()
    expect(await endpoint.validate(whole)).toEqual({ kind: 'valid' })
  })
})

describe('A message is checked', () => {
  test('a message is checked against the log of its source, before and after it is attested', async () => {
    const { see, endpoint, recorded } = await network()
    see({ bytes: loggedV2() })
    const transfer = transferOf(loggedV2())
    const whole = await attested(endpoint, transfer)
    for (const { message } of [transfer, whole]) expect(await endpoint.verify(decodeBase64(message))).toEqual({ kind: 'valid' })
    expect(recorded.map(({ number, txHash }) => ({ number, txHash }))).toEqual(
      [0, 1].map(() => ({ number: '12000003', txHash: txOf(loggedV2()) })),
    )
    const absent = await network({ recorded: () => Promise.reject(new RelayerError('CCTP_MESSAGE', { detail: 'no such log' })) })
    expect(await absent.endpoint.verify(decodeBase64(whole.message))).toMatchObject({ kind: 'rejected', code: 'CCTP_MESSAGE' })
  })

  test('each field of a message is compared with its transfer', async () => {
    const { endpoint } = await network()
    const transfer = transferOf(loggedV2())
    for (const change of [
      { sequence: '7' },
      { emitter: '00'.repeat(32) },
      { digest: zeroWord },
      { targetChain: 'ethereum' },
      { sourceId: '1' },
    ]) {
      const verdict = await endpoint.validate({ ...transfer, ...change })
      expect(verdict).toMatchObject({ kind: 'rejected', code: 'MESSAGE_MISMATCH' })
      // Names and contracts are those of the config. A digest or a place is not.
      expect('ofConfig' in verdict).toBe(!('sequence' in change || 'digest' in change))
    }
  })

  test('a burn stays valid if its source chain had another name when its transfer started', async () => {
    const { see, endpoint } = await network()
    see({ bytes: loggedV2() })
    const whole = await attested(endpoint, transferOf(loggedV2()))
    expect(await endpoint.validate({ ...whole, sourceChain: 'former-name' })).toMatchObject({ kind: 'valid' })
  })

  test('a message shows its effect in the log of the target, by nonce and source', async () => {
    const { see, endpoint } = await network()
    see({ bytes: loggedV2() })
    const whole = await attested(endpoint, transferOf(loggedV2()))
    const { nonce } = messageOf(whole)
    const [topic, caller, finality] = ['0xff48c13eda96b1cceacc6b9edeedc9e9db9d6226afbc30146b720c19d3addb1c', word(lane), word('0x07d0')]
    const log = { address: baseTransmitters[1]!, topics: [topic, caller, nonce, finality], data: `${zeroWord}${'00'.repeat(96)}` }
    const block = { height: 7, hash: '0x' }
    const receipt = { hash: '0x', status: 'success' as const, block, from: lane, gasUsed: '1', effectiveGasPrice: '1', logs: [log] }
    expect(endpoint.hasEffect(receipt, whole)).toBe(true)
    expect(endpoint.hasEffect({ ...receipt, status: 'reverted' }, whole)).toBe(false)
    const others = [
      { ...log, topics: [topic, caller, zeroWord, finality] },
      { ...log, data: word('0x01') },
      { ...log, address: lane },
    ]
    for (const other of others) expect(endpoint.hasEffect({ ...receipt, logs: [other] }, whole)).toBe(false)
    expect(hexlify(readCarried(decodeBase64(whole.message)).bytes)).not.toBe(hexlify(loggedV2()))
    expect(keccak256(loggedV2())).toBe(whole.digest)
  })
})
