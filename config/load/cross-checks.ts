import { laneId } from '../../domain/lane/lane.ts'
import { checkCctp } from './cctp-checks.ts'
import { checkCoins } from './coin-checks.ts'
import { anySource, checkEnds, checkSource } from './end-checks.ts'
import { checkExecutor } from './executor-checks.ts'
import { isShownName, pathText, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, listed, map, maps, repeated, unless } from './raw-tree.ts'
import { weiOf } from './values.ts'
import { checkNoFeed, checkWormhole } from './wormhole-checks.ts'

/**
 * Finds fields that do not fit together. Reads the tree before the schema has checked it, so that one error lists these
 * problems and the schema's problems.
 */
export function crossCheck(raw: unknown): Problem[] {
  const { chains: named, bridges, api, admin, notifications, priceFeed } = map(raw)
  const chains = new Map(Object.entries(map(named)).flatMap(([name, chain]) => (isShownName(name) ? [[name, map(chain)] as const] : [])))
  const { 'wormhole-token-bridge': wormhole, 'native-bridge': native, receivers, ntt, executor, cctp, plugins } = map(bridges)
  const { port: apiPort = defaultApiPort } = map(api)
  const { port: adminPort } = map(admin)
  return [
    ...unless(
      named === undefined || chains.size > 0,
      'chains',
      'names no chain',
      'Add at least one; config/portage.example.yaml shows how.',
    ),
    ...checkChains(chains),
    ...(wormhole === undefined ? [] : checkWormhole(map(wormhole), chains)),
    ...(priceFeed === undefined ? checkNoFeed(map(wormhole)) : checkPriceFeed(map(priceFeed), chains)),
    ...(receivers === undefined ? [] : checkMessageRoutes(maps(map(receivers)['routes']), wormhole, chains)),
    ...(ntt === undefined ? [] : checkTokenPeers(maps(map(ntt)['tokens']), { wormhole, executor }, chains)),
    ...(plugins === undefined ? [] : checkPlugins(map(plugins), wormhole, chains)),
    ...(executor === undefined ? [] : checkExecutor(map(executor), chains)),
    ...(cctp === undefined ? [] : checkCctp(map(cctp), chains, executor)),
    ...checkNativeRoutes(maps(map(native)['routes']), chains),
    ...checkReceivers(maps(notifications), {
      chains: [...chains.keys()],
      bridges: [...Object.keys(map(bridges)), ...Object.keys(map(plugins))],
      lanes: laneIds(chains),
    }),
    // A process with the role `all` or `api` listens on both ports.
    ...unless(
      !adminPort || adminPort !== apiPort,
      'admin.port',
      'is the port of the API (api.port)',
      'Choose another one; 0 takes any free port.',
    ),
  ]
}

const defaultApiPort = 8099

function checkChains(chains: Chains): Problem[] {
  const entries = [...chains]
  const same = (field: string, remedy: string) =>
    repeated(
      entries.map(([, { [field]: value }]) => (typeof value === 'number' ? value : undefined)),
      (index) => `chains.${entries[index]?.[0]}.${field}`,
      (value, first) => `is ${value}, as of chains.${entries[first]?.[0]}`,
      remedy,
    )
  return [
    ...same('networkId', 'One network is one chain: merge the two, with the nodes and lanes of both.'),
    ...same('wormholeChainId', 'Every Wormhole chain id belongs to one chain: correct one of them.'),
    ...entries.flatMap(([name, chain]) => checkNodes(`chains.${name}`, chain)),
    ...entries.flatMap(([name, { lanes }]) => checkLanes(`chains.${name}.lanes`, maps(lanes))),
    ...entries.flatMap(([name, chain]) => checkTopUp(`chains.${name}`, chain)),
  ]
}

