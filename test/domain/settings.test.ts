import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Settings, type SettingsOrder, denialOf, haltOf, noSettings, applySettingsOrders } from '../../domain/settings/settings.ts'
import { longestTokenMs } from '../../domain/access.ts'

const author = { by: 'night-shift', reason: 'a test' }
const address = `0x${'Ab'.repeat(20)}`
const token = `2/${'0a'.repeat(32)}`

function after(settings: Settings, ...orders: SettingsOrder[]): Settings {
  return applySettingsOrders(settings, { ...author, orders }, 1_000)
}

const route = { bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', targetChain: 'bsc' }

describe('settings', () => {
  test('each change of the settings has a version, author, time and reason', () => {
    const settings = after(noSettings, { kind: 'halt', scope: { chain: 'bsc' } }, { kind: 'deny', what: 'token', value: token })
    expect(settings).toEqual({
      version: 2,
      halts: [{ scope: { chain: 'bsc' }, ...author, at: 1_000 }],
      denied: [{ kind: 'token', value: token, ...author, at: 1_000 }],
      fees: [],
      nodes: [],
      tariff: [],
      tokens: [],
      audit: [
        { version: 1, ...author, at: 1_000, order: { kind: 'halt', scope: { chain: 'bsc' } } },
        { version: 2, ...author, at: 1_000, order: { kind: 'deny', what: 'token', value: token } },
      ],
    })
  })

  test('an order that changes nothing is not recorded', () => {
    const halted = after(noSettings, { kind: 'halt', scope: { chain: 'bsc' } })
    expect(after(halted, { kind: 'halt', scope: { chain: 'bsc', bridge: undefined } })).toBe(halted)
    expect(applySettingsOrders(halted, { by: 'another', reason: 'too', orders: [{ kind: 'halt', scope: { chain: 'bsc' } }] }, 2)).toBe(
      halted,
    )
    expect(after(halted, { kind: 'unhalt', scope: {} })).toBe(halted)
    expect(after(halted, { kind: 'clearNode', chain: 'bsc', name: 'spare' })).toBe(halted)
    expect(after(halted, { kind: 'setFees', scope: { kind: 'global' }, policy: {} })).toBe(halted)
  })

  test('a new token drops no other while the list has room, though the clock shows them as expired', () => {
    const issued = (jti: string, expiresAt: number) =>
      ({ jti, expiresAt, name: 'alice', level: 'sign', kid: 'k', issuedAt: 1, chains: undefined }) as const
    const listed = after(noSettings, { kind: 'addToken', token: issued('a', 5_000) }, { kind: 'addToken', token: issued('b', 2_000) })
    expect(listed.tokens).toEqual([
      { jti: 'a', expiresAt: 5_000, name: 'alice', level: 'sign', kid: 'k', issuedAt: 1 },
      { jti: 'b', expiresAt: 2_000, name: 'alice', level: 'sign', kid: 'k', issuedAt: 1 },
    ])
    const revoked = after(listed, { kind: 'revokeToken', jti: 'a' }, { kind: 'revokeToken', jti: 'unlisted' })
    const by = { ...author, at: 1_000 }
    expect(revoked.tokens).toMatchObject([{ jti: 'a', revoked: by }, { jti: 'b' }, { jti: 'unlisted', revoked: by }])
    expect(after(revoked, { kind: 'revokeToken', jti: 'a' })).toBe(revoked)
    const again = after(revoked, { kind: 'addToken', token: issued('a', 5_000) })
    expect(again).toBe(revoked)
    const later = applySettingsOrders(revoked, { ...author, orders: [{ kind: 'addToken', token: issued('c', 9_000) }] }, 6_000)
    expect(later.tokens.map(({ jti }) => jti)).toEqual(['a', 'b', 'unlisted', 'c'])
  })

  test('an unlisted revoked token is dropped once no earlier token can be valid', () => {
    const orders = Array.from({ length: 100 }, (_, index): SettingsOrder => ({ kind: 'revokeToken', jti: `forged-${index}` }))
    const full = after(
      after(noSettings, ...orders),
      ...orders.map((order) => ({ ...order, jti: `more-${(order as { jti: string }).jti}` })),
    )
    expect(full.tokens).toHaveLength(200)
    const revoke = (at: number) => applySettingsOrders(full, { ...author, orders: [{ kind: 'revokeToken', jti: 'stolen' }] }, at)
    expect(revoke(1_000 + longestTokenMs - 1).tokens).toHaveLength(201)
    expect(revoke(1_000 + longestTokenMs).tokens.map(({ jti }) => jti)).toEqual(['stolen'])
  })

  test('the audit holds the newest 200 changes', () => {
    const orders = Array.from({ length: 150 }, (_, index): SettingsOrder[] => [
      { kind: 'halt', scope: { bridge: `b${index}` } },
      { kind: 'unhalt', scope: { bridge: `b${index}` } },
    ]).flat()
    const settings = after(noSettings, ...orders)
    expect(settings.version).toBe(300)
    expect(settings.halts).toEqual([])
    expect(settings.audit.map(({ version }) => version)).toEqual(Array.from({ length: 200 }, (_, index) => index + 101))
  })

  test('the fee rule of a scope is replaced in any case of its hex, and an empty one is dropped', () => {
    const scope = { kind: 'call', chain: 'bsc', contract: address, selector: '0xC6878519' } as const
    const lower = { ...scope, contract: address.toLowerCase(), selector: '0xc6878519' }
    const one = after(noSettings, { kind: 'setFees', scope, policy: { maxTip: '1', gasLimit: undefined } })
    expect(one.fees).toEqual([{ scope: lower, policy: { maxTip: '1' } }])
    const two = after(one, { kind: 'setFees', scope: lower, policy: { gasFactor: 2 } })
    expect(two.fees).toEqual([{ scope: lower, policy: { gasFactor: 2 } }])
    expect(
      after(two, { kind: 'setFees', scope: { kind: 'call', chain: 'bsc', contract: address }, policy: { gasFactor: 2 } }).fees,
    ).toHaveLength(2)
    expect(after(two, { kind: 'setFees', scope, policy: {} }).fees).toEqual([])
  })

  test('each node has one change', () => {
    const added = after(noSettings, { kind: 'setNode', change: { chain: 'bsc', name: 'spare', disabled: false, url: '${SPARE}' } })
    const disabled = after(added, { kind: 'setNode', change: { chain: 'bsc', name: 'spare', disabled: true, url: '${SPARE}' } })
    expect(disabled.nodes).toEqual([{ chain: 'bsc', name: 'spare', disabled: true, url: '${SPARE}' }])
    expect(after(disabled, { kind: 'clearNode', chain: 'bsc', name: 'spare' }).nodes).toEqual([])
    expect(after(disabled, { kind: 'clearNode', chain: 'ethereum', name: 'spare' }).nodes).toHaveLength(1)
  })

  test('repeating the same orders changes nothing', () => {
    const name = fc.constantFrom('ethereum', 'bsc', 'polygon')
    const scope = fc.record({ chain: name, sourceChain: name, targetChain: name, bridge: name }, { requiredKeys: [] })
    const order: fc.Arbitrary<SettingsOrder> = fc.oneof(
      fc.record({ kind: fc.constantFrom('halt' as const, 'unhalt' as const), scope }),
      fc.record({
        kind: fc.constantFrom('deny' as const, 'allow' as const),
        what: fc.constant('recipient' as const),
        value: fc.constantFrom(address, address.toLowerCase(), `bsc/${address}`),
      }),
      fc.record({
        kind: fc.constant('setFees' as const),
        scope: fc.oneof(
          fc.record({ kind: fc.constant('global' as const) }),
          fc.record({ kind: fc.constant('chain' as const), chain: name }),
        ),
        policy: fc.record({ maxTip: fc.constantFrom('1', '2'), gasFactor: fc.constantFrom(1, 2) }, { requiredKeys: [] }),
      }),
      fc.record({
        kind: fc.constant('setNode' as const),
        change: fc.record({ chain: name, name: fc.constantFrom('a', 'b'), disabled: fc.boolean() }),
      }),
      fc.record({ kind: fc.constant('clearNode' as const), chain: name, name: fc.constantFrom('a', 'b') }),
    )
    fc.assert(
      fc.property(fc.array(order, { maxLength: 30 }), (orders) => {
        const settings = after(noSettings, ...orders)
        const last = orders.at(-1)
        if (last) expect(after(settings, last)).toBe(settings)
        expect(settings.version).toBe(settings.audit.at(-1)?.version ?? 0)
        expect(JSON.parse(JSON.stringify(settings))).toEqual(settings)
        for (const rows of [settings.halts.map((halt) => halt.scope), settings.fees.map((rule) => rule.scope)]) {
          expect(
            new Set(
              rows.map((row) =>
                Object.entries(row)
                  .map(String)
                  .toSorted((a, b) => a.localeCompare(b))
                  .join(),
              ),
            ).size,
          ).toBe(rows.length)
        }
      }),
    )
  })
})

describe('a halt', () => {
  test.each([
    [{}, true],
    [{ bridge: 'wormhole-token-bridge' }, true],
    [{ bridge: 'native-bridge' }, false],
    [{ chain: 'ethereum' }, true],
    [{ chain: 'bsc' }, true],
    [{ chain: 'polygon' }, false],
    [{ sourceChain: 'ethereum', targetChain: 'bsc' }, true],
    [{ sourceChain: 'bsc', targetChain: 'ethereum' }, false],
    [{ sourceChain: 'bsc' }, false],
    [{ bridge: 'wormhole-token-bridge', chain: 'polygon' }, false],
  ])('a halt of %j covers this route: %s', (scope, holds) => {
    expect(haltOf(after(noSettings, { kind: 'halt', scope }), route) !== undefined).toBe(holds)
  })

  test('a halt ends by its own scope only', () => {
    const both = after(noSettings, { kind: 'halt', scope: {} }, { kind: 'halt', scope: { chain: 'bsc' } })
    expect(haltOf(after(both, { kind: 'unhalt', scope: {} }), route)?.scope).toEqual({ chain: 'bsc' })
    expect(haltOf(after(both, { kind: 'unhalt', scope: {} }, { kind: 'unhalt', scope: { chain: 'bsc' } }), route)).toBeUndefined()
  })
})

describe('a deny rule', () => {
  const parties = { targetChain: 'bsc', recipient: address, token }
  test.each([
    ['recipient', address, true],
    ['recipient', `bsc/${address}`, true],
    ['recipient', `ethereum/${address}`, false],
    ['recipient', `0x${'cd'.repeat(20)}`, false],
    ['token', token.toUpperCase(), true],
    ['token', token.replace('2/', '2/0x'), true],
    ['token', token.replace('2/', '4/'), false],
  ] as const)('a deny rule of the %s %s applies: %s', (what, value, holds) => {
    expect(denialOf(after(noSettings, { kind: 'deny', what, value }), parties) !== undefined).toBe(holds)
  })

  test('a deny rule of a recipient applies to another account that gets coins', () => {
    const settings = after(noSettings, { kind: 'deny', what: 'recipient', value: address })
    expect(
      denialOf(settings, { ...parties, recipient: `0x${'cd'.repeat(20)}`, payee: address.toUpperCase().replace('0X', '0x') }),
    ).toBeDefined()
    expect(denialOf(settings, { ...parties, recipient: `0x${'cd'.repeat(20)}`, payee: `0x${'ef'.repeat(20)}` })).toBeUndefined()
  })

  const short = `0x${'01'.padStart(40, '0')}`
  test.each([
    ['whole', address, `ff${address.slice(2)}`, true],
    ['in upper case', address, address.slice(2).toUpperCase(), true],
    ['between two bytes', address, `f${address.slice(2)}f`, false],
    ['first between two bytes, then whole', address, `f${address.slice(2)}f${address.slice(2)}`, true],
    ['cut', address, address.slice(2, -2), false],
    ['so short that it is a number too', short, '01'.padStart(64, '0'), false],
  ])('a deny rule applies to bytes that have the address %s', (_, value, bytes, holds) => {
    const settings = after(noSettings, { kind: 'deny', what: 'recipient', value })
    const subject = { targetChain: 'bsc', recipient: `0x${'ee'.repeat(20)}`, token, bytes }
    expect(denialOf(settings, subject) !== undefined).toBe(holds)
  })
})
