import { concat, toBeHex } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsOf, createProveCall, encodeCall } from '../../bridges/kit/calls.ts'
import type { CallRule, Plugin, Route } from '../../bridges/kit/plugin.ts'
import { noLogs } from '../helpers/unused.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import { createProve, readRouted } from '../../bridges/kit/signed-messages.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { codeOf } from '../helpers/refusals.ts'
import { signVaa } from '../helpers/vaa.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [first, second, queue] = ['a', 'b', 'c'].map(address) as [string, string, string]
const emitter = 'e'.repeat(64)
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
const from = [{ source: 'ethereum', emitter }]
const take = (contract: string): CallRule => ({ contract, function: 'take(bytes)', proof: 'message' })
const none = [0n]
const finish: CallRule = {
  ...{ contract: queue, function: 'finish(bytes32)' },
  proof: { view: 'waiting(bytes32)', returns: 'uint256', isNot: none },
}
const routes: readonly Route[] = [
  { from, where: { '0': '01', '2': '02' }, to: 'bsc', calls: [take(first), finish] },
  { from, where: { '0': '01' }, to: 'bsc', calls: [take(second)] },
  { from, where: { '0': '03' }, to: 'ethereum', calls: [take(second)] },
]
const signed = (payload: string) => signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }).bytes
const owner = (payload: string, of = routes) => of.indexOf(readRouted(signed(payload), of, names).route)

