import { laneId } from '../../domain/lane/lane.ts'
import { numberOfUnconfigured } from '../../domain/transfer/transfer.ts'
import { checkCctp } from './cctp-checks.ts'
import { checkExecutor } from './executor-checks.ts'
import { isShownName, pathText, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, listed, map, maps, repeated } from './raw-tree.ts'

/** Reads the unchecked tree, so that one error lists these problems together with the schema's. */
export function crossCheck(raw: unknown): Problem[] {
  const { chains: named, bridges, api, admin, notifications } = map(raw)
  const chains: Chains = Object.entries(map(named)).flatMap(([name, chain]) => (isShownName(name) ? [[name, map(chain)]] : []))
  const { 'wormhole-token-bridge': wormhole, 'native-bridge': native, receivers, ntt, executor, cctp, plugins } = map(bridges)
  const names = chains.map(([name]) => name)
  return [
    ...checkChains(named, chains),
    ...(wormhole === undefined ? [] : checkWormhole(map(wormhole), chains)),
    ...(receivers === undefined ? [] : checkMessageRoutes(maps(map(receivers)['routes']), wormhole, chains)),
    ...(ntt === undefined ? [] : checkTokenPeers(maps(map(ntt)['tokens']), { wormhole, executor }, chains)),
    ...(plugins === undefined ? [] : checkPlugins(map(plugins), wormhole, chains)),
    ...(executor === undefined ? [] : checkExecutor(map(executor), chains)),
    ...(cctp === undefined ? [] : checkCctp(map(cctp), chains, executor)),
    ...checkRoutes('bridges.native-bridge.routes', maps(map(native)['routes']), names),
    ...checkReceivers(maps(notifications), {
      chains: names,
      bridges: [...Object.keys(map(bridges)), ...Object.keys(map(plugins))],
      lanes: laneIds(chains),
    }),
    ...checkPorts(map(api)['port'] ?? defaultApiPort, map(admin)['port']),
  ]
}

const defaultApiPort = 8099

/** A process with the role `all` or `api` listens on both ports, so the ports must differ. */
function checkPorts(api: unknown, admin: unknown): Problem[] {
  if (admin !== api || !admin) return []
  return [{ path: 'admin.port', problem: 'is the port of the API (api.port)', remedy: 'Choose another one; 0 takes any free port.' }]
}

function checkChains(named: unknown, chains: Chains): Problem[] {
  if (named !== undefined && chains.length === 0)
    return [{ path: 'chains', problem: 'names no chain', remedy: 'Add at least one; config/portage.example.yaml shows how.' }]
  const same = (field: string, remedy: string) =>
    repeated(
      chains.map(([, { [field]: value }]) => (typeof value === 'number' ? value : undefined)),
      (index) => `chains.${chains[index]?.[0]}.${field}`,
      (value, first) => `is ${value}, as of chains.${chains[first]?.[0]}`,
      remedy,
    )
  return [
    ...same('networkId', 'One network is one chain: merge the two, with the nodes and lanes of both.'),
    ...same('wormholeChainId', 'Every Wormhole chain id belongs to one chain: correct one of them.'),
    ...chains.flatMap(([name, chain]) => checkNodes(`chains.${name}`, chain)),
    ...chains.flatMap(([name, chain]) => checkLanes(`chains.${name}.lanes`, maps(chain['lanes']))),
    ...chains.flatMap(([name, chain]) => checkTopUp(`chains.${name}`, chain)),
  ]
}

function checkNodes(path: string, chain: Fields): Problem[] {
  const nodes = maps(chain['nodes'])
  if (nodes.length === 0) return []
  const uses = new Set(nodes.map(({ use = 'all' }) => use))
  const problems: Problem[] = []
  if (!uses.has('all') && !uses.has('read')) {
    problems.push({ path: `${path}.nodes`, problem: 'has no node that reads', remedy: 'Add one with use: all or use: read.' })
  }
  if (chain['send'] === 'private') {
    const remedy = 'Give at least one node use: private, or send: public.'
    if (!uses.has('private')) problems.push({ path: `${path}.send`, problem: 'is private, but no node is', remedy })
  } else if (!uses.has('all') && !uses.has('send') && maps(chain['lanes']).length > 0) {
    const remedy = 'Add one with use: all or use: send, or choose send: private.'
    problems.push({ path: `${path}.nodes`, problem: 'has no node that takes transactions', remedy })
  }
  const names = nodes.map(({ name }, index) => (typeof name === 'string' ? name : `node-${index + 1}`))
  const pathOf = (index: number) => `${path}.nodes[${index}].name`
  const same = repeated(names, pathOf, (name, first) => `is ${name}, as of nodes[${first}]`, 'Give every node a name of its own.')
  return [...problems, ...same]
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
  const wei = (value: unknown) => BigInt(typeof value === 'string' && /^\d{1,30}$/.test(value) ? value : 0)
  const isLane = maps(lanes).some(({ address }) => String(address).toLowerCase() === String(from).toLowerCase())
  const highest = maps(lanes)
    .map(({ minimumBalance }) => wei(minimumBalance))
    .reduce((a, b) => (a > b ? a : b), wei(minimum))
  return [
    ...(isLane ? [] : [{ path: `${path}.topUp.from`, problem: 'is no lane of the chain', remedy: `Use an address of ${path}.lanes.` }]),
    ...(map(signing)['topUps'] === true
      ? []
      : [{ path: `${path}.topUp`, problem: `needs ${path}.signing.topUps`, remedy: 'Set signing.topUps: true, or remove topUp.' }]),
    ...(wei(level) > highest || wei(level) === 0n
      ? []
      : [{ path: `${path}.topUp.level`, problem: 'is not above minimum and every minimumBalance', remedy: 'Raise it.' }]),
  ]
}

