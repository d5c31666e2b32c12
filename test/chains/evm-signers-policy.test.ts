import { Interface } from 'ethers'
import { describe, expect, test, vi } from 'vitest'
import { judge, withPolicy } from '../../chains/evm/signers/policy.ts'
import type { ProvedRoute, SignedTransaction, UnsignedTransaction } from '../../chains/signing-port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { mostNoopGas } from '../../domain/fees/fees.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { testPolicy } from '../helpers/signing-policy.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [self, bridge, treasury, lane, token, stranger] = ['1', '2', '3', '4', '5', '6'].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
]
const complete = '0xc6878519'
const ping = '0x5c36b186'
const spender = `0x${'7e'.repeat(20)}`
const erc20 = new Interface(['function transfer(address to, uint256 amount)', 'function approve(address to, uint256 amount)'])
/** The selector and the first argument, without the amount. */
const approve = (to: string) => erc20.encodeFunctionData('approve', [to, 9n]).slice(0, 10 + 64)
const pingOnly = `0x12345678${'0'.repeat(63)}1`
const policy = testPolicy({
  calls: { [bridge]: [complete] },
  operatorCalls: { [stranger]: [ping], [spender]: [approve(treasury), pingOnly] },
  payees: [treasury],
  otherLanes: [lane],
  topUps: true,
  tokens: [token],
})
const send = (to: string) => erc20.encodeFunctionData('transfer', [to, 9n])

test('a key signs a payment to another lane only if top-ups are on', () => {
  const coins = { to: lane, data: '0x', value: '1' }
  expect(judge(coins, self, policy)).toBe('own')
  expect(judge(coins, self, { ...policy, topUps: false })).toEqual({ reason: 'Coins to other lanes are off.', by: 'topUps' })
  expect(judge({ ...coins, to: treasury }, self, { ...policy, topUps: false })).toBe('own')
})

describe('limits of coins to other lanes', () => {
  const coins = (value: string, nonce: number, to = lane) => ({ ...unsigned(to, '0x', value), nonce })
  const setting = (folder: string, clock = () => 0) => {
    const key = { address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }
    const topUpLimits = { maxPaymentWei: '60', maxPerDayWei: '100' }
    const limits = { ...policy.limits, maxGasPerTransaction: '6000000' }
    return withPolicy(key, { ...policy, limits, topUpLimits, spendingFolder: folder, fieldOf: (what) => what }, clock)
  }
  const beyond = (field: string) => {
    const what = field === 'maxPerDayWei' ? 'The sum of all payments to other lanes' : 'It'
    return { code: 'SIGNING_REFUSED', about: expect.stringMatching(new RegExp(`^${what} exceeds topUpLimits\\.${field}\\.`)) }
  }

  test('payment limits hold for each payment and for the day, but not for payments to the treasury', async () => {
    const signer = setting(temporaryFolder())
    for (const ask of [signer.check!, signer.sign]) await expect(ask(coins('61', 1))).rejects.toMatchObject(beyond('maxPaymentWei'))
    await signer.sign(coins('60', 1))
    for (const ask of [signer.check!, signer.sign]) await expect(ask(coins('41', 2))).rejects.toMatchObject(beyond('maxPerDayWei'))
    await signer.sign(coins('1000', 2, treasury))
    await signer.sign(coins('40', 3))
    // The payment with nonce 3 was counted before, so a raise of its fee adds nothing.
    await signer.sign({ ...coins('40', 3), maxFee: '40' })
    await expect(signer.sign(coins('1', 4))).rejects.toMatchObject(beyond('maxPerDayWei'))
    expect(signer.spending?.()).toContainEqual({ kind: 'top-up', window: 'day', spent: 100n, limit: 100n })
  })

  test('a paid delivery to the address of a lane is no top-up, and to the key itself no no-op', async () => {
    const key = { address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }
    const limits = { topUpLimits: { maxPaymentWei: '60', maxPerDayWei: '100' }, openCalls: { [complete]: '200' } }
    const signer = withPolicy(key, { ...policy, ...limits, limits: { ...policy.limits, maxGasPerTransaction: '6000000' } })
    for (const [nonce, to] of [lane, self].entries())
      await signer.sign({ ...unsigned(to, `${complete}0${nonce}`, '150'), nonce, gasLimit: '5000001' })
    expect(signer.spending?.()).toContainEqual({ kind: 'top-up', window: 'day', spent: 0n, limit: 100n })
  })

  test('the limits hold for data and addresses in upper case, also with 0X', async () => {
    const signer = setting(temporaryFolder())
    for (const ask of [signer.check!, signer.sign]) {
      await expect(ask({ ...coins('61', 1, lane.toUpperCase()), data: '0X' })).rejects.toMatchObject(beyond('maxPaymentWei'))
      const noop = { ...coins('0', 1, self.toUpperCase()), data: '0X', gasLimit: String(mostNoopGas + 1n) }
      await expect(ask(noop)).rejects.toMatchObject({ about: expect.stringContaining('A no-op is signed with at most') })
    }
    await signer.sign({ ...coins('60', 1), data: '0X' })
    await expect(signer.sign({ ...coins('41', 2), data: '0X' })).rejects.toMatchObject(beyond('maxPerDayWei'))
  })

  test('counted payments survive a restart, and end after a day', async () => {
    const folder = temporaryFolder()
    await setting(folder).sign(coins('60', 1))
    await expect(setting(folder).check!(coins('41', 2))).rejects.toMatchObject(beyond('maxPerDayWei'))
    await setting(folder, () => 25 * 3_600_000).check!(coins('60', 2))
  })
})

