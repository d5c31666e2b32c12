import { describe, expect, test } from 'vitest'
import { createPluginEndpoint } from '../../bridges/kit/plugin-bridge.ts'
import { assertKnownNames } from '../../domain/settings/known-names.ts'
import { fromSettingsCheckpoint, missingRestrictions } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import { feeTerms, isAssetDelivered, isRouteFree, type Terms, type TermScope } from '../../domain/settings/terms.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { aboutSettings } from '../../operations/access/subjects.ts'
import { noLogs } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const word = 'aB'.repeat(32)
const token = `4/${word.toLowerCase()}`
const order = (scope: TermScope, terms: Terms): SettingsOrder => ({ kind: 'setTerms', scope, terms })
const after = (settings: Settings, ...orders: SettingsOrder[]) => applySettingsOrders(settings, { by: 'me', reason: 'a test', orders }, 1)

describe('terms of operators', () => {
  test('one rule per scope: a later one replaces it, an empty one removes it, the same one changes nothing', () => {
    const asset = { kind: 'asset', token } as const
    const declined = after(noSettings, order({ kind: 'asset', token: `4/0x${word}` }, { delivered: false }))
    expect(declined.terms).toEqual([{ scope: asset, terms: { delivered: false } }])
    expect(after(declined, order(asset, { delivered: false }))).toBe(declined)
    expect(after(declined, order(asset, { delivered: true })).terms).toEqual([{ scope: asset, terms: { delivered: true } }])
    const empty = after(declined, order(asset, { delivered: undefined }))
    expect([empty.terms, empty.version]).toEqual([[], 2])
  })

  test('a rule for a source counts before the rule for all sources, and others are not concerned', () => {
    const { terms } = after(
      noSettings,
      order({ kind: 'route', target: 'bsc' }, { free: true }),
      order({ kind: 'route', source: 'ethereum', target: 'bsc' }, { free: false }),
      order({ kind: 'fee', chain: 'bsc', token }, { minimumFee: '5' }),
    )
    expect([isRouteFree(terms, 'ethereum', 'bsc'), isRouteFree(terms, 'base', 'bsc'), isRouteFree(terms, 'bsc', 'base')]).toEqual([
      ...[false, true, undefined],
    ])
    expect([feeTerms(terms, 'bsc', token), feeTerms(terms, 'base', token)]).toEqual([{ minimumFee: '5' }, {}])
    expect(isAssetDelivered(terms, token)).toBeUndefined()
  })

  test('names a chain that the config does not have, and concerns its chains', () => {
    const known = { bridges: [], lanes: [], nodes: { bsc: [] } }
    const unknown = order({ kind: 'route', source: 'ethereum', target: 'bsc' }, { free: true })
    expect(() => assertKnownNames([unknown], known, noSettings)).toThrow('orders[0].scope.sourceChain: there is no chain ethereum')
    const fee = order({ kind: 'fee', chain: 'base', token }, { price: '1' })
    expect(() => assertKnownNames([fee], known, noSettings)).toThrow('orders[0].scope.chain: there is no chain base')
    expect(aboutSettings([unknown, fee])).toEqual({ chains: ['ethereum', 'bsc', 'base'] })
    expect(aboutSettings([order({ kind: 'asset', token }, { delivered: true })])).toEqual({})
  })

  test('a checkpoint keeps them, an older one has none, and only a declined token is a restriction', () => {
    const settings = after(
      noSettings,
      order({ kind: 'asset', token }, { delivered: false }),
      order({ kind: 'route', target: 'bsc' }, { free: true }),
    )
    const kept = fromSettingsCheckpoint({ version: 1, namespace: 'n', at: 1, settings }, 'n')
    expect(kept.settings.terms).toEqual(settings.terms)
    const { terms: _, ...older } = settings
    expect(fromSettingsCheckpoint({ version: 1, namespace: 'n', at: 1, settings: older }, 'n').settings.terms).toEqual([])
    expect(missingRestrictions(settings, noSettings, 1).flatMap(({ orders }) => orders)).toEqual([
      order({ kind: 'asset', token }, { delivered: false }),
    ])
  })
})

describe('the token bridge under terms of operators', () => {
  const decline = { kind: 'declined' } as const
  test.each<[string, [TermScope, Terms][], object, bigint | undefined]>([
    ['those of the config', [], { ...decline, code: 'FEE_TOO_LOW' }, 10n],
    ['a lower minimum', [[{ kind: 'fee', chain: 'bsc', token }, { minimumFee: '5' }]], { kind: 'valid' }, 10n],
    ['another price', [[{ kind: 'fee', chain: 'bsc', token }, { price: '7' }]], { ...decline, code: 'FEE_TOO_LOW' }, 35n],
    ['a free route, for tokens without a minimum only', [[{ kind: 'route', target: 'bsc' }, { free: true }]], { code: 'FEE_TOO_LOW' }, 10n],
    ['a token that is declined', [[{ kind: 'asset', token }, { delivered: false }]], { ...decline, code: 'ASSET_UNSUPPORTED' }, 10n],
  ])('%s', async (_, rules, verdict, earned) => {
    const terms = () => rules.map(([scope, own]) => ({ scope, terms: own }))
    const bsc = { minimumFees: { [token]: '6' }, prices: { [token]: '2' } }
    const names = new Map([[2, 'bsc']])
    const { product, messages, decode } = tokenBridgeMessages(names, { bsc }, { terms })
    const emitter = 'ee'.repeat(32)
    const chain = { name: 'bsc', call: async () => `0x${emitter}`, ...noLogs }
    const endpoint = createPluginEndpoint(product, messages, { chain, clock: () => 0, chainNames: names, verify: async () => {} })
    const payload = transferPayload({ token: word.toLowerCase(), tokenChain: 4, toChain: 2, fee: 5n })
    const transfer = decode(signVaa({ emitterChain: 4, emitter, payload }).bytes)
    expect(await endpoint.validate(transfer)).toMatchObject(verdict)
    expect(endpoint.delivery(transfer).earned).toBe(earned)
  })

  test('a free route serves a token without a minimum, which the config declines', async () => {
    let terms: readonly { scope: TermScope; terms: Terms }[] = []
    const { product } = tokenBridgeMessages(new Map([[2, 'bsc']]), {}, { terms: () => terms })
    const content = { kind: 1, originToken: token, fee: 0n, recipient: '', target: { name: 'bsc' } }
    const admit = () => product.admit?.({ source: 'ethereum', content } as never)
    expect(admit).toThrow('No fee is configured')
    terms = [{ scope: { kind: 'route', source: 'ethereum', target: 'bsc' }, terms: { free: true } }]
    expect(admit).not.toThrow()
  })
})
