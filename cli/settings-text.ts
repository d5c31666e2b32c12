import type { FeePolicy } from '../domain/fees/policy.ts'
import type { HaltScope, NodeChange, Settings, SettingsChange, SettingsOrder } from '../domain/settings/settings.ts'
import { feeScopeText, limitText } from './fee-scope.ts'
import { table } from './output.ts'

/** The scope of a halt: `everything`, or its bridge and chains. */
export function scopeText({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  const parts = [
    bridge && `bridge ${bridge}`,
    chain && `chain ${chain}`,
    sourceChain && `from ${sourceChain}`,
    targetChain && `to ${targetChain}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

const since = (at: number) => new Date(at).toISOString()

/** What is halted, denied and changed. */
export function settingsText({ version, halts, denied, fees, nodes }: Settings): string {
  const parts = [
    halts.length > 0 &&
      table(
        ['halted', 'by', 'since', 'reason'],
        halts.map(({ scope, by, at, reason }) => [scopeText(scope), by, since(at), reason]),
      ),
    denied.length > 0 &&
      table(
        ['denied', 'by', 'since', 'reason'],
        denied.map(({ kind, value, by, at, reason }) => [`${kind} ${value}`, by, since(at), reason]),
      ),
    fees.length > 0 &&
      table(
        ['fees of', 'policy'],
        fees.map(({ scope, policy }) => [feeScopeText(scope), policyText(policy)]),
      ),
    nodes.length > 0 &&
      table(
        ['node', 'change'],
        nodes.map(({ chain, name, ...rest }) => [`${chain}/${name}`, nodeText(rest)]),
      ),
  ].filter(Boolean)
  return [`version ${version}`, ...(parts.length > 0 ? parts : ['Nothing is halted, denied or changed.'])].join('\n\n')
}

/** The changes, newest first. */
export function auditText(audit: readonly SettingsChange[]): string {
  if (audit.length === 0) return 'Nothing was ever changed.'
  const rows = audit.toReversed().map(({ version, at, by, order: one, reason }) => [version, since(at), by, orderText(one), reason])
  return table(['version', 'when', 'by', 'what', 'reason'], rows)
}

function orderText(one: SettingsOrder): string {
  switch (one.kind) {
    case 'halt':
    case 'unhalt':
      return `${one.kind} ${scopeText(one.scope)}`
    case 'deny':
    case 'allow':
      return `${one.kind} ${one.what} ${one.value}`
    case 'setFees':
      return `fees of ${feeScopeText(one.scope)}: ${policyText(one.policy)}`
    case 'setNode':
      return `node ${one.change.chain}/${one.change.name}: ${nodeText(one.change)}`
    case 'clearNode':
      return `node ${one.chain}/${one.name}: change taken back`
  }
}

function policyText(policy: FeePolicy): string {
  return (Object.keys(policy) as (keyof FeePolicy)[]).map((name) => `${name}=${limitText(name, policy[name])}`).join(' ') || 'none'
}

function nodeText({ disabled, url, use }: Pick<NodeChange, 'disabled' | 'url' | 'use'>): string {
  return [disabled ? 'disabled' : 'enabled', url, use].filter(Boolean).join(' ')
}
