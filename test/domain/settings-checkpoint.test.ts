import { describe, expect, test } from 'vitest'
import { compareAge, fromSettingsCheckpoint, missingRestrictions } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'

const address = `0x${'ab'.repeat(20)}`
const token = { name: 'ci', level: 'write', jti: 'a-1', kid: 'k'.repeat(43), issuedAt: 1, expiresAt: 9_000_000_000_000 } as const
const orders: SettingsOrder[] = [
  { kind: 'halt', scope: { chain: 'bsc' } },
  { kind: 'deny', what: 'recipient', value: `bsc/${address}` },
  { kind: 'setFees', scope: { kind: 'chain', chain: 'bsc' }, policy: { maxFeePerGas: '5' } },
  { kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: true } },
  { kind: 'addToken', token },
  { kind: 'revokeToken', jti: 'a-1' },
  { kind: 'revokeToken', jti: 'b-2' },
]
const settings = orders.reduce(
  (now, order, index) => applySettingsOrders(now, { by: `p${index}`, reason: `r${index}`, orders: [order] }, 100 + index),
  noSettings,
)
const checkpoint = (more: object = {}, kept: Settings = settings) => ({
  version: 1,
  namespace: 'default',
  at: 500,
  settings: kept,
  ...more,
})
const read = (value: unknown) => fromSettingsCheckpoint(JSON.parse(JSON.stringify(value)), 'default')

describe('a checkpoint of the settings', () => {
  test('a checkpoint holds every live setting, with author, time and reason', () => {
    const { settings: back, refused, at } = read(checkpoint())
    const { audit: _, ...rows } = back
    expect(rows).toEqual({ ...settings, audit: undefined, version: back.version } satisfies object as never)
    expect([refused, at]).toEqual([0, 500])
    expect(back.version).toBeGreaterThanOrEqual(settings.version)
    expect(back.audit.map(({ by, reason }) => [by, reason])).toContainEqual(['p0', 'r0'])
  })

  test.each<[string, unknown]>([
    ['version', checkpoint({ version: 2 })],
    ['namespace', checkpoint({ namespace: 'another' })],
    ['at', checkpoint({ at: -1 })],
    ['at', checkpoint({ at: Number.MAX_SAFE_INTEGER })],
    ['settings.halts', checkpoint({ settings: { ...settings, halts: 'none' } })],
    ['settings.halts[0]', checkpoint({ settings: { ...settings, halts: [null] } })],
    ['settings.denied', checkpoint({ settings: { version: 1, halts: [] } })],
    ['version', null],
    ['version', []],
  ])('the refusal of an invalid checkpoint names the invalid field: %s', (field, value) => {
    expect(() => read(value)).toThrow(new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}: `))
  })

  test('a checkpoint keeps the last change of the settings, unless no order could have made this change', () => {
    const order = { kind: 'unhalt', scope: { chain: 'bsc' } } as const
    const { audit } = applySettingsOrders(settings, { by: 'me', reason: 'over', orders: [order] }, 900)
    const changed = (...changes: object[]) => read(checkpoint({ settings: { ...settings, audit: changes } })).settings
    expect(changed(audit.at(-1)!).audit.at(-1)).toMatchObject({ at: 900, order })
    for (const wrong of [{ at: -1 }, { by: '' }, { order: { kind: 'unknown' } }])
      expect(changed({ ...audit.at(-1), ...wrong })).toEqual(changed())
    const later = { ...changed(audit.at(-1)!), version: 3 }
    expect(compareAge(later, settings)).toBeGreaterThan(0)
    expect(compareAge(settings, later)).toBeLessThan(0)
    expect(compareAge({ ...later, version: 4 }, later)).toBe(1)
  })

  test('settings that contain the last change of others are later, whatever their clocks were', () => {
    const then = (now: Settings, kind: 'halt' | 'unhalt', at: number, by = 'me') =>
      applySettingsOrders(now, { by, reason: 'x', orders: [{ kind, scope: { chain: 'bsc' } }] }, at)
    const halted = then(noSettings, 'halt', 5_000)
    const ended = then(halted, 'unhalt', 1_000)
    const kept = read(checkpoint({}, halted)).settings
    expect(compareAge(ended, kept)).toBeGreaterThan(0)
    expect(compareAge(kept, ended)).toBeLessThan(0)
    for (const other of [then(noSettings, 'halt', 5_000, 'another'), then(noSettings, 'halt', 5_001)])
      expect(compareAge(ended, other), 'an order of another history').toBeLessThan(0)
  })

  test('a tampered checkpoint holds nothing that nobody could have ordered', () => {
    const given = { by: 'me', reason: 'x', at: 1 }
    const hostile = {
      ...settings,
      halts: [...settings.halts, { scope: { everything: true }, ...given }, { scope: {}, by: '', reason: 'x', at: 1 }],
      denied: [...settings.denied, { kind: 'recipient', value: '0x1', ...given }],
      nodes: [...settings.nodes, { chain: 'bsc', name: 'x', disabled: false, url: 'https://user:password@evil.example' }],
      fees: [...settings.fees, { scope: { kind: 'global' }, policy: { maxTip: -1 } }],
      tokens: [...settings.tokens, { jti: '../../x', revoked: given }],
    }
    const { settings: back, refused } = read(checkpoint({ settings: hostile }))
    expect(refused).toBe(6)
    expect([back.halts, back.denied, back.nodes, back.fees, back.tokens]).toEqual([
      settings.halts,
      settings.denied,
      settings.nodes,
      settings.fees,
      settings.tokens,
    ])
  })

  test('a checkpoint is restored up to its limits, so that later orders are still accepted', () => {
    const halts = Array.from({ length: 2_000 }, (_, index) => ({ scope: { chain: `c-${index}` }, by: 'me', reason: 'x', at: 1 }))
    const { settings: back, refused } = read(checkpoint({ settings: { ...noSettings, halts } }))
    expect([back.halts.length, refused]).toEqual([100, 1_900])
  })

  test('a checkpoint newer than the running settings gives back restrictions, and nothing else', () => {
    const running = applySettingsOrders(noSettings, { by: 'x', reason: 'y', orders: [{ kind: 'halt', scope: { chain: 'bsc' } }] }, 1)
    const missing = missingRestrictions(settings, running, 600)
    expect(missing.flatMap((one) => one.orders.map(({ kind }) => [kind, one.by]))).toEqual([
      ['deny', 'p1'],
      // The added token has the expiry after which the revocation is dropped.
      ['addToken', 'portage'],
      ['revokeToken', 'p5'],
      ['revokeToken', 'p6'],
    ])
    expect(missingRestrictions(settings, settings, 600)).toEqual([])
  })
})
