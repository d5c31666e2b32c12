import type { Config } from '../config/schema.ts'
import type { FeePolicyResolver, FeeRule } from '../domain/fees/policy.ts'
import { resolveFees } from '../domain/fees/policy.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { idOf } from './deps.ts'

/** The fee limits of a config, as rules: of everything, of chains, of contracts and functions, of lanes. */
export function configRules(config: Config): FeeRule[] {
  const rules: FeeRule[] = config.fees ? [{ scope: { kind: 'global' }, policy: config.fees }] : []
  for (const [chain, settings] of Object.entries(config.chains)) {
    if (settings.fees) rules.push({ scope: { kind: 'chain', chain }, policy: settings.fees })
    for (const [contract, calls] of Object.entries(settings.callFees)) {
      for (const [selector, policy] of Object.entries(calls)) {
        const scope = { kind: 'call' as const, chain, contract }
        rules.push({ scope: selector === '*' ? scope : { ...scope, selector }, policy })
      }
    }
    for (const lane of settings.lanes) {
      if (lane.fees) rules.push({ scope: { kind: 'lane', lane: idOf(settings, lane.address) }, policy: lane.fees })
    }
  }
  return rules
}

/** Answers by the config and by what operators changed since: the next transaction and the next raise go by it, without a restart. */
export function createFeePolicyResolver(config: Config, settings: () => Settings): FeePolicyResolver {
  const ground = configRules(config)
  return (about) => resolveFees([...ground, ...settings().fees], about)
}
