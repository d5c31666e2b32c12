import type { Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { FeeScope } from '../domain/fees/policy.ts'
import { laneId } from '../domain/lane/lane-id.ts'
import { changeSettings } from '../domain/settings/reducer.ts'
import type { HaltScope, Settings, SettingsOrder } from '../domain/settings/settings.ts'

/** What an order may name: what the config has. */
export interface KnownNames {
  readonly bridges: readonly string[]
  /** Chain → its nodes by name. */
  readonly nodes: Readonly<Record<string, readonly string[]>>
  readonly lanes: readonly string[]
}

export function namesOf({ bridges, chains }: Config): KnownNames {
  return {
    bridges: Object.keys(bridges),
    nodes: Object.fromEntries(
      Object.entries(chains).map(([name, { nodes }]) => [name, nodes.map((node, index) => node.name ?? `node-${index + 1}`)]),
    ),
    lanes: Object.values(chains).flatMap(({ family, networkId, lanes }) => lanes.map(({ address }) => laneId(family, networkId, address))),
  }
}

/** A source that no config names is called so (bridges/wormhole-token-bridge/message.ts): it may be halted as well. */
const unconfiguredSource = /^wormhole-[0-9]{1,5}$/

/**
 * A name that is misspelt must not look like an order that is obeyed. What takes a row away that is there is always right: its chain may
 * have left the config. Throws INPUT_INVALID with the field and what exists.
 */
export function assertKnownNames(orders: readonly SettingsOrder[], known: KnownNames, settings: Settings): void {
  for (const [index, order] of orders.entries()) {
    const removes = order.kind === 'unhalt' || order.kind === 'allow' || order.kind === 'clearNode'
    const author = { by: 'x', reason: 'x', orders: [order] }
    if (!removes || changeSettings(settings, author, 0) === settings) assertOrder(order, `orders[${index}]`, known, settings)
  }
}

function assertOrder(order: SettingsOrder, path: string, known: KnownNames, settings: Settings): void {
  const chains = Object.keys(known.nodes)
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return assertScope(order.scope, `${path}.scope`, known)
    case 'deny':
    case 'allow': {
      const [chain, address] = order.value.split('/')
      if (order.what === 'recipient' && address !== undefined) one(chain, chains, 'chain', `${path}.value`)
      return
    }
    case 'setFees':
      return assertFeeScope(order.scope, `${path}.scope`, known)
    case 'setNode': {
      const { chain, name, url } = order.change
      one(chain, chains, 'chain', `${path}.change.chain`)
      const configured = known.nodes[chain] ?? []
      if (url === undefined) return one(name, configured, `node of ${chain}`, `${path}.change.name`)
      if (configured.includes(name)) fail(`${path}.change.name: ${chain} has a node ${name} in the config; call the new one something else`)
      return
    }
    case 'clearNode': {
      const added = settings.nodes.filter(({ chain }) => chain === order.chain).map(({ name }) => name)
      one(order.chain, chains, 'chain', `${path}.chain`)
      return one(order.name, [...new Set([...(known.nodes[order.chain] ?? []), ...added])], `node of ${order.chain}`, `${path}.name`)
    }
  }
}

function assertScope({ bridge, chain, sourceChain, targetChain }: HaltScope, path: string, { bridges, nodes }: KnownNames): void {
  const chains = Object.keys(nodes)
  if (bridge !== undefined) one(bridge, bridges, 'bridge', `${path}.bridge`)
  if (targetChain !== undefined) one(targetChain, chains, 'chain', `${path}.targetChain`)
  for (const [field, name] of Object.entries({ chain, sourceChain })) {
    if (name !== undefined && !unconfiguredSource.test(name)) one(name, chains, 'chain', `${path}.${field}`)
  }
}

function assertFeeScope(scope: FeeScope, path: string, { nodes, lanes }: KnownNames): void {
  if (scope.kind === 'lane') one(scope.lane.toLowerCase(), lanes, 'lane', `${path}.lane`)
  if (scope.kind === 'chain' || scope.kind === 'call') one(scope.chain, Object.keys(nodes), 'chain', `${path}.chain`)
}

function one(name: string | undefined, known: readonly string[], what: string, path: string): void {
  if (name === undefined || !known.includes(name)) fail(`${path}: there is no ${what} ${name}; there are: ${known.join(', ') || 'none'}`)
}

function fail(detail: string): never {
  throw new RelayerError('INPUT_INVALID', { detail })
}
