import { configRules } from '../config/chains.ts'
import type { Config } from '../config/schema.ts'
import { type FeePolicyResolver, resolveFees } from '../domain/fees/policy.ts'
import type { Settings } from '../domain/settings/settings.ts'

/** Resolves fee limits from the config and from the settings as they are now. */
export function createFeePolicyResolver(config: Config, settings: () => Settings): FeePolicyResolver {
  const ground = configRules(config)
  return (about) => resolveFees([...ground, ...settings().fees], about)
}
