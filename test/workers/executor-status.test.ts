import { concat, toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import { executorAbi, requestTopic } from '../../bridges/executor/event.ts'
import { createDecode } from '../../bridges/executor/message.ts'
import type { Receipt } from '../../chains/port.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import { createRequestsOf } from '../../workers/roles/executor.ts'
import { quoter, signed } from '../helpers/executor.ts'

const contract = `0x${'44'.repeat(20)}`
const receiver = `0x${'33'.repeat(20)}`
const universal = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const hash = `0x${'bb'.repeat(32)}`
const quote = signed({
  ...{ quoter, payee: '00'.repeat(32), sourceChain: 2, targetChain: 4, expiry: 2n ** 40n, baseFee: 0n },
  ...{ gasPrice: 10n ** 9n, sourcePrice: 10n ** 10n, targetPrice: 10n ** 10n },
})
const gas = concat(['0x01', toBeHex(100_000, 16), toBeHex(0, 16)])

function logOf(sequence: number, { by = quoter, instructions = gas } = {}) {
  const request = concat(['0x45525631', toBeHex(2, 2), toBeHex(9, 32), toBeHex(sequence, 8)])
  const values = [by, 10n ** 14n, 4, universal(receiver), quoter, quote, request, instructions]
  return { address: contract, ...executorAbi.encodeEventLog('RequestForExecution', values) }
}

/** A look-up of a transaction with these logs. The first log has the index 11 in its block. */
function setting(logs: Receipt['logs'], status?: object, { away = [] }: { readonly away?: readonly string[] } = {}) {
  const calls = { nodes: 0, temporal: [] as string[] }
  const counted = <T>(answer: T) => {
    calls.nodes += 1
    return answer
  }
  const receipt = { hash, block: { height: 7, hash }, logs, firstLog: 11 }
  const chainOf = (name: string, own?: object) => ({
    receipt: async () => (away.includes(name) ? Promise.reject(new Error(`${name} is away`)) : counted(own)),
    block: async () => counted({ timestamp: 1 }),
  })
  const own = { contract, payee: contract, price: '1', receivers: { [receiver]: { view: 'isReceived(bytes32)', args: ['$digest'] } } }
  const config = {
    bridges: { executor: executorSchema.parse({ quoter: { address: quoter }, chains: { ethereum: own, bsc: own } }) },
    chains: { ethereum: { wormholeChainId: 2 }, bsc: { wormholeChainId: 4 } },
  }
  const names = [[2, 'ethereum'] as const, [4, 'bsc'] as const]
  const decode = createDecode(new Map(names.map(([id, name]) => [id, { name, contract }])), new Map(names))
  const network = {
    chains: new Map([
      ['ethereum', chainOf('ethereum', receipt)],
      ['bsc', chainOf('bsc')],
    ]),
    bridges: new Map([['executor', { decode }]]),
  }
  const handle = (id: string) => {
    calls.temporal.push(id)
    const info = { type: status ? 'transfer' : 'other', status: { name: 'RUNNING' } }
    return { describe: async () => info, query: async () => status }
  }
  const client = { workflow: { getHandle: handle }, withDeadline: (_: number, work: () => unknown) => work() }
  return { calls, requestsOf: createRequestsOf({ config, network, client } as never)! }
}

test('a transaction with 300 requests costs reads for 20, and only of the quoter that is asked', async () => {
  const other = `0x${'77'.repeat(20)}`
  const { calls, requestsOf } = setting([logOf(0, { by: other }), ...Array.from({ length: 300 }, (_, index) => logOf(index))])
  const rows = await requestsOf(hash, undefined)
  expect(rows.map(({ logIndex }) => logIndex)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  expect(new Set(calls.temporal).size).toBe(20)
  expect(calls.temporal[0]).toContain(':7000012:')
  expect(calls.nodes).toBe(3)
})

test('a request of more than 8 KiB has no row', async () => {
  const long = concat([gas, new Uint8Array(9_000)])
  const { requestsOf } = setting([{ address: contract, topics: [requestTopic], data: '0x' }, logOf(1, { instructions: long }), logOf(2)])
  expect((await requestsOf(hash, 2)).map(({ logIndex }) => logIndex)).toEqual([2])
})

const reverted = (reason: string) => ({ code: 'DELIVERY_REVERTED', reason, failedCall: 'reverted' })

test.each([
  ['parked', reverted('it reverts'), { status: 'failed', failureCause: 'it reverts' }],
  ['parked', reverted('nonce 7 was used by a noop transaction'), { failureCause: 'nonce 7 was used by a noop transaction' }],
  ['parked', { code: 'DELIVERY_IMPOSSIBLE', reason: 'for another chain' }, { failureCause: 'for another chain' }],
  ['parked', { code: 'DELIVERY_REVERTED' }, { status: 'failed', failureCause: 'DELIVERY_REVERTED' }],
  ['declined', { code: 'EXECUTOR_EXPIRED', reason: 'the quote expired' }, { status: 'aborted', failureCause: 'the quote expired' }],
  ['waiting', { code: 'PLACE_NOT_FINAL', reason: 'block 9 is not final' }, { status: 'pending', failureCause: 'block 9 is not final' }],
])('the row of a request whose transfer is %s has the state and the cause: %j', async (state, why, row) => {
  const { requestsOf } = setting([logOf(1)], { state, transfer: { bridge: 'executor' }, ...why })
  expect(await requestsOf(hash, 2)).toMatchObject([row])
})

test.each([
  ['waiting', { code: 'HALTED', reason: 'halted by alice: a key may be stolen' }],
  ['declined', { code: 'RECIPIENT_DENIED', reason: 'denied by bob: case 4711' }],
  ['waiting', { code: 'NODE_UNAVAILABLE', reason: 'https://10.0.0.7: HTTP 401' }],
  ['waiting', { code: 'VAA_NOT_FOUND', reason: 'https://10.0.0.8: HTTP 404' }],
  ['waiting', { code: 'LANE_FUNDS', reason: 'balance 7 wei' }],
] as const)("the row of a request that is %s shows the code's title, and no text of operators or nodes: %j", async (state, why) => {
  const { requestsOf } = setting([logOf(1)], { state, transfer: { bridge: 'executor' }, ...why })
  expect(await requestsOf(hash, 2)).toMatchObject([{ failureCause: errorCatalogue[why.code].title }])
})

test.each([
  ['refused', 'DELIVERY_REVERTED'],
  ['spent', 'DELIVERY_REVERTED'],
  ['disputed', 'DELIVERY_REVERTED'],
  [undefined, 'DELIVERY_REVERTED'],
  ['disputed', 'DELIVERY_IMPOSSIBLE'],
] as const)(
  'the row of a request whose call did not revert has the title of the code, and no words of nodes: %s',
  async (failedCall, code) => {
    const why = { code, reason: 'fatal: https://10.0.0.7 says no', failedCall }
    const { requestsOf } = setting([logOf(1)], { state: 'parked', transfer: { bridge: 'executor' }, ...why })
    expect(await requestsOf(hash, 2)).toMatchObject([{ failureCause: errorCatalogue[code].title }])
  },
)

test('the row of a cancelled request does not say why an operator cancelled it', async () => {
  const { requestsOf } = setting([logOf(1)], { state: 'cancelled', reason: 'carol: test', transfer: { bridge: 'executor' } })
  const [row] = await requestsOf(hash, 2)
  expect(row).toMatchObject({ status: 'aborted' })
  expect(row).not.toHaveProperty('failureCause')
})

test('a request below the minimum gas limit is unsupported, unless its transfer has started', async () => {
  const logs = [logOf(1, { instructions: concat(['0x01', toBeHex(99_999, 16), toBeHex(0, 16)]) })]
  const started = setting(logs, { state: 'pending', transfer: { bridge: 'executor' } })
  expect(await started.requestsOf(hash, 2)).toMatchObject([{ status: 'submitted' }])
  expect(await setting(logs).requestsOf(hash, 2)).toMatchObject([
    { status: 'unsupported', failureCause: 'the gas limit 99999 is below 100000' },
  ])
})

test('an unreachable chain hides no request of another chain, and is an error only if it is needed', async () => {
  const found = setting([logOf(1)], undefined, { away: ['bsc'] })
  expect(await found.requestsOf(hash, undefined)).toHaveLength(1)
  const unknown = setting([logOf(1)], undefined, { away: ['ethereum'] })
  await expect(unknown.requestsOf(hash, undefined)).rejects.toThrow('ethereum is away')
})
