import { RelayerError } from '../catalogue/errors.ts'
import { type ChainName, numberOfUnconfigured } from '../transfer/transfer.ts'
import { applySettingsOrders, type Settings, type SettingsOrder, type HaltScope } from './settings.ts'

export interface KnownNames {
  readonly bridges: readonly string[]
  readonly nodes: Readonly<Record<string, readonly string[]>>
  /** Nodes of each chain that serve reads. More than half of them are a majority. */
  readonly voters?: Readonly<Record<string, readonly string[]>>
  readonly wormholeChainIds?: Readonly<Record<string, number>>
  readonly networkIds?: readonly number[]
  readonly lanes: readonly string[]
  /** True for imported settings and checkpoints, which may revoke tokens that the settings do not list. */
  readonly unlistedTokens?: true
}

/** A name that the config lacks, or that an order may not have. */
interface NameProblem {
  readonly path: string
  readonly why: string
  readonly hint?: string
}

/** Throws INPUT_INVALID for the first problem. */
export function assertKnownNames(orders: readonly SettingsOrder[], known: KnownNames, settings: Settings): void {
  for (const { path, why, hint } of nameProblems(orders, known, settings))
    throw new RelayerError('INPUT_INVALID', { detail: `${path}: ${why}${hint === undefined ? '' : `; ${hint}`}` })
}

/**
 * Yields the names in the orders that the config does not know. An order that removes a row is not checked, because the
 * row may be older than the config.
 */
export function* nameProblems(orders: readonly SettingsOrder[], known: KnownNames, settings: Settings): Generator<NameProblem> {
  if (!known.unlistedTokens) yield* ofTokens(orders, settings)
  const revoked = new Set(orders.map((order) => order.kind === 'revokeToken' && order.jti))
  for (const [index, order] of orders.entries()) {
    // A token that is listed only to be revoked may name chains and lanes that the config no longer has.
    if (order.kind === 'addToken' && revoked.has(order.token.jti)) continue
    const author = { by: 'x', reason: 'x', orders: [order] }
    if (!removes(order) || applySettingsOrders(settings, author, 0) === settings) yield* ofOrder(order, `orders[${index}]`, known, settings)
  }
}

function removes(order: SettingsOrder): boolean {
  if (order.kind === 'setFees') return Object.keys(order.policy).length === 0
  if (order.kind === 'setTariff') return Object.keys(order.tariff).length === 0
  return order.kind === 'unhalt' || order.kind === 'allow' || order.kind === 'clearNode'
}

/** Only listed tokens may be revoked: made-up ids would fill the list and stay in it for a year. */
function* ofTokens(orders: readonly SettingsOrder[], { tokens }: Settings): Generator<NameProblem> {
  const listed = new Set(tokens.map(({ jti }) => jti))
  for (const [index, order] of orders.entries()) {
    if (order.kind === 'addToken') listed.add(order.token.jti)
    if (order.kind !== 'revokeToken' || listed.has(order.jti)) continue
    const remedy =
      'Give the token itself (portage token revoke --stolen <file>), or replace the key that signed it (portage token rotate-key, remove-key)'
    yield { path: `orders[${index}].jti`, why: `no token with this id is listed. ${remedy}` }
  }
}

function* ofOrder(order: SettingsOrder, path: string, known: KnownNames, settings: Settings): Generator<NameProblem> {
  const chains = Object.keys(known.nodes)
  switch (order.kind) {
    case 'halt':
    case 'unhalt':
      return yield* ofScope(order.scope, `${path}.scope`, known)
    case 'deny':
    case 'allow':
      return yield* ofDenied(order, `${path}.value`, known)
    case 'setFees':
      if (order.scope.kind === 'lane') yield* one(order.scope.lane.toLowerCase(), known.lanes, 'lane', `${path}.scope.lane`)
      if ('chain' in order.scope) yield* one(order.scope.chain, chains, 'chain', `${path}.scope.chain`)
      return
    case 'setTariff': {
      const { scope } = order
      if (scope.kind === 'fee') return yield* one(scope.chain, chains, 'chain', `${path}.scope.chain`)
      if (scope.kind === 'route') yield* ofScope({ sourceChain: scope.source, targetChain: scope.target }, `${path}.scope`, known)
      return
    }
    case 'setNode':
      return yield* ofNode(order.change, `${path}.change`, known)
    case 'addToken':
      for (const chain of order.token.chains ?? []) yield* one(chain, chains, 'chain', `${path}.token.chains`)
      for (const lane of order.token.lanes ?? []) yield* one(lane, known.lanes, 'lane', `${path}.token.lanes`)
      return
    case 'revokeToken':
      return
    case 'clearNode': {
      const added = settings.nodes.filter(({ chain }) => chain === order.chain).map(({ name }) => name)
      yield* one(order.chain, chains, 'chain', `${path}.chain`)
      return yield* one(order.name, [...new Set([...(known.nodes[order.chain] ?? []), ...added])], `node of ${order.chain}`, `${path}.name`)
    }
  }
}