function checkNodes(path: string, { nodes: given, send, lanes }: Fields): Problem[] {
  const nodes = maps(given)
  if (nodes.length === 0) return []
  const uses = nodes.map(({ use = 'all' }) => use)
  const has = (...wanted: string[]) => wanted.some((use) => uses.includes(use))
  const isPrivate = send === 'private'
  const isSending = isPrivate || has('all', 'send') || maps(lanes).length === 0
  const makePrivate = 'Give at least one node use: private, or send: public.'
  const addSender = 'Add one with use: all or use: send, or choose send: private.'
  return [
    ...unless(has('all', 'read'), `${path}.nodes`, 'has no node that reads', 'Add one with use: all or use: read.'),
    ...unless(!isPrivate || has('private'), `${path}.send`, 'is private, but no node is', makePrivate),
    ...unless(isSending, `${path}.nodes`, 'has no node that takes transactions', addSender),
    ...repeated(
      nodes.map(({ name }, index) => (typeof name === 'string' ? name : `node-${index + 1}`)),
      (index) => `${path}.nodes[${index}].name`,
      (name, first) => `is ${name}, as of nodes[${first}]`,
      'Give every node a name of its own.',
    ),
  ]
}

function checkLanes(path: string, lanes: readonly Fields[]): Problem[] {
  return repeated(
    lanes.map(({ address }) => (typeof address === 'string' ? address.toLowerCase() : undefined)),
    (index) => `${path}[${index}].address`,
    (_, first) => `is the address of lanes[${first}] too`,
    'A key is one lane: remove one of them.',
  )
}

/** Automatic top-ups must be possible, and must raise a balance above every minimum. */
function checkTopUp(path: string, { topUp, signing, lanes }: Fields): Problem[] {
  if (topUp === undefined) return []
  const { from, minimum, level } = map(topUp)
  const wei = (value: unknown) => BigInt(weiOf(value) ?? 0)
  const isLane = maps(lanes).some(({ address }) => String(address).toLowerCase() === String(from).toLowerCase())
  const minima = [minimum, ...maps(lanes).map(({ minimumBalance }) => minimumBalance)]
  const isAbove = minima.every((one) => wei(level) > wei(one))
  const isAllowed = map(signing)['topUps'] === true
  return [
    ...unless(isLane, `${path}.topUp.from`, 'is not a lane of the chain', `Use an address of ${path}.lanes.`),
    ...unless(isAllowed, `${path}.topUp`, `needs ${path}.signing.topUps`, 'Set signing.topUps: true, or remove topUp.'),
    ...unless(isAbove || wei(level) === 0n, `${path}.topUp.level`, 'is not above minimum and every minimumBalance', 'Raise it.'),
  ]
}

function checkPriceFeed({ sources, expected }: Fields, chains: Chains): Problem[] {
  const names = (path: string, table: unknown) =>
    Object.keys(map(table)).flatMap((name) => (name.includes('/') ? [] : checkChain(`${path}.${pathText([name])}`, name, chains)))
  return [
    ...names('priceFeed.expected', expected),
    ...maps(sources).flatMap(({ chain, feeds }, index) => {
      const path = `priceFeed.sources[${index}]`
      return [...(chain === undefined ? [] : checkChain(`${path}.chain`, chain, chains)), ...names(`${path}.feeds`, feeds)]
    }),
  ]
}

function needsWormhole(path: string, wormhole: unknown): Problem[] {
  const remedy = 'Add bridges.wormhole-token-bridge: its spies and APIs deliver the messages of all emitters.'
  return unless(wormhole !== undefined, path, 'needs bridges.wormhole-token-bridge', remedy)
}

function checkTokenPeers(tokens: readonly Fields[], { wormhole, executor }: Fields, chains: Chains): Problem[] {
  const path = 'bridges.ntt'
  const remedy = 'Set free: true, or add bridges.executor, whose requests pay.'
  return [
    ...needsWormhole(path, wormhole),
    ...tokens.flatMap(({ free }, index) =>
      unless(free !== undefined || executor !== undefined, `${path}.tokens[${index}]`, 'delivers no transfer', remedy),
    ),
    ...tokens.flatMap(({ peers }, index) =>
      Object.keys(map(peers)).flatMap((chain) =>
        checkSource(`${path}.tokens[${index}].peers.${pathText([chain])}`, chain, anySource, chains),
      ),
    ),
  ]
}