function unsigned(to: string, data: string, value = '0'): UnsignedTransaction {
  return { networkId: '1337', nonce: 5, to, data, value, gasLimit: '50000', maxFee: '30', tip: '2' }
}

describe('signing policy', () => {
  test.each([
    ['a no-op', unsigned(self, '0x')],
    ['an allowed function', unsigned(bridge, `${complete}00ff`)],
    [
      'an address and a selector in upper case',
      unsigned(bridge.toUpperCase().replace('0X', '0x'), complete.toUpperCase().replace('0X', '0x')),
    ],
    ['coins to the treasury', unsigned(treasury, '0x', '1000')],
    ['coins to another lane', unsigned(lane, '0x', '1000')],
    ['a listed token to the treasury', unsigned(token, send(treasury))],
    ['a listed call of operators', unsigned(stranger, `${ping}00`)],
    ['one whose first argument is listed, whatever follows', unsigned(spender, `${approve(treasury)}${'f'.repeat(64)}`)],
    ['one whose arguments are all listed, in upper case', unsigned(spender, pingOnly.toUpperCase().replace('0X', '0x'))],
  ])('%s is signed', async (_, transaction) => {
    const signed: string[] = []
    const key = {
      address: self,
      sign: ({ to }: UnsignedTransaction) => Promise.resolve({ raw: String(signed.push(to)) } as SignedTransaction),
    }
    await withPolicy(key, { ...policy, spendingFolder: temporaryFolder() }).sign(transaction)
    expect(signed).toEqual([transaction.to.toLowerCase()])
  })

  const dirty = `${send(treasury).slice(0, 10)}${'ff'.repeat(12)}${send(treasury).slice(34)}`
  test.each([
    ['coins to a stranger', unsigned(stranger, '0x', '1'), 'only to the treasury', 'payees'],
    ['nothing to a stranger', unsigned(stranger, '0x'), 'only to the treasury', 'payees'],
    ['coins to itself', unsigned(self, '0x', '1'), 'no-op carries', 'payees'],
    ['a call to itself', unsigned(self, complete), 'contract is not allowed', 'calls'],
    ['another function', unsigned(bridge, '0xdeadbeef'), 'function of the contract', 'calls'],
    [
      "an operators' call with another first argument",
      unsigned(spender, `${approve(stranger)}${'f'.repeat(64)}`),
      'first arguments',
      'calls',
    ],
    [
      "an operators' call that ends within its listed argument",
      unsigned(spender, approve(treasury).slice(0, -2)),
      'first arguments',
      'calls',
    ],
    ["an operators' call with other arguments", unsigned(spender, `0x12345678${'0'.repeat(63)}2`), 'first arguments', 'calls'],
    ["another function of an operators' contract", unsigned(spender, send(treasury)), 'function of the contract', 'calls'],
    ['no function', unsigned(bridge, '0xc68785'), 'names no function', 'calls'],
    ['something before its function', unsigned(bridge, `0${complete}`), 'names no function', 'calls'],
    ['a token transfer behind another one', unsigned(token, `${send(stranger)}${send(treasury)}`), 'not to the treasury', 'payees'],
    ['coins with an allowed function', unsigned(bridge, complete, '1'), 'carries coins', 'calls'],
    ['coins to the bridge', unsigned(bridge, '0x', '1'), 'only to the treasury', 'payees'],
    ['an allowed function of another contract', unsigned(stranger, complete), 'contract is not allowed', 'calls'],
    ['a token to a stranger', unsigned(token, send(stranger)), 'not to the treasury', 'payees'],
    ['a token to a lane', unsigned(token, send(lane)), 'not to the treasury', 'payees'],
    ['a token that is not listed', unsigned(stranger, send(treasury)), 'contract is not allowed', 'calls'],
    ['an approval', unsigned(token, erc20.encodeFunctionData('approve', [treasury, 9n])), 'contract is not allowed', 'calls'],
    ['a token transfer with more bytes', unsigned(token, `${send(treasury)}00`), 'not to the treasury', 'payees'],
    ['a token transfer cut short', unsigned(token, send(treasury).slice(0, -2)), 'not to the treasury', 'payees'],
    ['a token transfer with dirt before the address', unsigned(token, dirty), 'not to the treasury', 'payees'],
    ['data to the treasury', unsigned(treasury, complete), 'contract is not allowed', 'calls'],
    ['a call to __proto__', unsigned('__proto__', complete), 'contract is not allowed', 'calls'],
    ['a call to constructor', unsigned('constructor', complete), 'contract is not allowed', 'calls'],
  ])('the signer refuses %s without asking the key, and names the field that forbids it', async (_, transaction, text, by) => {
    let asked = 0
    const signer = withPolicy({ address: self, sign: () => Promise.resolve({ raw: String(asked++) } as SignedTransaction) }, policy)
    await expect(signer.sign(transaction)).rejects.toMatchObject({
      code: 'SIGNING_REFUSED',
      retriable: false,
      about: expect.stringMatching(new RegExp(`${text}.*\\. chains\\.test\\.signing\\.${by} decides\\.`)),
      facts: { nonce: 5, to: transaction.to },
    })
    expect(asked).toBe(0)
  })

  test('a policy that allows nothing allows no-ops', () => {
    expect(judge(unsigned(self, '0x'), self, testPolicy())).toBe('own')
    expect(judge(unsigned(bridge, complete), self, testPolicy())).toMatchObject({ by: 'calls' })
  })
})