function* ofDenied(
  { what, value }: Extract<SettingsOrder, { what: string }>,
  path: string,
  { nodes, networkIds }: KnownNames,
): Generator<NameProblem> {
  const [chain, address] = value.split('/')
  // Wormhole's chain ids end at 65,535. Native bridges use the network ids of the config.
  if (what === 'token' && Number(chain) > 65_535 && networkIds && !networkIds.includes(Number(chain)))
    yield { path, why: `no bridge has a chain ${chain}` }
  if (what === 'recipient' && address !== undefined) yield* one(chain, Object.keys(nodes), 'chain', path)
}

type NodeChange = Extract<SettingsOrder, { kind: 'setNode' }>['change']

function* ofNode({ chain, name, url }: NodeChange, path: string, { nodes }: KnownNames): Generator<NameProblem> {
  yield* one(chain, Object.keys(nodes), 'chain', `${path}.chain`)
  const configured = nodes[chain] ?? []
  if (url === undefined) return yield* one(name, configured, `node of ${chain}`, `${path}.name`)
  if (configured.includes(name))
    yield { path: `${path}.name`, why: `${chain} has a node ${name} in the config`, hint: 'give the new node another name' }
}

function* ofScope({ bridge, chain, sourceChain, targetChain }: HaltScope, path: string, known: KnownNames): Generator<NameProblem> {
  const { bridges, nodes, wormholeChainIds = {} } = known
  const chains = Object.keys(nodes)
  if (bridge !== undefined) yield* one(bridge, bridges, 'bridge', `${path}.bridge`)
  if (targetChain !== undefined) yield* one(targetChain, chains, 'chain', `${path}.targetChain`)
  for (const [field, name] of Object.entries({ chain, sourceChain })) {
    if (name === undefined) continue
    const number = numberOfUnconfigured(name)
    if (number === undefined || Number(number) > 65_535) yield* one(name, chains, 'chain', `${path}.${field}`)
    const [configured] = Object.entries(wormholeChainIds).find(([, id]) => String(id) === number) ?? []
    if (configured !== undefined)
      yield { path: `${path}.${field}`, why: `Wormhole's chain ${number} is called ${configured} in the config` }
  }
  if (chain !== undefined && sourceChain !== undefined && targetChain !== undefined && chain !== sourceChain && chain !== targetChain)
    yield { path: `${path}.chain`, why: `no transfer from ${sourceChain} to ${targetChain} concerns ${chain}` }
}

function* one(name: string | undefined, known: readonly string[], what: string, path: string): Generator<NameProblem> {
  if (name === undefined || !known.includes(name))
    yield { path, why: `there is no ${what} ${name}`, hint: `there are: ${known.join(', ') || 'none'}` }
}

export function majorityWarnings(
  orders: readonly SettingsOrder[],
  { nodes }: Pick<Settings, 'nodes'>,
  voters: Readonly<Record<ChainName, readonly string[]>>,
): string[] {
  const touched = orders.flatMap((order) => (order.kind === 'setNode' && order.change.disabled ? [order.change] : []))
  const chains = new Set(touched.flatMap(({ chain, name }) => (voters[chain]?.includes(name) ? [chain] : [])))
  return [...chains].flatMap((chain) => {
    const all = voters[chain] ?? []
    const disabled = new Set(nodes.filter((one) => one.chain === chain && one.disabled).map(({ name }) => name))
    const left = all.filter((name) => !disabled.has(name)).length
    const needed = Math.floor(all.length / 2) + 1
    if (left >= needed) return []
    if (left === 0)
      return [
        `${chain} has no enabled node in the config for reads: nothing is read from the chain or delivered to it until one is enabled`,
      ]
    const have = `${left} of the ${all.length} nodes of ${chain} that read ${left === 1 ? 'is' : 'are'} enabled, and a majority is ${needed}`
    return [
      `${have}: nothing becomes final there, and every verdict waits, until more are enabled; only a change of the config lowers the majority`,
    ]
  })
}
