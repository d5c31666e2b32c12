import { encodeBase64, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { encodeCall, encodeMessageCall, restOf, selectorOf } from '../../bridges/kit/calls.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { ArgumentBound, CallCoins, Route } from '../../bridges/kit/plugin.ts'
import { createVerifier } from '../../bridges/kit/signed-messages.ts'
import { createRouteEndpoint } from '../../bridges/packages/endpoints.ts'
import { createReceivers } from '../../bridges/receivers/receivers.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { signingPolicy } from '../../workers/roles/signer.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { self } from '../helpers/limited-key.ts'
import { noLogs } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'

const [contract, other] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
const emitter = 'e'.repeat(64)
const chainNames = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
const delivered = { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' }
const take = 'take(bytes)'
const coins: CallCoins = { atMost: '7', delivered }
const from = [{ source: 'ethereum', emitter }]
/**
 * First byte of a payload → the contract to which its call may carry coins. 01: `contract` on bsc. 02: none. 03:
 * `other`. 04: `contract` on ethereum.
 */
const routes: readonly Route[] = [
  { from, where: { '0': '01' }, to: 'bsc', calls: [{ contract, function: take, proof: 'message', coins }] },
  { from, where: { '0': '02' }, to: 'bsc', calls: [{ contract, function: take, proof: 'message' }] },
  {
    ...{ from, where: { '0': '03' }, to: 'bsc' },
    calls: [{ contract: other, function: take, proof: 'message', coins: { atMost: '9', delivered: { ...delivered, contract } } }],
  },
  { from, where: { '0': '04' }, to: 'ethereum', calls: [{ contract, function: take, proof: 'message', coins }] },
]
const set = { index: 0, keys: devnetGuardians(4).map(({ address: key }) => key), expirationTime: 0, current: true }
const verify = createVerifier({ get: async () => set }, () => 1_700_000_000)
const signed = (payload: string, more: Parameters<typeof signVaa>[1] = {}, sequence = 7n) =>
  signVaa({ emitterChain: 2, emitter, sequence, payload }, { guardians: 4, ...more }).bytes
const call = (message: Uint8Array, value: string, to = contract) => ({ to, data: encodeCall({ function: take, args: [message] }), value })

function setting({ allow }: { readonly allow?: Readonly<Record<string, string[]>> } = {}) {
  const seen = { final: 0, delivered: false, asked: [] as string[], signed: [] as string[] }
  const chain = {
    name: 'bsc',
    call: async (to: string, data: string, at: string) => {
      seen.asked.push(`${to} ${data.slice(0, 10)} ${at}`)
      return toBeHex(seen.delivered ? 1 : 0, 32)
    },
  }
  const endpoint = createRouteEndpoint({ name: 'mine', routes, chain, chainNames, verify })
  const policy = signingPolicy({
    chainName: 'bsc',
    chain: {
      family: 'evm',
      networkId: 56,
      lanes: [],
      signing: signingLimitsSchema.parse({ maxPaymentWei: '8', maxSpendingPerHourWei: '1000000' }),
    },
    lane: { address: self, allow },
    dataFee: async () => '0',
    finalNonce: async () => seen.final,
    bridges: [{ ...endpoint, bridge: 'mine' }],
    settings: () => noSettings,
    spendingFolder: temporaryFolder(),
  })
  const key = {
    address: self,
    sign: async ({ nonce, value }: { nonce: number; value: string }) => (
      seen.signed.push(`${nonce} ${value}`),
      { raw: '0x' } as SignedTransaction
    ),
  }
  const signer = withPolicy(key, policy)
  const sign = (what: ReturnType<typeof call>, nonce = 1, maxFee = '1') =>
    signer.sign({ ...what, nonce, networkId: '56', gasLimit: '1000', maxFee, tip: '1' }).then(
      () => 'signed',
      ({ code }: { code: string }) => code,
    )
  return { seen, sign, policy, endpoint }
}

describe('Coins of a call, at the key', () => {
  const message = signed('0x01aa')

  test('a key signs coins up to those of the rule of the message, and no coins without a rule', async () => {
    const { sign, seen } = setting()
    expect([await sign(call(message, '0'), 1), await sign(call(message, '7'), 2)]).toEqual(['signed', 'signed'])
    expect(seen.signed).toEqual(['1 0', '2 7'])
    expect(seen.asked).toContain(`${contract} ${selectorOf('isReceived(bytes32)')} majority-latest`)
    expect(await sign(call(signed('0x03'), '8', other), 3)).toBe('signed')
  })

  test.each([
    ['more coins than the rule has', call(message, '8'), 'SIGNING_REFUSED'],
    ['more coins than the contract ever gets', call(message, '100'), 'SIGNING_REFUSED'],
    ['coins with a message whose rule has none', call(signed('0x02'), '7'), 'CALL_UNJUSTIFIED'],
    ['coins for another contract than that of the message', call(message, '7', other), 'CALL_UNJUSTIFIED'],
    ['coins with a message to another chain', call(signed('0x04'), '7'), 'CALL_UNJUSTIFIED'],
    ['coins with a message of nobody', call(signed('0x09'), '7'), 'CALL_UNJUSTIFIED'],
    ['coins with too few signatures', call(signed('0x01aa', { guardians: 1 }), '7'), 'CALL_UNJUSTIFIED'],
    ['coins above the limit of payments', call(signed('0x03'), '9', other), 'SIGNING_REFUSED'],
    ['coins without data', { to: contract, data: '0x', value: '1' }, 'SIGNING_REFUSED'],
    ['coins with another function', { ...call(message, '7'), data: `0xdeadbeef${call(message, '7').data.slice(10)}` }, 'SIGNING_REFUSED'],
    ['coins with bytes behind the message', { ...call(message, '7'), data: `${call(message, '7').data}00` }, 'CALL_UNJUSTIFIED'],
  ])('a key refuses %s', async (_, what, code) => {
    const { sign, seen } = setting()
    expect(await sign(what)).toBe(code)
    expect(seen.signed).toEqual([])
  })

  test('the proof compares coins with the rule of the message, whatever other rules of the function allow', async () => {
    const { endpoint } = setting()
    for (const [payload, value] of [
      ['0x01', '8'],
      ['0x01', '-1'],
      ['0x02', '1'],
    ] as const)
      await expect(endpoint.proveCall(call(signed(payload), value))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    const none = createRouteEndpoint({
      ...{ name: 'mine', routes: [routes[1]!], chainNames, verify },
      chain: { name: 'bsc', call: async () => '0x' },
    })
    await expect(none.proveCall(call(signed('0x02'), '1'))).rejects.toThrow('It carries coins.')
  })

  test('the coins of a message are signed for one nonce at a time, also with other signatures', async () => {
    const { sign, seen } = setting()
    // Three of four guardians are a quorum.
    const copies = [
      [0, 1, 3],
      [1, 2, 3],
    ].map((signers) => signed('0x01aa', { signers }))
    expect(new Set([message, ...copies].map(encodeBase64)).size).toBe(3)
    expect(await sign(call(message, '7'), 5)).toBe('signed')
    for (const copy of [message, ...copies]) expect(await sign(call(copy, '3'), 6)).toBe('NONCE_NOT_FINAL')
    // A fee raise keeps the nonce, so the coins are paid only once.
    expect(await sign(call(message, '7'), 5, '2')).toBe('signed')
    expect(await sign(call(signed('0x01aa', {}, 8n), '7'), 7)).toBe('signed')
    seen.final = 6
    expect(await sign(call(message, '7'), 8)).toBe('signed')
    expect(seen.signed).toEqual(['5 7', '5 7', '7 7', '8 7'])
  })

  test('no coins are signed for a message that is delivered, also if an earlier nonce had no effect', async () => {
    const { sign, seen } = setting()
    expect(await sign(call(message, '7'), 5)).toBe('signed')
    seen.final = 6
    seen.delivered = true
    expect(await sign(call(message, '7'), 8)).toBe('CALL_UNJUSTIFIED')
    seen.delivered = false
    expect(await sign(call(message, '7'), 8)).toBe('signed')
    seen.delivered = true
    // A call without coins costs only gas.
    expect(await sign(call(signed('0x01'), '0'), 9)).toBe('signed')
    expect(seen.signed).toEqual(['5 7', '8 7', '9 0'])
  })

  test('a lane with a list of allowed calls pays coins only with these', async () => {
    expect(await setting({ allow: { [contract]: [selectorOf(take)] } }).sign(call(message, '7'))).toBe('signed')
    expect(await setting({ allow: { [contract]: ['0x12345678'] } }).sign(call(message, '7'))).toBe('SIGNING_REFUSED')
  })

  test('if bridges share a function, their highest limit of coins binds the key, and each proof has its own', () => {
    const { policy } = setting()
    expect(policy.paidCalls).toEqual({ [contract]: { [selectorOf(take)]: '7' }, [other]: { [selectorOf(take)]: '9' } })
  })
})

describe('Further arguments of a call, at the key', () => {
  const give = 'give(bytes,address,uint256,bytes32,uint16,bool)'
  const rest: ArgumentBound[] = [{ is: other }, { atMost: '100' }, { payload: [1, 33] }, { is: '$emitterChain' }, { is: 'true' }]
  const given = `${'00'.repeat(31)}5a`
  const payload = `0x05${given}`
  const chain = { name: 'bsc', call: async () => '0x' }
  const route: Route = { from, where: { '0': '05' }, to: 'bsc', calls: [{ contract, function: give, proof: 'message', rest }] }
  const endpoint = createRouteEndpoint({ name: 'mine', routes: [route], chain, chainNames, verify })
  const right = [other, 100n, `0x${given}`, 2, true]
  const giving = (args: readonly unknown[], message = signed(payload)) => ({
    ...{ to: contract, value: '0' },
    data: encodeCall({ function: give, args: [message, ...args] }),
  })

  test('a key signs the arguments that their bounds allow', async () => {
    expect(await endpoint.proveCall(giving(right))).toEqual(['ethereum'])
    expect(await endpoint.proveCall(giving(right.with(1, 0)))).toEqual(['ethereum'])
  })

  test.each([
    ['another address', right.with(0, contract), 2],
    ['a number above its limit', right.with(1, 101n), 3],
    ['the highest number', right.with(1, 2n ** 256n - 1n), 3],
    ['other bytes than those of the payload', right.with(2, `0x5b${given.slice(2)}`), 4],
    ['another value than that of the message', right.with(3, 4), 5],
    ['another truth value', right.with(4, false), 6],
  ])('a key refuses %s as an argument', async (_, args, number) => {
    const refusal = { code: 'CALL_UNJUSTIFIED', message: expect.stringContaining(`Its argument ${number} is not`) as string }
    await expect(endpoint.proveCall(giving(args))).rejects.toMatchObject(refusal)
  })

  test('a key refuses a call whose payload ends before the bytes of its bound', async () => {
    const short = signed(payload.slice(0, -2))
    const args = right.with(2, `0x${'00'.repeat(32)}`)
    await expect(endpoint.proveCall(giving(args, short))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a key refuses data that is not exactly encoded', async () => {
    const { data } = giving(right)
    for (const forged of [`${data}00`, `${data.slice(0, 10)}${'f'.repeat(64)}${data.slice(74)}`, data.slice(0, -64)])
      await expect(endpoint.proveCall({ to: contract, value: '0', data: forged })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a call can be made again from its message and the words of its further arguments', () => {
    const { data } = giving(right)
    expect(encodeMessageCall(give, signed(payload), restOf(data, rest.length))).toBe(data)
  })
})

describe('Coins of a route without code', () => {
  const route = { source: 'ethereum', emitter, where: {}, target: 'bsc', contract, function: take, delivered }
  const callWith = async (own?: { atMost: string; value?: string }) => {
    const plugin = createReceivers([{ ...route, coins: own }])
    const messages = createPluginMessages(plugin, chainNames)
    const chain = { name: 'bsc', call: async () => toBeHex(0, 32), ...noLogs }
    const endpoint = createPluginEndpoint(plugin, messages, { chain, clock: () => 0, chainNames, verify })
    const transfer = createPluginDecode(plugin, messages)(signed('0x01'))
    expect(transfer.message).toBe(encodeBase64(signed('0x01')))
    const verdict = await endpoint.validate(transfer)
    const intent = await endpoint.delivery(transfer).call()
    expect(verdict).toMatchObject({ kind: 'valid', delivery: { intent } })
    return { value: intent.value, sources: await endpoint.proveCall(intent), paid: endpoint.paidCalls }
  }

  test('each call of a route carries its coins, or the highest that it may carry, or none', async () => {
    const parties = { recipient: contract, token: `2/${emitter}` }
    expect(await callWith()).toEqual({ value: '0', sources: [{ sourceChain: 'ethereum', parties }], paid: {} })
    const paid = { [contract]: { [selectorOf(take)]: '7' } }
    const payment = expect.stringMatching(/^0x[0-9a-f]{64}$/) as string
    const sources = [{ sourceChain: 'ethereum', payment, parties }]
    expect(await callWith({ atMost: '7' })).toEqual({ value: '7', sources, paid })
    expect(await callWith({ atMost: '7', value: '5' })).toEqual({ value: '5', sources, paid })
  })
})