describe('a delivery is proved before the key is asked', () => {
  const delivery = unsigned(bridge, `${complete}00ff`)

  function setting(answer: () => Promise<ProvedRoute[]>, clock?: () => number) {
    const seen = { signed: 0, asked: [] as string[] }
    const key = { address: self, sign: () => Promise.resolve({ raw: String(++seen.signed) } as SignedTransaction) }
    const proveCall = (call: { data: string }) => {
      seen.asked.push(call.data)
      return answer()
    }
    return { seen, signer: withPolicy(key, { ...policy, proveCall }, clock) }
  }

  test("each call is proved once, whatever its fee and nonce; no-ops, payments and operators' calls never", async () => {
    const { seen, signer } = setting(() => Promise.resolve([]))
    await signer.check?.(delivery)
    await signer.sign(delivery)
    await signer.sign({ ...delivery, maxFee: '40', nonce: 6 })
    await signer.sign(unsigned(bridge, `${complete}00fe`))
    for (const own of [unsigned(self, '0x'), unsigned(treasury, '0x', '1'), unsigned(stranger, ping)]) await signer.sign(own)
    expect(seen).toEqual({ signed: 6, asked: [`${complete}00ff`, `${complete}00fe`] })
  })

  test('after ten minutes, a call needs a new proof, except for a fee raise of a nonce that was signed', async () => {
    let [now, isGenuine] = [0, true]
    const answer = () => (isGenuine ? Promise.resolve([]) : Promise.reject(new RelayerError('CALL_UNJUSTIFIED')))
    const { seen, signer } = setting(answer, () => now)
    await signer.sign({ ...delivery, nonce: 6 })
    now = 599_999
    await signer.sign({ ...delivery, nonce: 7 })
    expect(seen.asked.length).toBe(1)
    now = 600_000
    isGenuine = false
    for (const nonce of [6, 7]) await signer.sign({ ...delivery, nonce, maxFee: '40' })
    for (const nonce of [8, undefined])
      await expect(signer.check?.({ ...delivery, nonce })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await expect(signer.sign({ ...delivery, nonce: 8 })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(seen).toMatchObject({ signed: 4, asked: { length: 4 } })
  })

  test('after ten minutes, a nonce that was refused or not signed needs a new proof', async () => {
    let [now, isGenuine, isAway] = [0, true, false]
    const key = {
      address: self,
      sign: () => (isAway ? Promise.reject(new RelayerError('SIGNER_UNAVAILABLE')) : Promise.resolve({ raw: '0x' } as SignedTransaction)),
    }
    const proveCall = () => (isGenuine ? Promise.resolve([]) : Promise.reject(new RelayerError('CALL_UNJUSTIFIED')))
    const limits = { ...policy.limits, maxSpendingPerHourWei: String(BigInt(delivery.gasLimit) * BigInt(delivery.maxFee)) }
    const signer = withPolicy(key, { ...policy, limits, proveCall, spendingFolder: temporaryFolder() }, () => now)
    await signer.check?.({ ...delivery, nonce: 5 })
    isAway = true
    await expect(signer.sign({ ...delivery, nonce: 6 })).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' })
    isAway = false
    await expect(signer.sign({ ...delivery, nonce: 7 })).rejects.toMatchObject({ facts: { limit: 'maxSpendingPerHourWei' } })
    now = 24 * 3_600_000
    isGenuine = false
    for (const nonce of [5, 6, 7]) await expect(signer.sign({ ...delivery, nonce })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a call that nothing proves is not signed, however often it is requested', async () => {
    const { seen, signer } = setting(() => Promise.reject(new RelayerError('CALL_UNJUSTIFIED')))
    for (const ask of [signer.check!, signer.sign, signer.sign])
      await expect(ask(delivery)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED', retriable: false })
    expect(seen).toMatchObject({ signed: 0 })
    await signer.sign(unsigned(self, '0x'))
    expect(seen).toMatchObject({ signed: 1 })
  })

  test('a nonce that was signed while another proof of its call was under way needs no new proof', async () => {
    let now = 0
    const ends: (() => void)[] = []
    const { seen, signer } = setting(
      () => (now > 0 ? Promise.reject(new RelayerError('CALL_UNJUSTIFIED')) : new Promise((resolve) => ends.push(() => resolve([])))),
      () => now,
    )
    const [first, second] = [6, 7].map((nonce) => signer.sign({ ...delivery, nonce }))
    await vi.waitFor(() => expect(ends).toHaveLength(2))
    ends[0]!()
    await first
    ends[1]!()
    await second
    now = 600_000
    for (const nonce of [6, 7]) await signer.sign({ ...delivery, nonce, maxFee: '40' })
    expect(seen.signed).toBe(4)
  })

  test('the refusal of a halted or denied delivery says who gave the order, why, and what it concerns', async () => {
    const order = { by: 'ops', reason: 'a test', at: 0 }
    const refused = async (orders: Partial<Settings>) => {
      const key = { address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }
      const route = { bridge: 'ntt', sourceChain: 'base', targetChain: 'bsc', parties: { recipient: stranger, token: '2/aa' } }
      const ofCall = { proveCall: async () => [route], settings: () => ({ ...noSettings, ...orders }) }
      return withPolicy(key, { ...policy, ...ofCall }).sign(delivery)
    }
    await expect(refused({ halts: [{ ...order, scope: {} }] })).rejects.toMatchObject({
      code: 'HALTED',
      about: 'halted by ops: a test (bridge=ntt sourceChain=base targetChain=bsc)',
    })
    await expect(refused({ denied: [{ ...order, kind: 'recipient', value: stranger }] })).rejects.toMatchObject({
      code: 'RECIPIENT_DENIED',
      about: `recipient ${stranger} was denied by ops: a test (bridge=ntt to=${bridge})`,
    })
  })

  test('the data fee of a call is read for that call', async () => {
    const asked: object[] = []
    const key = { address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }
    const dataFee = async (call: object) => (asked.push(call), '0')
    await withPolicy(key, { ...policy, dataFee }).sign(delivery)
    const { to, data, value } = delivery
    expect(asked).toEqual([{ to, data, value }])
  })

  test('a proof that could not be read is requested again', async () => {
    let away = true
    const { seen, signer } = setting(() => (away ? Promise.reject(new RelayerError('NODE_UNAVAILABLE')) : Promise.resolve([])))
    await expect(signer.sign(delivery)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE', retriable: true })
    away = false
    await signer.sign(delivery)
    expect(seen).toMatchObject({ signed: 1, asked: { length: 2 } })
  })
})
