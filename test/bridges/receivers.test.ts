import { AbiCoder, concat, decodeBase64, encodeBase64, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { selectorOf } from '../../bridges/kit/calls.ts'
import { createVerifier, digestOf } from '../../bridges/kit/signed-messages.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages, firstOwner } from '../../bridges/kit/plugin-bridge.ts'
import { createReceivers, type ReceiverRoute } from '../../bridges/receivers/receivers.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { noLogs } from '../helpers/unused.ts'
import { altered, signVaa, transferPayload } from '../helpers/vaa.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const universal = (of: string) => of.slice(2).padStart(64, '0')
const [contract, other, tokenBridge] = ['a', 'b', 'c'].map(address) as [string, string, string]
const emitter = universal(address('e'))
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])

const delivered = { contract, view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' }
const route = (fields: Partial<ReceiverRoute>): ReceiverRoute => ({
  ...{ source: 'ethereum', emitter, where: {}, target: 'bsc', contract, function: 'executeVAAv1(bytes)', delivered },
  ...fields,
})
const routes = [
  route({ where: { '0': '01' } }),
  route({ where: { '0': '02', '2': 'beef' }, contract: other, function: 'take(bytes)' }),
  route({ where: { '0': '03' }, target: 'ethereum' }),
]

const signed = (payload: string, { guardians = 3, from = emitter } = {}) =>
  signVaa({ emitterChain: 2, emitter: from, sequence: 7n, payload }, { guardians }).bytes

const set = { index: 0, keys: devnetGuardians(3).map(({ address: key }) => key), expirationTime: 0, current: true }
const verify = createVerifier({ get: async () => set }, () => 1_700_000_000)
function decodeBy(own: readonly ReceiverRoute[]) {
  const plugin = createReceivers(own)
  return createPluginDecode(plugin, createPluginMessages(plugin, names))
}

function endpointOf(own: readonly ReceiverRoute[], call: (to: string, data: string) => Promise<string>) {
  const plugin = createReceivers(own)
  const chain = { name: 'bsc', call, ...noLogs }
  return createPluginEndpoint(plugin, createPluginMessages(plugin, names), { chain, clock: () => 0, chainNames: names, verify })
}

const decode = decodeBy(routes)

function endpointWith(answer = 1n, asked: string[] = []) {
  const call = async (_: string, data: string) => {
    asked.push(data)
    return toBeHex(answer, 32)
  }
  return endpointOf(routes, call)
}

describe('Which messages belong to a receiver', () => {
  test.each([
    ['the first bytes match', '0x01', contract],
    ['every place matches', '0x0200beef', other],
  ])('a message belongs to the route whose bytes it has: %s', (_, payload, to) => {
    const transfer = decode(signed(payload))
    expect(transfer).toMatchObject({ bridge: 'receivers', sourceChain: 'ethereum', sourceId: '2', targetChain: 'bsc', sequence: '7' })
    expect(transfer.digest).toBe(digestOf(parseVaa(signed(payload))))
    expect(endpointWith().delivery(transfer).parties.recipient).toBe(to)
  })

  test.each([
    ['other bytes', '0x04'],
    ['one place that differs', '0x0200beee'],
    ['a payload that ends before the place', '0x0200'],
    ['an empty payload', '0x'],
  ])('a message with %s belongs to no route', (_, payload) => {
    expect(() => decode(signed(payload))).toThrow(expect.objectContaining({ code: 'PAYLOAD_KIND' }))
  })

  test('a message of another emitter belongs to no route', () => {
    expect(() => decode(signed('0x01', { from: universal(tokenBridge) }))).toThrow(expect.objectContaining({ code: 'PAYLOAD_KIND' }))
  })

  test('two bridges share an emitter: the first that reads a message owns it, and nobody owns the rest', () => {
    const shared = route({ emitter: universal(tokenBridge), where: { '0': '03', '67': universal(contract) } })
    const owner = firstOwner([decodeBy([shared]), tokenBridgeMessages(names).decode])
    const message = (payload: string) => owner(signed(payload, { from: universal(tokenBridge) }))
    const withPayload = { kind: 3, toChain: 4, rest: '0xc0ffee' }
    expect(message(transferPayload({ toChain: 4 })).bridge).toBe('wormhole-token-bridge')
    expect(message(transferPayload({ ...withPayload, to: universal(contract) })).bridge).toBe('receivers')
    expect(message(transferPayload({ ...withPayload, to: universal(other) })).bridge).toBe('wormhole-token-bridge')
    expect(() => message('0x02')).toThrow(expect.objectContaining({ code: 'PAYLOAD_KIND' }))
    expect(() => message(transferPayload({ toChain: 99 }))).toThrow(expect.objectContaining({ code: 'TARGET_CHAIN_UNSUPPORTED' }))
  })
})

describe('The view that shows a delivery', () => {
  test.each([
    ['the expected answer', 1n, true],
    ['another answer', 0n, false],
    ['a number above one', 2n, false],
  ])('the view that shows a delivery decides with %s', async (_, answer, shown) => {
    expect(await endpointWith(answer).delivered(decode(signed('0x01')), 'latest')).toBe(shown)
  })

  test('the view that shows a delivery gets the values of the message as arguments', async () => {
    const view = 'constructor(uint16,bytes32,uint64,address,bool,bool)'
    const args = ['$emitterChain', '$emitter', '$sequence', other, 'true', 'false']
    const asked: string[] = []
    const call = async (_: string, data: string) => (asked.push(data), toBeHex(5, 32))
    const one = route({ where: {}, delivered: { contract, view, args, is: '5' } })
    const endpoint = endpointOf([one], call)
    expect(await endpoint.delivered(decodeBy([one])(signed('0x09')), 'finalized')).toBe(true)
    const words = AbiCoder.defaultAbiCoder().encode(
      ['uint16', 'bytes32', 'uint64', 'address', 'bool', 'bool'],
      [2, `0x${emitter}`, 7, other, true, false],
    )
    expect(asked).toEqual([concat([selectorOf(view), words])])
  })

  test('the view that shows a delivery shows no delivery of a message whose route is no longer configured', async () => {
    const gone = { ...decode(signed('0x01')), message: encodeBase64(signed('0x04')) }
    expect(await endpointWith().delivered(gone, 'latest')).toBe(false)
  })
})

describe('A key signs only the call of a message and its route', () => {
  const encoded = (signature: string, vaa: Uint8Array) =>
    concat([selectorOf(signature), AbiCoder.defaultAbiCoder().encode(['bytes'], [vaa])])
  const { proveCall } = endpointWith()
  const good = { to: contract, data: encoded('executeVAAv1(bytes)', signed('0x01')), value: '0' }

  test('a key signs the call of a message and its route', async () => {
    const parties = { recipient: contract, token: expect.any(String) }
    await expect(proveCall(good)).resolves.toEqual([{ sourceChain: 'ethereum', parties }])
    await expect(proveCall({ to: other, data: encoded('take(bytes)', signed('0x0200beef')), value: '0' })).resolves.toMatchObject([
      { sourceChain: 'ethereum' },
    ])
  })

  const changed = altered(signed('0x0100'), signed('0x0100').length - 1, 9)
  const forgeries: readonly (readonly [string, { to?: string; data?: string; value?: string }])[] = [
    ['another function', { data: encoded('withdraw(bytes)', signed('0x01')) }],
    ['another contract', { to: other }],
    ['another emitter, really signed', { data: encoded('executeVAAv1(bytes)', signed('0x01', { from: universal(other) })) }],
    ['a message of another route', { data: encoded('executeVAAv1(bytes)', signed('0x0200beef')) }],
    ['a message to another chain', { data: encoded('executeVAAv1(bytes)', signed('0x03')) }],
    ['a message of no route', { data: encoded('executeVAAv1(bytes)', signed('0x04')) }],
    ['bytes behind the arguments', { data: `${good.data}00` }],
    ['coins', { value: '1' }],
    ['a changed payload', { data: encoded('executeVAAv1(bytes)', changed) }],
    ['another guardian set', { data: encoded('executeVAAv1(bytes)', signed('0x01', { guardians: 1 })) }],
    ['no message', { data: encoded('executeVAAv1(bytes)', new Uint8Array(40)) }],
  ]
  test.each(forgeries)('a key refuses %s in the call of a route', async (_, forgery) => {
    await expect(proveCall({ ...good, ...forgery })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })
})

describe('The check of a transfer', () => {
  const transfer = decode(signed('0x01'))

  test('the check of a transfer accepts the transfer of its message', async () => {
    expect(await endpointWith().validate(transfer)).toMatchObject({ kind: 'valid' })
  })

  test('a transfer stays valid if its source chain had another name when the transfer started', async () => {
    expect(await endpointWith().validate({ ...transfer, sourceChain: 'former-name' })).toMatchObject({ kind: 'valid' })
  })

  test.each([
    ['another digest', { digest: `0x${'00'.repeat(32)}` }],
    ['another sequence', { sequence: '8' }],
    ['another emitter', { emitter: universal(other) }],
    ['another source', { sourceId: '4' }],
  ])('the check of a transfer rejects a transfer that claims %s', async (_, claim) => {
    const verdict = await endpointWith().validate({ ...transfer, ...claim })
    expect(verdict).toMatchObject({ kind: 'rejected', code: 'MESSAGE_MISMATCH' })
    expect(verdict).not.toHaveProperty('ofConfig')
  })

  test('if the config has a route to another chain for a message, the refusal blames the config', async () => {
    const elsewhere = decode(signed('0x03'))
    const verdict = await endpointWith().validate({ ...elsewhere, targetChain: 'bsc' })
    expect(verdict).toMatchObject({ kind: 'rejected', code: 'MESSAGE_MISMATCH', ofConfig: true })
  })

  test("a message without a route is rejected if its run has another message's id", async () => {
    const message = encodeBase64(signed('0x04', { from: universal(tokenBridge) }))
    expect(await endpointWith().validate({ ...transfer, message })).toMatchObject({ kind: 'rejected', code: 'MESSAGE_MISMATCH' })
  })

  test('a message without a route is declined, because a route may be configured later', async () => {
    const bytes = signed('0x04')
    const stray = { ...transfer, message: encodeBase64(bytes), digest: digestOf(parseVaa(decodeBase64(encodeBase64(bytes)))) }
    expect(await endpointWith().validate(stray)).toMatchObject({ kind: 'declined', code: 'PAYLOAD_KIND' })
    // The target cannot show the delivery of such a message, so an audit must not report the delivery as gone.
    expect([await endpointWith().mayShow?.(stray), await endpointWith().mayShow?.(transfer)]).toEqual([false, true])
  })
})