function checkWormhole(fields: Fields, chains: Chains): Problem[] {
  const { minimumFees, prices, calls, emitters, freeRoutes, streams } = fields
  const path = 'bridges.wormhole-token-bridge'
  const names = chains.map(([name]) => name)
  const tables = (fields: Fields) =>
    Object.entries(fields).flatMap(([field, byChain]) =>
      Object.entries(map(byChain)).map(([chain, table]) => ({ path: `${path}.${field}.${chain}`, chain, table: map(table) })),
    )
  const missing = chains.flatMap(([name, chain]) =>
    Object.entries(neededByWormhole).flatMap(([field, remedy]) =>
      chain[field] === undefined
        ? [{ path: `chains.${name}.${field}`, problem: 'is missing, and bridges.wormhole-token-bridge needs it', remedy }]
        : [],
    ),
  )
  const ownEmitters = chains.flatMap(([name, { wormholeChainId }]) =>
    typeof wormholeChainId === 'number' && Object.hasOwn(map(emitters), String(wormholeChainId))
      ? [
          {
            path: `${path}.emitters.${wormholeChainId}`,
            problem: `is the chain ${name} of this config`,
            remedy: `Remove it: chains.${name}.contracts has its token bridge.`,
          },
        ]
      : [],
  )
  return [
    ...missing,
    ...tables({ minimumFees, prices, calls }).flatMap(({ path, chain }) => checkChain(path, chain, names)),
    ...tables({ minimumFees, prices }).flatMap(({ path, table }) => checkTokens(path, table)),
    ...ownEmitters,
    ...Object.keys(map(streams)).flatMap((source) => checkSource(pathText([path, 'streams', source]), source, fields, chains)),
    ...maps(freeRoutes).flatMap(({ source, target }, index) => [
      ...checkSource(`${path}.freeRoutes[${index}].source`, source, fields, chains),
      ...checkChain(`${path}.freeRoutes[${index}].target`, target, names),
      ...(typeof target === 'string' && source === target ? [loop(`${path}.freeRoutes[${index}].target`)] : []),
    ]),
  ]
}

function needsWormhole(path: string, wormhole: unknown): Problem[] {
  const remedy = 'Add bridges.wormhole-token-bridge: its spies and APIs deliver the messages of all emitters.'
  return wormhole === undefined ? [{ path, problem: 'needs bridges.wormhole-token-bridge', remedy }] : []
}

function checkTokenPeers(tokens: readonly Fields[], { wormhole, executor }: Fields, chains: Chains): Problem[] {
  const path = 'bridges.ntt'
  const unpaid = tokens.flatMap(({ free }, index) => (free === undefined && executor === undefined ? [index] : []))
  const remedy = 'Set free: true, or add bridges.executor, whose requests pay.'
  const unserved = unpaid.map((index) => ({ path: `${path}.tokens[${index}]`, problem: 'delivers no transfer', remedy }))
  const sources = tokens.flatMap(({ peers }, index) =>
    Object.keys(map(peers)).flatMap((chain) =>
      checkSource(pathText([path, 'tokens', index, 'peers', chain]), chain, { everySource: 'any' }, chains),
    ),
  )
  return [...needsWormhole(path, wormhole), ...unserved, ...sources]
}

