import { describe, expect, test } from 'vitest'
import { inForce, unfitting } from '../../domain/settings/in-force.ts'
import { assertKnownNames } from '../../domain/settings/known-names.ts'
import {
  applySettingsOrders,
  denialOf,
  type HaltScope,
  haltOf,
  noSettings,
  type Settings,
  type SettingsOrder,
} from '../../domain/settings/settings.ts'

const alice = `0x${'ab'.repeat(20)}`
const known = {
  ...{ bridges: ['ntt', 'cctp'], lanes: [`evm-1:${alice}`], networkIds: [1, 56, 8453] },
  ...{ nodes: { ethereum: ['one'], bnb: ['one'], base: ['one'] }, wormholeChainIds: { ethereum: 2, bnb: 4, base: 30 } },
}
const given = (...orders: readonly SettingsOrder[]): Settings => applySettingsOrders(noSettings, { by: 'ann', reason: 'a hack', orders }, 7)
const halted = (scope: HaltScope, [sourceChain, targetChain]: readonly [string, string] = ['base', 'bnb'], bridge = 'ntt') =>
  haltOf(inForce(given({ kind: 'halt', scope }), known), { bridge, sourceChain, targetChain })?.reason

describe('settings whose names the config lacks', () => {
  test.each<HaltScope>([{ sourceChain: 'wormhole-30' }, { chain: 'wormhole-30' }, { bridge: 'ntt', sourceChain: 'wormhole-30' }])(
    'a halt of %o, which has a node and a name now, holds for this name',
    (scope) => {
      expect(halted(scope)).toBe('a hack')
      expect(halted(scope, ['ethereum', 'bnb'])).toBeUndefined()
    },
  )

  test('a halt of a chain without a node holds for it alone', () => {
    expect(halted({ sourceChain: 'wormhole-9' }, ['wormhole-9', 'bnb'])).toBe('a hack')
    expect(halted({ sourceChain: 'wormhole-9' })).toBeUndefined()
  })

  test.each<[HaltScope, string, ...(string | undefined)[]]>([
    [{ sourceChain: 'former' }, 'the chain former', 'base', 'ethereum'],
    [{ chain: 'former' }, 'the chain former', 'base', 'ethereum'],
    [{ sourceChain: 'base', targetChain: 'bsc' }, 'the chain bsc', 'base', undefined],
    [{ bridge: 'gone', sourceChain: 'base' }, 'the bridge gone', 'base', undefined],
    [{ bridge: 'cctp', sourceChain: 'former' }, '', undefined, undefined],
    [{ bridge: 'gone', targetChain: 'bsc' }, 'the bridge gone and the chain bsc', 'base', 'ethereum'],
  ])('a halt of %o applies to more than was ordered, and shows that the config lacks %s', (scope, lacking, ...sources) => {
    for (const [index, source] of ['base', 'ethereum'].entries()) {
      const reason = halted(scope, [source, 'bnb'])
      expect(reason === undefined).toBe(sources[index] === undefined)
      if (reason !== undefined)
        expect(reason).toBe(`a hack (the halt holds for more than was ordered, because the config of this process lacks ${lacking})`)
    }
  })

  test('a recipient denied on a chain that the config lacks waits on every chain, and is not declined', () => {
    const settings = inForce(given({ kind: 'deny', what: 'recipient', value: `bsc/${alice}` }), known)
    for (const targetChain of ['bnb', 'base'])
      expect(denialOf(settings, { targetChain, recipient: alice, token: '' })).toMatchObject({
        ...{ kind: 'waiting', code: 'DENIAL_UNCLEAR', retryInMs: expect.any(Number) },
        reason: `recipient ${alice} was denied by ann: a hack (the denial holds for more than was ordered, because the config of this process lacks the chain bsc)`,
      })
    expect(denialOf(settings, { targetChain: 'bnb', recipient: `0x${'cd'.repeat(20)}`, token: '' })).toBeUndefined()
    const again = inForce(
      given({ kind: 'deny', what: 'recipient', value: `bsc/${alice}` }, { kind: 'deny', what: 'recipient', value: `bnb/${alice}` }),
      known,
    )
    expect(denialOf(again, { targetChain: 'bnb', recipient: alice, token: '' })).toMatchObject({ code: 'RECIPIENT_DENIED' })
  })

  test('orders whose names the config has are in force as they were given', () => {
    const settings = given(
      { kind: 'halt', scope: {} },
      { kind: 'halt', scope: { bridge: 'ntt', sourceChain: 'base', targetChain: 'bnb' } },
      { kind: 'deny', what: 'recipient', value: alice },
      { kind: 'deny', what: 'recipient', value: `bnb/${alice}` },
      { kind: 'deny', what: 'token', value: `9/${'0'.repeat(64)}` },
    )
    expect(inForce(settings, known)).toEqual(settings)
    expect(unfitting(settings, known)).toEqual([])
  })
})

describe('orders in force with names that the config lacks', () => {
  const lane = `evm-9:${alice}`
  const orders: readonly SettingsOrder[] = [
    { kind: 'halt', scope: { sourceChain: 'former' } },
    { kind: 'halt', scope: { sourceChain: 'wormhole-30' } },
    { kind: 'deny', what: 'recipient', value: `bsc/${alice}` },
    { kind: 'setFees', scope: { kind: 'chain', chain: 'bsc' }, policy: { maxTip: '1' } },
    { kind: 'setFees', scope: { kind: 'lane', lane }, policy: { maxTip: '1' } },
    { kind: 'setTariff', scope: { kind: 'route', source: 'former', target: 'bnb' }, tariff: { free: true } },
    { kind: 'setNode', change: { chain: 'bnb', name: 'node-3', disabled: true } },
  ]
  const settings = given(...orders)

  test('each order with a name that the config lacks is listed, with the name', () => {
    expect(unfitting(settings, known)).toEqual([
      { order: orders[0], why: 'there is no chain former' },
      { order: orders[1], why: "Wormhole's chain 30 is called base in the config" },
      { order: orders[2], why: 'there is no chain bsc' },
      { order: orders[3], why: 'there is no chain bsc' },
      { order: orders[4], why: `there is no lane ${lane}` },
      { order: orders[5], why: 'there is no chain former' },
      { order: orders[6], why: 'there is no node of bnb node-3' },
    ])
  })

  test('the reason is not cut out of the text of an error, so a name may have any characters', () => {
    const fees = [{ scope: { kind: 'chain' as const, chain: 'a; b' }, policy: { maxTip: '1' } }]
    expect(unfitting({ ...noSettings, fees }, known).map(({ why }) => why)).toEqual(['there is no chain a; b'])
  })

  test.each<SettingsOrder>([
    { kind: 'unhalt', scope: { sourceChain: 'former' } },
    { kind: 'allow', what: 'recipient', value: `bsc/${alice}` },
    { kind: 'setFees', scope: { kind: 'chain', chain: 'bsc' }, policy: {} },
    { kind: 'setFees', scope: { kind: 'lane', lane }, policy: {} },
    { kind: 'setTariff', scope: { kind: 'route', source: 'former', target: 'bnb' }, tariff: {} },
    { kind: 'clearNode', chain: 'bnb', name: 'node-3' },
  ])('an order with a name that the config lacks can be ended: $kind', (order) => {
    expect(() => assertKnownNames([order], known, settings)).not.toThrow()
    expect(() => assertKnownNames([order], known, noSettings)).toThrow('there is no')
  })
})
