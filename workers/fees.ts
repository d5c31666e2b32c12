import { configRules } from '../config/chains.ts'
import type { Config } from '../config/schema.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import { resolveFees } from '../domain/fees/policy.ts'
import type { Settings } from '../domain/settings/settings.ts'

/** Answers by the config and by what operators changed since: the next transaction and the next raise go by it, without a restart. */
export function createFeePolicyResolver(config: Config, settings: () => Settings): FeePolicyResolver {
  const ground = configRules(config)
  return (about) => resolveFees([...ground, ...settings().fees], about)
}
