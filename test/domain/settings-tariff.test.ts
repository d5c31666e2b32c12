import { describe, expect, test } from 'vitest'
import { createPluginEndpoint } from '../../bridges/kit/plugin-bridge.ts'
import { assertKnownNames } from '../../domain/settings/known-names.ts'
import { fromSettingsCheckpoint, missingRestrictions } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import type { Tariff, TariffScope } from '../../domain/settings/tariff.ts'
import { type TokenBridgeTarget, tariffOfFee, isAssetDelivered, isRouteFree } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { aboutSettings } from '../../operations/access/subjects.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noLogs } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const word = 'aB'.repeat(32)
const token = `4/${word.toLowerCase()}`
const order = (scope: TariffScope, tariff: Tariff): SettingsOrder => ({ kind: 'setTariff', scope, tariff })
const after = (settings: Settings, ...orders: SettingsOrder[]) => applySettingsOrders(settings, { by: 'me', reason: 'a test', orders }, 1)

describe('tariff of operators', () => {
  test('one rule per scope: a later one replaces it, an empty one removes it, the same one changes nothing', () => {
    const asset = { kind: 'asset', token } as const
    const declined = after(noSettings, order({ kind: 'asset', token: `4/0x${word}` }, { delivered: false }))
    expect(declined.tariff).toEqual([{ scope: asset, tariff: { delivered: false } }])
    expect(after(declined, order(asset, { delivered: false }))).toBe(declined)
    expect(after(declined, order(asset, { delivered: true })).tariff).toEqual([{ scope: asset, tariff: { delivered: true } }])
    const empty = after(declined, order(asset, { delivered: undefined }))
    expect([empty.tariff, empty.version]).toEqual([[], 2])
  })

  test('a rule for a source outranks the rule for all sources, and does not affect other sources', () => {
    const { tariff } = after(
      noSettings,
      order({ kind: 'route', target: 'bsc' }, { free: true }),
      order({ kind: 'route', source: 'ethereum', target: 'bsc' }, { free: false }),
      order({ kind: 'fee', chain: 'bsc', token }, { minimumFee: '5' }),
    )
    expect([isRouteFree(tariff, 'ethereum', 'bsc'), isRouteFree(tariff, 'base', 'bsc'), isRouteFree(tariff, 'bsc', 'base')]).toEqual([
      ...[false, true, undefined],
    ])
    expect([tariffOfFee(tariff, 'bsc', token), tariffOfFee(tariff, 'base', token)]).toEqual([{ minimumFee: '5' }, {}])
    expect(isAssetDelivered(tariff, token)).toBeUndefined()
  })

  test('a tariff rule for an unknown chain is refused, and a rule concerns the chains in its scope', () => {
    const known = { bridges: [], lanes: [], nodes: { bsc: [] } }
    const unknown = order({ kind: 'route', source: 'ethereum', target: 'bsc' }, { free: true })
    expect(() => assertKnownNames([unknown], known, noSettings)).toThrow('orders[0].scope.sourceChain: there is no chain ethereum')
    const fee = order({ kind: 'fee', chain: 'base', token }, { price: '1' })
    expect(() => assertKnownNames([fee], known, noSettings)).toThrow('orders[0].scope.chain: there is no chain base')
    expect(aboutSettings([unknown, fee])).toEqual({ chains: ['ethereum', 'bsc', 'base'] })
    expect(aboutSettings([order({ kind: 'asset', token }, { delivered: true })])).toEqual({})
  })

  test('a checkpoint keeps the tariff, an older one has none, and only a declined token is a restriction', () => {
    const settings = after(
      noSettings,
      order({ kind: 'asset', token }, { delivered: false }),
      order({ kind: 'route', target: 'bsc' }, { free: true }),
    )
    const kept = fromSettingsCheckpoint({ version: 1, namespace: 'n', at: 1, settings }, 'n')
    expect(kept.settings.tariff).toEqual(settings.tariff)
    const { tariff: _, ...older } = settings
    expect(fromSettingsCheckpoint({ version: 1, namespace: 'n', at: 1, settings: older }, 'n').settings.tariff).toEqual([])
    expect(missingRestrictions(settings, noSettings, 1).flatMap(({ orders }) => orders)).toEqual([
      order({ kind: 'asset', token }, { delivered: false }),
    ])
  })
})

/** Validates a transfer to bsc with this fee. `bsc`: the target's fees and prices. `options`: tariff and price feed. */
function tokenBridge(bsc: Partial<TokenBridgeTarget>, fee: bigint, options: Parameters<typeof tokenBridgeMessages>[2]) {
  const names = new Map([[2, 'bsc']])
  const { product, messages, decode } = tokenBridgeMessages(names, { bsc }, options)
  const emitter = 'ee'.repeat(32)
  const chain = { name: 'bsc', call: async () => `0x${emitter}`, ...noLogs }
  const endpoint = createPluginEndpoint(product, messages, { chain, clock: () => 0, chainNames: names, verify: async () => {} })
  const payload = transferPayload({ token: word.toLowerCase(), tokenChain: 4, toChain: 2, fee })
  const transfer = decode(signVaa({ emitterChain: 4, emitter, payload }).bytes)
  return { validate: () => endpoint.validate(transfer), delivery: endpoint.delivery(transfer) }
}

const inDollars = (fee: bigint, options: Parameters<typeof tokenBridge>[2]) =>
  tokenBridge({ minimumFees: { [token]: '0.0001 dollars' }, prices: { [token]: 'feed' } }, fee, options)

