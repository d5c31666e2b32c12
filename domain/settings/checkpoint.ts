import { type Check, fields, listOf, optional, rule, time, whole } from '../field-checks.ts'
import { assertSettingsFit, assertSettingsOrders, row } from './request.ts'
import { applySettingsOrders, type SettingsOrders, type Halt, noSettings, type Settings, type SettingsChange } from './settings.ts'

/** A copy outside Temporal, so that halts, the deny-list and all other settings survive a loss of Temporal. */
export interface SettingsCheckpoint {
  readonly version: 1
  readonly namespace: string
  readonly at: number
  /** `audit` has only the last change. */
  readonly settings: Settings
}

export interface KeptSettings extends Pick<SettingsCheckpoint, 'settings' | 'at'> {
  /** Number of rows that are not valid orders, or for which the settings have no room. */
  readonly refused: number
}

const list = listOf(row, 2_000)

/**
 * Reads the settings of a checkpoint. A checkpoint may be forged, so each row is checked like an order. Throws an Error
 * that names a malformed field.
 */
export function fromSettingsCheckpoint(value: unknown, namespace: string): KeptSettings {
  fields({
    version: rule((version) => version === 1, '1'),
    namespace: rule((name) => name === namespace, 'the namespace of this Temporal'),
    at: time,
    settings: fields({
      version: whole,
      halts: list,
      denied: list,
      fees: list,
      nodes: list,
      tariff: optional(list),
      tokens: list,
      audit: optional(list),
    }),
  } satisfies Record<keyof SettingsCheckpoint, Check>)(value, '')
  const { at, settings: found } = value as SettingsCheckpoint
  // A checkpoint of an older version lacks `tariff` and the last change.
  const settings = { ...noSettings, ...found }
  let [kept, refused] = [noSettings, 0]
  for (const given of ordersOf(settings, at)) {
    try {
      time(given.at, 'at')
      assertSettingsOrders(given)
      const next = applySettingsOrders(kept, given, given.at)
      assertSettingsFit(next)
      kept = next
    } catch {
      refused += 1
    }
  }
  // The version stays as high as before the wipe, so that processes that still know these settings see no change.
  const version = Math.max(kept.version, settings.version)
  return { settings: { ...kept, version, audit: [...kept.audit, ...settings.audit.slice(-1).filter(isChange)] }, at, refused }
}

function isChange({ by, reason, at, order }: SettingsChange): boolean {
  try {
    time(at, 'at')
    assertSettingsOrders({ by, reason, orders: [order] })
    return true
  } catch {
    return false
  }
}

/**
 * Positive if `one` was changed later than `other`. Negative if it was changed earlier. The version numbers decide if
 * the audit of one contains the other's last change, because Temporal's clock may have been wrong. Otherwise the times
 * decide first: after a set-back of Temporal, the later settings may have the lower version number.
 */
export function compareAge(one: Settings, other: Settings): number {
  const changedAt = ({ audit }: Settings) => audit.at(-1)?.at ?? 0
  const byTime = follows(one, other) || follows(other, one) ? 0 : changedAt(one) - changedAt(other)
  return byTime || one.version - other.version
}

function follows({ version, audit }: Settings, other: Settings): boolean {
  const last = other.audit.at(-1)
  const isLast = (one: SettingsChange) =>
    one.version === last?.version && one.at === last.at && one.by === last.by && one.reason === last.reason
  return version >= other.version && audit.some(isLast)
}

/** @param at time for rows that record no time */
export function ordersOf(
  { halts, denied, fees, nodes, tariff, tokens }: Settings,
  at: number,
): (SettingsOrders & { readonly at: number })[] {
  const ours = { by: 'portage', reason: 'from a checkpoint', at }
  const listed = tokens.filter(({ issuedAt }) => issuedAt !== undefined)
  return [
    ...halts.map((one) => ({ ...givenBy(one), orders: [{ kind: 'halt' as const, scope: one.scope }] })),
    ...denied.map((one) => ({ ...givenBy(one), orders: [{ kind: 'deny' as const, what: one.kind, value: one.value }] })),
    ...fees.map((one) => ({ ...ours, orders: [{ kind: 'setFees' as const, scope: one.scope, policy: one.policy }] })),
    ...tariff.map((one) => ({ ...ours, orders: [{ kind: 'setTariff' as const, ...one }] })),
    ...nodes.map((change) => ({ ...ours, orders: [{ kind: 'setNode' as const, change }] })),
    ...listed.map(({ revoked: _, ...token }) => ({ ...ours, orders: [{ kind: 'addToken' as const, token: token as never }] })),
    ...tokens.flatMap((one) =>
      one.revoked ? [{ ...givenBy(one.revoked), orders: [{ kind: 'revokeToken' as const, jti: one.jti }] }] : [],
    ),
  ]
}

export function missingRestrictions(kept: Settings, settings: Settings, at: number): readonly SettingsOrders[] {
  const tariff = kept.tariff.filter(({ tariff: { delivered } }) => delivered === false)
  const restricting = { ...kept, fees: [], nodes: [], tariff, tokens: kept.tokens.filter(({ revoked }) => revoked) }
  return ordersOf(restricting, at).filter((given) => applySettingsOrders(settings, given, at) !== settings)
}

const givenBy = ({ by, reason, at }: Pick<Halt, 'by' | 'reason' | 'at'>) => ({ by, reason, at })