function checkPlugins(plugins: Fields, wormhole: unknown, chains: Chains): Problem[] {
  const path = 'bridges.plugins'
  const ofRoutes = Object.entries(plugins).flatMap(([name, plugin]) =>
    maps(map(plugin)['routes']).flatMap(({ from, to, calls }, index) => {
      const route = `${path}.${pathText([name, 'routes', index])}`
      return [
        ...maps(from).flatMap(({ source }, place) => checkSource(`${route}.from[${place}].source`, source, anySource, chains)),
        ...checkChain(`${route}.to`, to, chains),
        ...maps(calls).flatMap((call, place) => checkCoins(`${route}.calls[${place}]`, call, to, chains)),
      ]
    }),
  )
  return [...needsWormhole(path, wormhole), ...ofRoutes]
}

function checkMessageRoutes(routes: readonly Fields[], wormhole: unknown, chains: Chains): Problem[] {
  const path = 'bridges.receivers'
  return [
    ...needsWormhole(path, wormhole),
    ...routes.flatMap((route, index) => [
      ...checkEnds(`${path}.routes[${index}]`, route, chains, anySource),
      ...checkCoins(`${path}.routes[${index}]`, route, route['target'], chains),
    ]),
  ]
}

function checkNativeRoutes(routes: readonly Fields[], chains: Chains): Problem[] {
  const path = 'bridges.native-bridge.routes'
  const same = (fields: readonly string[], field: string, problem: string, remedy: string): Problem[] => {
    const keys = routes.map((route) => {
      const values = fields.map((one) => route[one])
      return values.every((value) => typeof value === 'string') ? values.join('/').toLowerCase() : undefined
    })
    const pathOf = (index: number) => `${path}[${index}].${field}`
    return repeated(keys, pathOf, (_, first) => `${problem} routes[${first}]`, remedy)
  }
  // A contract has one route: transfer ids lack the source chain, so two sources would make equal ids.
  const counterpart = 'A contract has one counterpart: correct one of the two addresses.'
  const oneDirection = 'One direction between two chains is one route: remove one of them.'
  return [
    ...routes.flatMap((route, index) => checkEnds(`${path}[${index}]`, route, chains)),
    ...same(['source', 'target'], 'target', 'goes the same way as', oneDirection),
    ...same(['source', 'sourceContract'], 'sourceContract', 'is the source contract of', counterpart),
    ...same(['target', 'targetContract'], 'targetContract', 'is the target contract of', counterpart),
  ]
}

function laneIds(chains: Chains): string[] {
  return [...chains.values()].flatMap(({ family, networkId, lanes }) =>
    maps(lanes).map(({ address }) => laneId(String(family), String(networkId), String(address))),
  )
}

function checkReceivers(receivers: readonly Fields[], names: Readonly<Record<'chains' | 'bridges' | 'lanes', string[]>>): Problem[] {
  const same = repeated(
    receivers.map(({ name }) => name),
    (index) => `notifications[${index}].name`,
    (_, first) => `is that of notifications[${first}], too`,
    'Give every receiver a name of its own.',
  )
  const unknown = Object.entries(names).flatMap(([field, known]) =>
    receivers.flatMap((receiver, index) =>
      (Array.isArray(receiver[field]) ? receiver[field] : []).flatMap((one: unknown, place) => {
        const isUnconfigured = field === 'chains' && /^wormhole-[0-9]+$/.test(String(one))
        const isKnown = typeof one !== 'string' || isUnconfigured || known.includes(one) || known.includes(one.toLowerCase())
        const path = `notifications[${index}].${field}[${place}]`
        return unless(isKnown, path, `is not one of the ${field} of this config`, `Use one of: ${listed(known)}.`)
      }),
    ),
  )
  return [...same, ...unknown]
}