describe('the token bridge under tariff of operators', () => {
  const decline = { kind: 'declined' } as const
  test.each<[string, [TariffScope, Tariff][], object, bigint | undefined]>([
    ['those of the config', [], { ...decline, code: 'FEE_TOO_LOW' }, 10n],
    ['a lower minimum', [[{ kind: 'fee', chain: 'bsc', token }, { minimumFee: '5' }]], { kind: 'valid' }, 10n],
    ['another price', [[{ kind: 'fee', chain: 'bsc', token }, { price: '7' }]], { ...decline, code: 'FEE_TOO_LOW' }, 35n],
    ['a free route, for tokens without a minimum only', [[{ kind: 'route', target: 'bsc' }, { free: true }]], { code: 'FEE_TOO_LOW' }, 10n],
    ['a token that is declined', [[{ kind: 'asset', token }, { delivered: false }]], { ...decline, code: 'ASSET_UNSUPPORTED' }, 10n],
  ])('the token bridge obeys the tariff of operators: %s', async (_, rules, verdict, earned) => {
    const tariff = () => rules.map(([scope, own]) => ({ scope, tariff: own }))
    const { validate, delivery } = tokenBridge({ minimumFees: { [token]: '6' }, prices: { [token]: '2' } }, 5n, { tariff })
    expect(await validate()).toMatchObject(verdict)
    expect(await delivery.earned?.()).toBe(earned)
  })

  /**
   * A token with 6 decimals at 0.5 dollars, on a chain whose coin costs 2,000 dollars: 1 unit is worth 250,000,000 wei.
   */
  const feed = (name: string, end: string) => {
    if (name === token) return Promise.resolve(5n * 10n ** 9n)
    if (name === 'bsc' && end === 'target') return Promise.resolve(2_000n * 10n ** 10n)
    return Promise.reject(new RelayerError('PRICE_MISSING', { facts: { name } }))
  }

  test.each<[string, bigint, Tariff, object, bigint | undefined]>([
    ['a fee at the minimum of 0.0001 dollars', 200n, {}, { kind: 'valid' }, 50_000_000_000n],
    [
      'a fee one unit below the minimum',
      199n,
      {},
      { ...decline, code: 'FEE_TOO_LOW', reason: expect.stringContaining('200') },
      49_750_000_000n,
    ],
    ['a fee whose minimum and price an operator has ordered', 199n, { minimumFee: '1', price: '7' }, { kind: 'valid' }, 1_393n],
  ])('fees in dollars count at the prices of the feed: %s', async (_, fee, own, verdict, earned) => {
    const tariff = () => [{ scope: { kind: 'fee', chain: 'bsc', token } as const, tariff: own }]
    const { validate, delivery } = inDollars(fee, { tariff, priceOf: feed, decimals: async () => 6 })
    expect(await validate()).toMatchObject(verdict)
    expect(await delivery.earned?.()).toBe(earned)
  })

  test.each([
    ['the price of the token is missing', { priceOf: (name: string) => feed(`${name}0`, 'source'), decimals: async () => 6 }],
    ['the decimals of the token are not known', { priceOf: feed, decimals: async () => undefined }],
  ])('a transfer whose fee is compared in dollars waits while %s', async (_, options) => {
    const { validate, delivery } = inDollars(200n, options)
    expect(await validate()).toMatchObject({ kind: 'wait', code: 'PRICE_MISSING' })
    await expect(delivery.earned?.()).rejects.toMatchObject({ code: 'PRICE_MISSING', retriable: true })
  })

  test('a fee that is too low at one of two prices makes a transfer wait; at both, it is declined', async () => {
    const halved = (name: string, end: string) => (name === token && end === 'source' ? Promise.resolve(25n * 10n ** 8n) : feed(name, end))
    const verdictOf = (fee: bigint) => inDollars(fee, { priceOf: halved, decimals: async () => 6 }).validate()
    expect(await verdictOf(400n)).toEqual({ kind: 'valid', delivery: expect.anything() })
    expect(await verdictOf(399n)).toMatchObject({ kind: 'wait', code: 'FEE_BELOW_COST', reason: expect.stringContaining('minimum of 400') })
    expect(await verdictOf(199n)).toMatchObject({ ...decline, code: 'FEE_TOO_LOW' })
  })

  test('the prices at the source and at the target are read in parallel, so that both are equally recent', async () => {
    let answered = 0
    const asked: number[] = []
    const priceOf: typeof feed = async (name, end) => {
      asked.push(answered)
      const price = await feed(name, end)
      answered++
      return price
    }
    const { validate, delivery } = inDollars(200n, { priceOf, decimals: async () => 6 })
    expect(await validate()).toMatchObject({ kind: 'valid' })
    expect(await delivery.earned?.()).toBe(50_000_000_000n)
    expect(asked).toEqual([0, 0, 2, 2])
  })

  test('a transfer without a fee is declined, even if its token has no price', async () => {
    const { validate } = inDollars(0n, { priceOf: (name) => feed(`${name}0`, 'source'), decimals: async () => 6 })
    expect(await validate()).toMatchObject({ ...decline, code: 'FEE_TOO_LOW', reason: expect.stringContaining('0.0001 dollars') })
  })

  test('a free route serves a token without a minimum, which the config declines', async () => {
    let tariff: readonly { scope: TariffScope; tariff: Tariff }[] = []
    const { product } = tokenBridgeMessages(new Map([[2, 'bsc']]), {}, { tariff: () => tariff })
    const content = { kind: 1, originToken: token, fee: 0n, recipient: '', target: { name: 'bsc' } }
    const admit = async () => product.admit?.({ source: 'ethereum', content } as never)
    await expect(admit()).rejects.toThrow('No fee is configured')
    tariff = [{ scope: { kind: 'route', source: 'ethereum', target: 'bsc' }, tariff: { free: true } }]
    await expect(admit()).resolves.toBeUndefined()
  })
})
