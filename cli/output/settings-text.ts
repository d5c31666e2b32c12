import type { FeePolicy } from '../../domain/fees/policy.ts'
import type { NodeChange, Settings, SettingsChange, SettingsOrder } from '../../domain/settings/settings.ts'
import { feeScopeText, haltScopeText } from '../../operations/orders/scope-text.ts'
import { limitText } from '../arguments/fee-scope.ts'
import { type Part, section, table, type Text } from './output.ts'

const since = (at: number) => new Date(at).toISOString()

export function settingsText({ version, halts, denied, fees, nodes }: Settings): Text {
  const parts: Part[] = [
    section(halts, ['halted', 'by', 'since', 'reason'], ({ scope, by, at, reason }) => [haltScopeText(scope), by, since(at), reason]),
    section(denied, ['denied', 'by', 'since', 'reason'], ({ kind, value, by, at, reason }) => [`${kind} ${value}`, by, since(at), reason]),
    section(fees, ['fees of', 'policy'], ({ scope, policy }) => [feeScopeText(scope), policyText(policy)]),
    section(nodes, ['node', 'change'], ({ chain, name, ...rest }) => [`${chain}/${name}`, nodeText(rest)]),
  ].flat()
  return [`version ${version}`, ...(parts.length > 0 ? parts : ['Nothing is halted, denied or changed.'])]
}

export function auditText(audit: readonly SettingsChange[]): Text {
  if (audit.length === 0) return 'Nothing was ever changed.'
  const rows = audit.toReversed().map(({ version, at, by, order: one, reason }) => [version, since(at), by, orderText(one), reason])
  return table(['version', 'when', 'by', 'what', 'reason'], rows)
}

function orderText(one: SettingsOrder): string {
  switch (one.kind) {
    case 'halt':
    case 'unhalt':
      return `${one.kind} ${haltScopeText(one.scope)}`
    case 'deny':
    case 'allow':
      return `${one.kind} ${one.what} ${one.value}`
    case 'setFees':
      return `fees of ${feeScopeText(one.scope)}: ${policyText(one.policy)}`
    case 'setNode':
      return `node ${one.change.chain}/${one.change.name}: ${nodeText(one.change)}`
    case 'clearNode':
      return `node ${one.chain}/${one.name}: change taken back`
    case 'addToken':
      return `token ${one.token.jti} made for ${one.token.name}, level ${one.token.level}`
    case 'revokeToken':
      return `token ${one.jti} revoked`
  }
}

function policyText(policy: FeePolicy): string {
  return (Object.keys(policy) as (keyof FeePolicy)[]).map((name) => `${name} ${limitText(name, policy[name])}`).join(', ') || 'none'
}

function nodeText({ disabled, url, use }: Pick<NodeChange, 'disabled' | 'url' | 'use'>): string {
  return [disabled ? 'disabled' : 'enabled', url, use].filter(Boolean).join(' ')
}
