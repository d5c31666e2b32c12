import { expect, test } from 'vitest'
import { toBeHex } from 'ethers'
import { receiverFinding } from '../../cli/doctor/services.ts'
import { receiversSchema } from '../../config/schema/bridge-schema.ts'
import { crossCheck } from '../../config/load/cross-checks.ts'

const contract = `0x${'aa'.repeat(20)}`
const route = {
  source: 'ethereum',
  emitter: `0x${'Ee'.repeat(20)}`,
  target: 'bsc',
  contract,
  delivered: { view: 'isDone(bytes32)' },
  free: true,
}
const parsed = (fields: object) => receiversSchema.safeParse({ routes: [{ ...route, ...fields }] })

test('an emitter may be given as an address or as 64 digits', () => {
  const universal = `${'0'.repeat(24)}${'ee'.repeat(20)}`
  for (const emitter of [route.emitter, universal, `0x${universal.toUpperCase()}`])
    expect(parsed({ emitter }).data?.routes[0]?.emitter).toBe(universal)
})

test('a route without an answer of its own expects true for the digest', () => {
  expect(parsed({}).data?.routes[0]).toMatchObject({
    function: 'executeVAAv1(bytes)',
    where: {},
    delivered: { args: ['$digest'], is: 'true' },
    stream: { maxOpen: 200 },
  })
})

test.each([
  ['an emitter of another length', { emitter: '0x1234' }, 'emitter'],
  ['no consent to pay', { free: undefined }, 'free'],
  ['free: false', { free: false }, 'free'],
  ['a function with more arguments', { function: 'take(bytes,uint256)' }, 'function'],
  ['a place that is no offset', { where: { '-1': '01' } }, 'where'],
  ['half a byte', { where: { '0': '012' } }, 'where'],
  ['a view with an argument of several words', { delivered: { view: 'isDone(bytes)' } }, 'delivered'],
  ['a view with a type that Solidity does not have', { delivered: { view: 'isDone(uint999)' } }, 'delivered'],
  [
    'a view that does not name the message',
    { delivered: { view: 'last(uint16,bytes32)', args: ['$emitterChain', '$emitter'] } },
    'delivered',
  ],
  ['too few arguments', { delivered: { view: 'isDone(bytes32,uint64)' } }, 'delivered'],
  ['an argument of another type', { delivered: { view: 'isDone(uint64)', args: ['$digest'] } }, 'delivered'],
  ['a number that does not fit', { delivered: { view: 'isDone(uint8)', args: ['256'] } }, 'delivered'],
  ['an unknown value', { delivered: { view: 'isDone(bytes32)', args: ['$constructor'] } }, 'delivered'],
  ['an answer above 256 bits', { delivered: { view: 'isDone(bytes32)', is: '9'.repeat(78) } }, 'delivered'],
])('a route with %s is refused, and the field is named', (_, fields, field) => {
  expect(parsed(fields).error?.issues[0]?.path.slice(0, 3)).toEqual(['routes', 0, field])
})

const chains = { ethereum: { wormholeChainId: 2, contracts: {} }, bsc: { wormholeChainId: 4, contracts: {} } }
const problems = (routes: object[], bridges = {}) =>
  crossCheck({ chains, bridges: { receivers: { routes }, ...bridges } })
    .map(({ path }) => path)
    .filter((path) => path.startsWith('bridges.receivers'))

test('a route needs the token bridge and chains of the config', () => {
  expect(problems([route])).toEqual(['bridges.receivers'])
  const bridges = { 'wormhole-token-bridge': {} }
  expect(problems([route], bridges)).toEqual([])
  expect(problems([{ ...route, source: 'wormhole-1' }], bridges)).toEqual([])
  expect(problems([{ ...route, source: 'wormhole-2' }], bridges)).toEqual(['bridges.receivers.routes[0].source'])
  expect(problems([route, { ...route, target: 'base' }], bridges)).toEqual(['bridges.receivers.routes[1].target'])
  expect(problems([{ ...route, target: 'ethereum' }], bridges)).toEqual(['bridges.receivers.routes[0].target'])
})

const [shown] = [{ source: 'ethereum', emitter: 'ee'.repeat(32), where: {}, target: 'bsc', contract, function: 'take(bytes)' }]
const finding = (answer: string, { hasCode = true } = {}) => {
  const reader = { name: 'bsc', call: async () => answer, hasCode: async () => hasCode }
  return receiverFinding(reader, { ...shown, delivered: { contract, view: 'isDone(bytes32)', args: ['$digest'], is: 'true' } })
}

test('portage doctor checks the contract of a route and the view that shows a delivery', async () => {
  expect(await finding(toBeHex(0, 32))).toBe(`${contract} on bsc`)
  expect(await finding('0x', { hasCode: false })).toMatchObject({ status: 'fail', remedy: 'Correct contract of this route.' })
  expect(await finding('0x')).toMatchObject({ status: 'fail', detail: expect.stringContaining('isDone(bytes32) does not answer') })
  expect(await finding(toBeHex(1, 32))).toMatchObject({ status: 'warn', detail: expect.stringContaining('does not exist') })
})
