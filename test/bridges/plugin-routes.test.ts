import { expect, test } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import { pluginRoutesSchema } from '../../config/schema/plugin-schema.ts'
import { contract, emitter, entry, options, routes } from './plugin-source.ts'

type Where = Readonly<Record<string, string>> | undefined
const pinned = (where: Where, from = emitter) =>
  entry({ module: 'a.mjs', sha256: 'ab'.repeat(32) }, { routes: [{ ...routes[0]!, from: [{ source: 'ethereum', emitter: from }], where }] })
const refused = { code: 'CONFIG_INVALID', facts: { plugin: 'mine' } }

test.each<[string, Where, Where, boolean]>([
  ['by no byte', undefined, { 0: '01' }, false],
  ['by the same byte', { 0: '01' }, { 0: '01' }, false],
  ['by bytes at two offsets', { 0: '01' }, { 1: '02' }, false],
  ['by the same byte of a longer row', { 0: '0102' }, { 1: '02' }, false],
  ['by another byte', { 0: '01' }, { 0: '02' }, true],
  ['by another byte of a longer row', { 0: '0102' }, { 1: '03' }, true],
])('two plug-ins share an emitter only if each message fits one of them: %s', (_, where, others, isAllowed) => {
  const make = () => createBridges(options({ mine: pinned(where), other: pinned(others) }), new Map())
  if (isAllowed) expect([...make().keys()]).toContain('other')
  else expect(make).toThrow(expect.objectContaining({ ...refused, message: expect.stringContaining('a route of other, too') as string }))
})

const calls = { bsc: { [contract]: 'take(bytes)' } }
test.each<[string, Where, object, boolean]>([
  ['all', undefined, {}, false],
  ['token transfers', { 0: '01' }, {}, false],
  ['token transfers to a chain outside the config', { 0: '01', 99: '0005' }, {}, true],
  ['attestations', { 0: '02' }, {}, true],
  ['payload 3', { 0: '03' }, {}, true],
  ['payload 3, also to the contract of a configured call', { 0: '03' }, { calls }, false],
  ['payload 3 to another contract', { 0: '03', 79: '12'.repeat(20) }, { calls }, true],
])('a plug-in on the emitter of a token bridge takes only what the bridge does not: %s', (_, where, bridge, isAllowed) => {
  const make = () => createBridges(options({ mine: pinned(where, `${'0'.repeat(24)}${'bb'.repeat(20)}`) }, bridge), new Map())
  if (isAllowed) expect([...make().keys()]).toContain('mine')
  else expect(make).toThrow(expect.objectContaining(refused))
})

const emitterOf = routes[0]!.from
const givenBy = (signature: string, more: object) =>
  pluginRoutesSchema.safeParse([{ from: emitterOf, to: 'bsc', calls: [{ contract, function: signature, proof: 'message', ...more }] }])
const give = 'give(bytes,address,uint16)'

test('a route may bound each argument that follows the message', () => {
  const bounds = [{ is: contract }, { atMost: '9' }, { payload: [0, 32] }, { is: '$sequence' }]
  expect(givenBy('give(bytes,address,uint16,bytes32,uint64)', { rest: bounds })).toMatchObject({ success: true })
})

test.each<[string, string, object]>([
  ['no bounds', give, {}],
  ['too few bounds', give, { rest: [{ is: contract }] }],
  ['too many bounds', 'give(bytes)', { rest: [{ is: contract }] }],
  ['an address that is too short', give, { rest: [{ is: '0x12' }, { atMost: '1' }] }],
  ['a literal that is too high for its type', give, { rest: [{ is: contract }, { is: '65536' }] }],
  ['an upper limit of an address', give, { rest: [{ atMost: '9' }, { atMost: '9' }] }],
  ['an upper limit of a signed number', 'give(bytes,int16)', { rest: [{ atMost: '9' }] }],
  ['33 bytes of the payload', give, { rest: [{ payload: [0, 33] }, { atMost: '1' }] }],
  ['no bytes of the payload', give, { rest: [{ payload: [4, 4] }, { atMost: '1' }] }],
  ['two bounds for one argument', give, { rest: [{ is: contract, atMost: '9' }, { atMost: '1' }] }],
  ['a misspelt value of the message', give, { rest: [{ is: contract }, { is: '$emitterchain' }] }],
  ['an argument that is no word', 'give(bytes,string)', { rest: [{ is: '1' }] }],
  ['an argument before the message', 'give(address,bytes)', { rest: [{ is: contract }] }],
  ['further arguments after a word', 'give(uint16,uint16)', { proof: { view: 'has(uint16)', returns: 'bool', isNot: [false] } }],
  [
    'further arguments without a message',
    'give(bytes,uint16)',
    { rest: [{ atMost: '9' }], proof: { view: 'a(bytes)', returns: 'bool', isNot: [0] } },
  ],
])('a route is refused if its call has %s', (_, signature, more) => {
  expect(givenBy(signature, more)).toMatchObject({ success: false })
})

const bound = "must be { is: '10' }, { is: '$digest' }, { atMost: '100' } or { payload: [from, to] }: values are texts in quotes"
const word = 'must be true, false, a decimal number, 0x hex, $digest, $emitter, $emitterChain or $sequence'
const call = { contract, function: 'give(bytes,uint16)', proof: 'message', rest: [{ atMost: '9' }] }
test.each<[string, object, readonly (string | number)[], string]>([
  ['a bound that is a number', { calls: [{ ...call, rest: [{ is: 10 }] }] }, ['calls', 0, 'rest', 0], bound],
  ['an upper limit that is a number', { calls: [{ ...call, rest: [{ atMost: 10 }] }] }, ['calls', 0, 'rest', 0], bound],
  ['offsets by name', { calls: [{ ...call, rest: [{ payload: { from: 1, to: 2 } }] }] }, ['calls', 0, 'rest', 0], bound],
  ['a misspelt value', { calls: [{ ...call, rest: [{ is: '$emitterchain' }] }] }, ['calls', 0, 'rest', 0, 'is'], word],
  ['bytes with 0x', { where: { 0: '0x07' } }, ['where', '0'], 'must be 1 to 64 bytes in hex: lower case, without 0x'],
])('a refused route names the place, and says what is allowed: %s', (_, parts, path, message) => {
  const { error } = pluginRoutesSchema.safeParse([{ from: emitterOf, to: 'bsc', calls: [call], ...parts }])
  expect(error?.issues).toContainEqual(expect.objectContaining({ path: [0, ...path], message }))
})
