import { expect, test } from 'vitest'
import { z } from 'zod'
import { noSettings } from '../../../domain/settings/settings.ts'
import { settingsAuditSchema, settingsSchema } from '../../../operations/orders/settings.ts'

test('an answer with a fee policy can be written, and has its amounts in wei', () => {
  const policy = { maxTip: '5000000000', baseFeeCeiling: '1' }
  const { version, halts, denied, nodes, tariff } = noSettings
  const settings = { version, halts, denied, nodes, tariff, fees: [{ scope: { kind: 'global' as const }, policy }] }
  expect(z.encode(settingsSchema, settings)).toEqual(settings)
  const order = { kind: 'setFees' as const, scope: { kind: 'global' as const }, policy }
  const audit = { version: 1, audit: [{ version: 1, by: 'dora', reason: 'a test', at: 1, order }] }
  expect(z.encode(settingsAuditSchema, audit)).toEqual(audit)
})
