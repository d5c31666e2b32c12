import { describe, expect, test } from 'vitest'
import { createPluginEndpoint } from '../../bridges/kit/plugin-bridge.ts'
import { assertKnownNames } from '../../domain/settings/known-names.ts'
import { fromSettingsCheckpoint, missingRestrictions } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import type { Tariff, TariffScope } from '../../domain/settings/tariff.ts'
import { tariffOfFee, isAssetDelivered, isRouteFree } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { aboutSettings } from '../../operations/access/subjects.ts'
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

  test('a rule for a source counts before the rule for all sources, and others are not concerned', () => {
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
    const bsc = { minimumFees: { [token]: '6' }, prices: { [token]: '2' } }
    const names = new Map([[2, 'bsc']])
    const { product, messages, decode } = tokenBridgeMessages(names, { bsc }, { tariff })
    const emitter = 'ee'.repeat(32)
    const chain = { name: 'bsc', call: async () => `0x${emitter}`, ...noLogs }
    const endpoint = createPluginEndpoint(product, messages, { chain, clock: () => 0, chainNames: names, verify: async () => {} })
    const payload = transferPayload({ token: word.toLowerCase(), tokenChain: 4, toChain: 2, fee: 5n })
    const transfer = decode(signVaa({ emitterChain: 4, emitter, payload }).bytes)
    expect(await endpoint.validate(transfer)).toMatchObject(verdict)
    expect(endpoint.delivery(transfer).earned).toBe(earned)
  })

  test('a free route serves a token without a minimum, which the config declines', async () => {
    let tariff: readonly { scope: TariffScope; tariff: Tariff }[] = []
    const { product } = tokenBridgeMessages(new Map([[2, 'bsc']]), {}, { tariff: () => tariff })
    const content = { kind: 1, originToken: token, fee: 0n, recipient: '', target: { name: 'bsc' } }
    const admit = () => product.admit?.({ source: 'ethereum', content } as never)
    expect(admit).toThrow('No fee is configured')
    tariff = [{ scope: { kind: 'route', source: 'ethereum', target: 'bsc' }, tariff: { free: true } }]
    expect(admit).not.toThrow()
  })
})
