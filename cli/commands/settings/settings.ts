import { text } from 'node:stream/consumers'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import type { IssuedToken, NodeChange, Settings, SettingsChange, SettingsOrder } from '../../../domain/settings/settings.ts'
import type { Call, CommandSpec } from '../../command.ts'
import type { CliContext } from '../../context.ts'
import { textOfFile, withReason } from '../../arguments/options.ts'
import { withoutAudit } from '../../../operations/orders/settings.ts'
import { giveOrder, type OrderOptions, orderText } from '../../orders.ts'
import { list, type Part, section, type Text, verbatim } from '../../output/output.ts'
import { limitText } from './fees.ts'
import type { FeePolicy } from '../../../domain/fees/fees.ts'
import { feeScopeText, haltScopeText, orderName, tariffScopeText, tariffText } from '../../../operations/orders/scope-text.ts'
import { invalid } from '../../../operations/orders/spec.ts'

export const settingsCommand: CommandSpec = {
  description:
    'Everything that operators have changed while Portage runs: halts, deny-list, fees, tariff, nodes. Portage keeps these settings in Temporal.',
  options: (command) => command.option('--audit', 'the newest 200 changes, with name, time and reason'),
  examples: ['portage settings', 'portage settings --audit --json'],
  commands: {
    export: {
      description: 'Print the settings as orders (JSON). After a wipe of Temporal, portage settings import restores them.',
      examples: ['portage settings export > settings.json'],
      run: async ({ withTemporal }) => {
        const settings = await withTemporal((client) => readSettings(client))
        const json = { version: settings.version, orders: toOrders(settings) }
        return { json, text: verbatim(JSON.stringify(json, null, 2)) }
      },
    },
    import: {
      ...orderText('settings import'),
      options: (command) => withReason(command).argument('<file>', 'the file; - reads it from stdin'),
      run: async (call: Call<OrderOptions>, file: string) => {
        const given = await readOrders(call.context, file)
        if (given.length === 0) throw invalid('The file holds no orders.')
        return giveOrder(call, 'settings import', '', { orders: given }, undefined, { unlistedTokens: true })
      },
    },
  },
  run: async ({ withTemporal, options }: Call<{ audit?: true }>) => {
    const settings = await withTemporal((client) => readSettings(client))
    if (!options.audit) return { json: withoutAudit(settings), text: settingsText(settings) }
    return { json: { version: settings.version, audit: settings.audit.toReversed() }, text: auditText(settings.audit) }
  },
}

function toOrders({ halts, denied, fees, nodes, tariff, tokens }: Settings): SettingsOrder[] {
  return [
    ...halts.map(({ scope }): SettingsOrder => ({ kind: 'halt', scope })),
    ...denied.map(({ kind: what, value }): SettingsOrder => ({ kind: 'deny', what, value })),
    ...fees.map((rule): SettingsOrder => ({ kind: 'setFees', ...rule })),
    ...tariff.map((rule): SettingsOrder => ({ kind: 'setTariff', ...rule })),
    ...nodes.map((change): SettingsOrder => ({ kind: 'setNode', change })),
    ...tokens.flatMap(tokenOrders),
  ]
}

/** Returns orders that list a token and, if it was revoked, revoke it, so that a new Temporal refuses it as well. */
function tokenOrders({ revoked, ...token }: IssuedToken): SettingsOrder[] {
  const { name, level, kid, issuedAt, expiresAt, jti } = token
  const isListed = name !== undefined && level !== undefined && kid !== undefined && issuedAt !== undefined && expiresAt !== undefined
  return [
    ...(isListed ? [{ kind: 'addToken' as const, token: { ...token, name, level, kid, issuedAt, expiresAt } }] : []),
    ...(revoked ? [{ kind: 'revokeToken' as const, jti }] : []),
  ]
}

/** Checks only that the file contains a list, because the settings workflow checks the orders. Throws INPUT_INVALID. */
async function readOrders(context: CliContext, file: string): Promise<SettingsOrder[]> {
  const problem = 'The file cannot be read as JSON.'
  const json = await (file === '-' ? text(context.stdin) : textOfFile(context, file, problem))
  try {
    const { orders: found } = JSON.parse(json) as { orders?: unknown }
    if (Array.isArray(found)) return found as SettingsOrder[]
  } catch (cause) {
    throw invalid(problem, { file }, cause)
  }
  throw invalid('orders: must be a list', { file })
}

const since = (at: number) => new Date(at).toISOString()

function settingsText({ version, halts, denied, fees, nodes, tariff }: Settings): Text {
  const parts: Part[] = [
    section(halts, ({ scope, by, at, reason }) => ({ halted: haltScopeText(scope), by, since: since(at), reason })),
    section(denied, ({ kind, value, by, at, reason }) => ({ denied: `${kind} ${value}`, by, since: since(at), reason })),
    section(fees, ({ scope, policy }) => ({ 'fees of': feeScopeText(scope), policy: policyText(policy) })),
    section(tariff, ({ scope, tariff: own }) => ({ 'tariff of': tariffScopeText(scope), tariff: tariffText(own) })),
    section(nodes, ({ chain, name, ...rest }) => ({ node: `${chain}/${name}`, change: nodeText(rest) })),
  ].flat()
  return [`version ${version}`, ...(parts.length > 0 ? parts : ['Nothing is halted, denied or changed.'])]
}

function auditText(audit: readonly SettingsChange[]): Text {
  const rows = audit
    .toReversed()
    .map(({ version, at, by, order: one, reason }) => ({ version, when: since(at), by, what: changeText(one), reason }))
  return list('Nothing was ever changed.', rows)
}

function changeText(one: SettingsOrder): string {
  const name = orderName(one)
  switch (one.kind) {
    case 'setFees':
      return `${name}: ${policyText(one.policy)}`
    case 'setTariff':
      return `${name}: ${tariffText(one.tariff)}`
    case 'setNode':
      return `${name}: ${nodeText(one.change)}`
    case 'clearNode':
      return `${name}: change undone`
    case 'addToken':
      return `${name} made for ${one.token.name}, level ${one.token.level}`
    case 'revokeToken':
      return `${name} revoked`
    default:
      return name
  }
}

function policyText(policy: FeePolicy): string {
  return (Object.keys(policy) as (keyof FeePolicy)[]).map((name) => `${name} ${limitText(name, policy[name])}`).join(', ') || 'none'
}

function nodeText({ disabled, url, use }: Pick<NodeChange, 'disabled' | 'url' | 'use'>): string {
  return [disabled ? 'disabled' : 'enabled', url, use].filter(Boolean).join(' ')
}