describe('The route of a message', () => {
  test('the first route that matches owns a message, even if a later route names more of its bytes', () => {
    expect([owner('0x01ff02'), owner('0x01ff03'), owner('0x01'), owner('0x03')]).toEqual([0, 1, 1, 2])
    expect(owner('0x01ff02', [routes[1]!, routes[0]!])).toBe(0)
    expect(codeOf(() => owner('0x'))).toBe('PAYLOAD_KIND')
  })

  test('the route of a message is the first whose bytes are all there, whatever the payload and the places', () => {
    const place = fc.tuple(fc.nat({ max: 6 }), fc.uint8Array({ minLength: 1, maxLength: 3 }))
    const wheres = fc.array(fc.array(place, { maxLength: 3 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(wheres, fc.uint8Array({ maxLength: 8 }), (all, payload) => {
        const hex = Buffer.from(payload).toString('hex')
        const whereOf = (places: readonly [number, Uint8Array][]) =>
          Object.fromEntries(places.map(([at, bytes]) => [String(at), Buffer.from(bytes).toString('hex')]))
        const of = all.map((places) => ({ from, where: whereOf(places), to: 'bsc', calls: [] }))
        const matches = ({ where }: { where: Record<string, string> }) =>
          Object.entries(where).every(([at, bytes]) => hex.startsWith(bytes, 2 * Number(at)))
        const expected = of.findIndex(matches)
        const found = codeOf(() => owner(`0x${hex}`, of)) === 'PAYLOAD_KIND' ? -1 : owner(`0x${hex}`, of)
        expect(found).toBe(expected)
      }),
    )
  })

  test('the calls of all routes are listed by contract, once each', () => {
    expect(Object.entries(callsOf(routes)).map(([contract, { length }]) => [contract, length])).toEqual([
      [first, 1],
      [queue, 1],
      [second, 1],
    ])
  })
})

const call = (rule: CallRule, argument: unknown) => ({
  ...{ to: rule.contract, value: '0' },
  data: encodeCall({ function: rule.function, args: [argument] }),
})
const word = toBeHex(7, 32)

function proverWith({
  waiting = 1n,
  finishes = true,
  verify = async () => {},
  routes: given = routes,
}: { waiting?: bigint; finishes?: boolean; verify?: () => Promise<void>; routes?: readonly Route[] } = {}) {
  const asked: string[] = []
  const chain = {
    name: 'bsc',
    async call(_: string, data: string, at: string) {
      asked.push(at)
      if (data === call(finish, word).data && !finishes) throw new RelayerError('NODE_REFUSED', { detail: 'execution reverted' })
      return data.startsWith(call(finish, word).data.slice(0, 10)) ? '0x' : toBeHex(waiting, 32)
    },
  }
  return { asked, proveCall: createProveCall({ chain, routes: given, chainNames: names, prove: createProve(chain, verify) }) }
}
const refused = { code: 'CALL_UNJUSTIFIED' }

describe('The proof of a call', () => {
  test('a message justifies the call of its own route alone', async () => {
    const { proveCall } = proverWith()
    await expect(proveCall(call(take(first), signed('0x01ff02')))).resolves.toEqual(['ethereum'])
    await expect(proveCall(call(take(second), signed('0x01ff03')))).resolves.toEqual(['ethereum'])
    for (const [rule, payload] of [
      [take(second), '0x01ff02'],
      [take(first), '0x01ff03'],
      [take(second), '0x03'],
      [take(first), '0x09'],
    ] as const)
      await expect(proveCall(call(rule, signed(payload)))).rejects.toMatchObject(refused)
  })

  test('a state justifies a call that most nodes let succeed, and nothing else does', async () => {
    const { proveCall, asked } = proverWith()
    await expect(proveCall(call(finish, word))).resolves.toEqual(['ethereum'])
    expect(new Set(asked)).toEqual(new Set(['majority-latest']))
    await expect(proverWith({ waiting: 0n }).proveCall(call(finish, word))).rejects.toMatchObject(refused)
    await expect(proverWith({ finishes: false }).proveCall(call(finish, word))).rejects.toMatchObject(refused)
    // The call names no source, so it may belong to any source whose routes allow this call.
    const more: readonly Route[] = [...routes, { from: [{ source: 'base', emitter }], to: 'bsc', calls: [finish] }]
    expect(await proverWith({ routes: more }).proveCall(call(finish, word))).toEqual(['ethereum', 'base'])
    const any: readonly Route[] = [{ from: 'accepted', to: 'bsc', calls: [finish] }]
    expect(await proverWith({ routes: any }).proveCall(call(finish, word))).toEqual([...names.values()])
    for (const forged of [
      { value: '1' },
      { to: first },
      { data: concat([call(finish, word).data, '0x00']) },
      { data: call(finish, word).data.slice(0, 10) },
    ])
      await expect(proveCall({ ...call(finish, word), ...forged })).rejects.toMatchObject(refused)
  })

  test.each([
    ['VAA_NO_QUORUM', 'CALL_UNJUSTIFIED'],
    ['GUARDIAN_SET_UNKNOWN', 'GUARDIAN_SET_UNKNOWN'],
    ['NODE_UNAVAILABLE', 'NODE_UNAVAILABLE'],
  ] as const)('%s of the message is %s of the call', async (found, code) => {
    const { proveCall } = proverWith({ verify: () => Promise.reject(new RelayerError(found)) })
    await expect(proveCall(call(take(first), signed('0x01ff02')))).rejects.toMatchObject({ code })
  })
})

interface Content {
  readonly to: string
}

/** A product with two stages. A payload whose second byte is 09 is not a message of the product. */
const plugin: Plugin<Content> = {
  name: 'demo',
  routes,
  decode: ({ payload }, route) => (payload[1] === 9 ? undefined : { to: route.calls[0]!.contract }),
  stages: {
    take: { call: ({ content, bytes }) => ({ contract: content.to, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true },
    finish: { call: ({ digest }) => ({ contract: queue, function: 'finish(bytes32)', args: [digest] }), revertsOnceDone: false },
  },
  async next({ digest }, { now, read }) {
    const [at] = await read({ contract: queue, view: 'waiting(bytes32)', args: [digest], returns: 'uint256' })
    if (at === 0n) return { stage: 'take' }
    if (at === 1n) return { never: 'It is lost.' }
    return Number(at) > now ? { wait: 'It waits.', opensAt: Number(at) } : { stage: 'finish' }
  },
  delivered: ({ digest }) => [{ contract: queue, view: 'done(bytes32)', args: [digest], returns: 'bool', is: [true] }],
  reverts: { '0x12345678': { kind: 'delivered' } },
  parties: ({ content }) => ({ recipient: content.to, token: 'none' }),
}

function endpointWith(answer: bigint) {
  const messages = createPluginMessages(plugin, names)
  const chain = { name: 'bsc', call: async () => toBeHex(answer, 32), ...noLogs }
  const endpoint = createPluginEndpoint(plugin, messages, { chain, clock: () => 100, chainNames: names, verify: async () => {} })
  return { endpoint, decode: createPluginDecode(plugin, messages) }
}

describe('The bridge of a plug-in', () => {
  const { decode } = endpointWith(0n)
  const transfer = decode(signed('0x01ff02'))

  test('a message that its plug-in does not read belongs to nobody, although a route has its bytes', () => {
    expect(codeOf(() => decode(signed('0x0109')))).toBe('PAYLOAD_KIND')
    expect(transfer).toMatchObject({ bridge: 'demo', sourceChain: 'ethereum', targetChain: 'bsc', sequence: '7' })
  })

  test('each stage has its own call, and only the first is sent without a name', async () => {
    const { endpoint } = endpointWith(0n)
    expect(await endpoint.delivery(transfer).call()).toEqual(await endpoint.delivery(transfer, 'take').call())
    expect(await endpoint.delivery(transfer, 'finish').call()).toEqual(call(finish, transfer.digest))
    expect([endpoint.delivery(transfer).revertsOnceDelivered, endpoint.delivery(transfer, 'finish').revertsOnceDelivered]).toEqual([
      true,
      false,
    ])
    expect(codeOf(() => endpoint.delivery(transfer, 'other'))).toBe('INPUT_INVALID')
  })

  test.each([
    [0n, { kind: 'stage', stage: 'take' }],
    [1n, { kind: 'never', code: 'DELIVERY_REVERTED', reason: 'It is lost.' }],
    [99n, { kind: 'stage', stage: 'finish' }],
    [101n, { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'It waits.', opensAt: 101 }],
  ])('the state %s of the target leads to the right step', async (answer, step) => {
    expect(await endpointWith(answer).endpoint.stages!.next(transfer)).toEqual(step)
  })

  test('a revert that the plug-in names has that meaning, in any case of letters; other reverts have none', () => {
    const { endpoint } = endpointWith(0n)
    expect(endpoint.explainRevert({ data: '0x12345678AA', reason: '' })).toEqual({ kind: 'delivered' })
    expect(endpoint.explainRevert({ data: '0x', reason: 'no data' })).toEqual({
      kind: 'unknown',
      code: 'DELIVERY_REVERTED',
      reason: 'no data',
    })
  })
})