function checkPlugins(plugins: Fields, wormhole: unknown, chains: Chains): Problem[] {
  const path = 'bridges.plugins'
  const names = chains.map(([name]) => name)
  const ofRoutes = Object.entries(plugins).flatMap(([name, plugin]) =>
    maps(map(plugin)['routes']).flatMap(({ from, to }, index) => {
      const route = [path, name, 'routes', index]
      return [
        ...maps(from).flatMap(({ source }, place) =>
          checkSource(pathText([...route, 'from', place, 'source']), source, { everySource: 'any' }, chains),
        ),
        ...checkChain(pathText([...route, 'to']), to, names),
      ]
    }),
  )
  return [...needsWormhole(path, wormhole), ...ofRoutes]
}

function checkMessageRoutes(routes: readonly Fields[], wormhole: unknown, chains: Chains): Problem[] {
  const path = 'bridges.receivers'
  const names = chains.map(([name]) => name)
  return [
    ...needsWormhole(path, wormhole),
    ...routes.flatMap(({ source, target }, index) => [
      // Any source of Wormhole is allowed, because each route names its emitter.
      ...checkSource(`${path}.routes[${index}].source`, source, { everySource: 'any' }, chains),
      ...checkChain(`${path}.routes[${index}].target`, target, names),
      ...(typeof target === 'string' && source === target ? [loop(`${path}.routes[${index}].target`)] : []),
    ]),
  ]
}

function checkSource(path: string, source: unknown, { emitters, everySource }: Fields, chains: Chains): Problem[] {
  if (typeof source !== 'string') return []
  const number = numberOfUnconfigured(source)
  if (number === undefined) {
    return checkChain(
      path,
      source,
      chains.map(([name]) => name),
    )
  }
  const [name] = chains.find(([, { wormholeChainId }]) => String(wormholeChainId) === number) ?? []
  if (name !== undefined) return [{ path, problem: `is the chain ${name} of this config`, remedy: `Write ${name}.` }]
  if (everySource !== undefined || Object.hasOwn(map(emitters), number)) return []
  return [{ path, problem: 'is no source of this config', remedy: `Set everySource, or emitters.${number}.` }]
}

function loop(path: string): Problem {
  return { path, problem: 'is the source too', remedy: 'A route leads to another chain: correct one of them.' }
}

const neededByWormhole = {
  wormholeChainId: "Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.",
  contracts: 'Add core and tokenBridge: the Wormhole contracts of the chain.',
}

/** Finds two spellings of one token, which would make the token's fee ambiguous. */
function checkTokens(path: string, table: Fields): Problem[] {
  const tokens = Object.keys(table).map((token) => token.toLowerCase().replace('/0x', '/'))
  return repeated(
    tokens,
    () => path,
    (token) => `names the token ${token} twice`,
    'Keep one of the two fees.',
  ).slice(0, 1)
}

function checkRoutes(path: string, routes: readonly Fields[], chains: readonly string[]): Problem[] {
  const same = (fields: readonly string[], field: string, problem: string, remedy: string): Problem[] => {
    const keys = routes.map((route) => {
      const values = fields.map((one) => route[one])
      return values.every((value) => typeof value === 'string') ? values.join('/').toLowerCase() : undefined
    })
    const pathOf = (index: number) => `${path}[${index}].${field}`
    return repeated(keys, pathOf, (_, first) => `${problem} routes[${first}]`, remedy)
  }
  // Transfer ids lack the source chain, so equal transfers from two sources would have one id. Each contract therefore
  // belongs to one route.
  const counterpart = 'A contract has one counterpart: correct one of the two addresses.'
  const oneDirection = 'One direction between two chains is one route: remove one of them.'
  const ends = routes.flatMap(({ source, target }, index) => {
    const isLoop = typeof source === 'string' && source === target
    return [
      ...checkChain(`${path}[${index}].source`, source, chains),
      ...checkChain(`${path}[${index}].target`, target, chains),
      ...(isLoop ? [loop(`${path}[${index}].target`)] : []),
    ]
  })
  return [
    ...ends,
    ...same(['source', 'target'], 'target', 'goes the same way as', oneDirection),
    ...same(['source', 'sourceContract'], 'sourceContract', 'is the source contract of', counterpart),
    ...same(['target', 'targetContract'], 'targetContract', 'is the target contract of', counterpart),
  ]
}

function laneIds(chains: Chains): string[] {
  return chains.flatMap(([, { family, networkId, lanes }]) =>
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
        if (
          typeof one !== 'string' ||
          known.includes(one) ||
          known.includes(one.toLowerCase()) ||
          (field === 'chains' && /^wormhole-[0-9]+$/.test(one))
        )
          return []
        const problem = `is not one of the ${field} of this config`
        return [{ path: `notifications[${index}].${field}[${place}]`, problem, remedy: `Use one of: ${listed(known)}.` }]
      }),
    ),
  )
  return [...same, ...unknown]
}
