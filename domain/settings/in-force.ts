import { defined } from '../defined.ts'
import { type ChainName, numberOfUnconfigured } from '../transfer/transfer.ts'
import { ordersOf } from './checkpoint.ts'
import { type KnownNames, nameProblems } from './known-names.ts'
import type { DenyRule, Halt, Settings, SettingsOrder } from './settings.ts'

/**
 * The settings as a process with this config applies them. A config may rename a chain, or give a node to a source that
 * had none. A halt whose chain or bridge is not in the config applies to every chain or bridge, and a denial whose
 * chain is not in the config applies to every chain.
 */
export function inForce(settings: Settings, known: KnownNames): Settings {
  const denied = settings.denied.map((rule) => deniedNow(rule, known))
  const [certain, waiting] = [denied.filter(({ waits }) => !waits), denied.filter(({ waits }) => waits)]
  return { ...settings, halts: settings.halts.map((halt) => haltNow(halt, known)), denied: [...certain, ...waiting] }
}

/** Orders in force with a name that the config lacks. Tokens are left out, because an unknown name gives no access. */
export function unfitting(settings: Settings, known: KnownNames): { readonly order: SettingsOrder; readonly why: string }[] {
  const orders = ordersOf({ ...settings, tokens: [] }, 0).flatMap((given) => given.orders)
  return orders.flatMap((order) => [...nameProblems([order], known, settings)].slice(0, 1).map(({ why }) => ({ order, why })))
}

function haltNow(halt: Halt, known: KnownNames): Halt {
  const { bridge, ...chains } = halt.scope
  const lacking = bridge === undefined || known.bridges.includes(bridge) ? [] : [`the bridge ${bridge}`]
  const scope: Record<string, string | undefined> = { bridge: lacking.length > 0 ? undefined : bridge }
  for (const [field, name] of Object.entries(defined(chains))) {
    scope[field] = chainNow(name, known)
    if (scope[field] === undefined) lacking.push(`the chain ${name}`)
  }
  return { ...halt, scope: defined(scope), reason: reasonOf('halt', halt, lacking) }
}

function deniedNow(rule: DenyRule, known: KnownNames): DenyRule {
  const [chain = '', address] = rule.value.split('/')
  if (rule.kind === 'token' || address === undefined || chainNow(chain, known) === chain) return rule
  return { ...rule, value: address, reason: reasonOf('denial', rule, [`the chain ${chain}`]), waits: true }
}

/**
 * The chain's name in the config. Undefined if the config lacks the chain, or has it under a name that cannot be found.
 */
function chainNow(name: ChainName, { nodes, wormholeChainIds = {} }: KnownNames): ChainName | undefined {
  const number = numberOfUnconfigured(name)
  if (number === undefined) return Object.hasOwn(nodes, name) ? name : undefined
  return Object.keys(wormholeChainIds).find((chain) => String(wormholeChainIds[chain]) === number) ?? name
}

function reasonOf(what: string, { reason }: Pick<Halt, 'reason'>, lacking: readonly string[]): string {
  if (lacking.length === 0) return reason
  return `${reason} (the ${what} holds for more than was ordered, because the config of this process lacks ${lacking.join(' and ')})`
}
