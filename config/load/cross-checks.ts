import type { Problem } from './problems.ts'

/**
 * Problems between fields. Works on the raw tree, so that they are listed together with the problems of single fields; a value of the wrong
 * form is skipped here, because its own field reports it.
 */
export function crossCheck(raw: unknown): Problem[] {
  const { chains: named, bridges, api, admin, notifications } = map(raw)
  const chains = Object.entries(map(named)).map(([name, chain]) => [name, map(chain)] as const)
  const { 'wormhole-token-bridge': wormhole, 'native-bridge': native } = map(bridges)
  const names = chains.map(([name]) => name)
  return [
    ...(named !== undefined && chains.length === 0 ? [noChain] : []),
    ...duplicates(chains, 'networkId', 'One network is one chain: merge the two, with the nodes and lanes of both.'),
    ...duplicates(chains, 'wormholeChainId', 'Every Wormhole chain id belongs to one chain: correct one of them.'),
    ...chains.flatMap(([name, chain]) => checkNodes(`chains.${name}`, chain)),
    ...chains.flatMap(([name, chain]) => checkLanes(`chains.${name}.lanes`, maps(chain['lanes']))),
    ...(wormhole === undefined ? [] : chains.flatMap(([name, chain]) => checkWormhole(`chains.${name}`, chain))),
    ...checkFeesAndCalls('bridges.wormhole-token-bridge', map(wormhole), names),
    ...checkEmitters('bridges.wormhole-token-bridge.emitters', map(map(wormhole)['emitters']), chains),
    ...checkFreeRoutes('bridges.wormhole-token-bridge.freeRoutes', maps(map(wormhole)['freeRoutes']), names),
    ...checkRoutes('bridges.native-bridge.routes', maps(map(native)['routes']), names),
    ...checkReceivers(maps(notifications), names, Object.keys(map(bridges))),
    ...checkPorts(map(api)['port'] ?? defaultApiPort, map(admin)['port']),
  ]
}

const defaultApiPort = 8099

/** A process of the roles `all` and `api` listens on both. */
function checkPorts(api: unknown, admin: unknown): Problem[] {
  if (admin !== api || !admin) return []
  return [{ path: 'admin.port', problem: 'is the port of the API (api.port)', remedy: 'Choose another one; 0 takes any free port.' }]
}

type Fields = Record<string, unknown>

/** A name of its own for each receiver; and none that would be told of nothing, since it names what is not there. */
function checkReceivers(receivers: readonly Fields[], chains: readonly string[], bridges: readonly string[]): Problem[] {
  const names = repeated(receivers.map(({ name }) => name)).map(([index, first]) => ({
    path: `notifications[${index}].name`,
    problem: `is that of notifications[${first}], too`,
    remedy: 'Give every receiver a name of its own.',
  }))
  const unknown = (receiver: Fields, index: number, field: 'chains' | 'bridges', known: readonly string[]) =>
    list(receiver[field]).flatMap((one, place) => {
      if (typeof one !== 'string' || known.includes(one) || (field === 'chains' && /^wormhole-[0-9]+$/.test(one))) return []
      const remedy = `Use one of: ${known.join(', ') || '(none is configured)'}.`
      return [{ path: `notifications[${index}].${field}[${place}]`, problem: `is not one of the ${field} of this config`, remedy }]
    })
  return [
    ...names,
    ...receivers.flatMap((one, index) => [...unknown(one, index, 'chains', chains), ...unknown(one, index, 'bridges', bridges)]),
  ]
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A value that is no map, or no list, counts as an empty one. */
function map(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function maps(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(map) : []
}

const noChain: Problem = { path: 'chains', problem: 'names no chain', remedy: 'Add at least one; config/portage.example.yaml shows how.' }

/** The places of each key that was there before, and of the first such key. A key that is undefined equals no other. */
function repeated(keys: readonly unknown[]): (readonly [index: number, first: number])[] {
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key)
    return key === undefined || first === index ? [] : [[index, first] as const]
  })
}

function unknownChain(path: string, chains: readonly string[]): Problem {
  return { path, problem: 'is not a chain of this config', remedy: `Use one of: ${chains.join(', ') || '(none is configured)'}.` }
}

function duplicates(chains: readonly (readonly [string, Fields])[], field: string, remedy: string): Problem[] {
  const values = chains.map(([, { [field]: value }]) => (typeof value === 'number' ? value : undefined))
  return repeated(values).map(([index, first]) => ({
    path: `chains.${chains[index]![0]}.${field}`,
    problem: `is ${values[index]}, as of chains.${chains[first]![0]}`,
    remedy,
  }))
}

/** Some node must read, some must take transactions, and each has a name of its own. */
function checkNodes(path: string, chain: Fields): Problem[] {
  const nodes = maps(chain['nodes'])
  if (nodes.length === 0) return []
  const uses = nodes.map(({ use = 'all' }) => use)
  const problems: Problem[] = []
  if (!uses.some((use) => use === 'all' || use === 'read')) {
    problems.push({ path: `${path}.nodes`, problem: 'has no node that reads', remedy: 'Add one with use: all or use: read.' })
  }
  if (chain['send'] === 'private') {
    if (!uses.includes('private')) {
      const remedy = 'Give at least one node use: private, or send: public.'
      problems.push({ path: `${path}.send`, problem: 'is private, but no node is', remedy })
    }
  } else if (!uses.some((use) => use === 'all' || use === 'send') && maps(chain['lanes']).length > 0) {
    const remedy = 'Add one with use: all or use: send, or choose send: private.'
    problems.push({ path: `${path}.nodes`, problem: 'has no node that takes transactions', remedy })
  }
  const names = nodes.map(({ name }, index) => (typeof name === 'string' ? name : `node-${index + 1}`))
  const same = repeated(names).map(([index, first]) => ({
    path: `${path}.nodes[${index}].name`,
    problem: `is ${names[index]}, as of nodes[${first}]`,
    remedy: 'Give every node a name of its own.',
  }))
  return [...problems, ...same]
}

function checkLanes(path: string, lanes: readonly Fields[]): Problem[] {
  const firsts = new Map(repeated(lanes.map(({ address }) => (typeof address === 'string' ? address.toLowerCase() : undefined))))
  return lanes.flatMap(({ signer }, index) => {
    const first = firsts.get(index)
    const problem = `is the address of lanes[${first}] too`
    const same =
      first === undefined ? [] : [{ path: `${path}[${index}].address`, problem, remedy: 'A key is one lane: remove one of them.' }]
    return [...same, ...checkSigner(`${path}[${index}].signer`, map(signer))]
  })
}

function checkSigner(path: string, signer: Fields): Problem[] {
  if (signer['kind'] !== 'keystore') return []
  const given = ['passwordFile', 'passwordVariable'].filter((field) => signer[field] !== undefined)
  if (given.length === 1) return []
  const problem =
    given.length === 0 ? 'does not say where the password of the keystore is' : 'names two places for the password of the keystore'
  return [{ path, problem, remedy: 'Give either passwordFile or passwordVariable.' }]
}

/** The fields of a chain that only Wormhole's bridge needs. */
function checkWormhole(path: string, chain: Fields): Problem[] {
  const problem = 'is missing, and bridges.wormhole-token-bridge needs it'
  const needed = {
    wormholeChainId: "Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.",
    contracts: 'Add core and tokenBridge: the Wormhole contracts of the chain.',
  }
  return Object.entries(needed).flatMap(([field, remedy]) =>
    chain[field] === undefined ? [{ path: `${path}.${field}`, problem, remedy }] : [],
  )
}

function checkFeesAndCalls(path: string, { minimumFees, prices, calls }: Fields, chains: readonly string[]): Problem[] {
  const tables = Object.entries({ minimumFees, prices, calls }).flatMap(([field, byChain]) =>
    Object.keys(map(byChain)).flatMap((chain) => (chains.includes(chain) ? [] : [unknownChain(`${path}.${field}.${chain}`, chains)])),
  )
  const fees = Object.entries({ minimumFees, prices }).flatMap(([field, byChain]) =>
    Object.entries(map(byChain)).flatMap(([chain, table]) => repeatedTokens(`${path}.${field}.${chain}`, map(table))),
  )
  return [...tables, ...fees]
}

/** Two spellings of one token are refused: it would be unclear which fee counts. */
function repeatedTokens(path: string, table: Fields): Problem[] {
  const tokens = Object.keys(table).map((token) => token.toLowerCase().replace('/0x', '/'))
  const [[twice] = []] = repeated(tokens)
  return twice === undefined ? [] : [{ path, problem: `names the token ${tokens[twice]} twice`, remedy: 'Keep one of the two fees.' }]
}

/** A chain of the config has its token bridge in `contracts`: which of the two counts would be unclear. */
function checkEmitters(path: string, emitters: Fields, chains: readonly (readonly [string, Fields])[]): Problem[] {
  return chains.flatMap(([name, { wormholeChainId }]) =>
    typeof wormholeChainId === 'number' && Object.hasOwn(emitters, String(wormholeChainId))
      ? [
          {
            path: `${path}.${wormholeChainId}`,
            problem: `is the chain ${name} of this config`,
            remedy: `Remove it: chains.${name}.contracts has its token bridge.`,
          },
        ]
      : [],
  )
}

/** The target is a chain of the config; messages may come from chains that are not. */
function checkFreeRoutes(path: string, routes: readonly Fields[], chains: readonly string[]): Problem[] {
  return routes.flatMap(({ target }, index) =>
    typeof target !== 'string' || chains.includes(target) ? [] : [unknownChain(`${path}[${index}].target`, chains)],
  )
}

/** Known chains, two different ones, and every contract with one counterpart. */
function checkRoutes(path: string, routes: readonly Fields[], chains: readonly string[]): Problem[] {
  const twice = (same: readonly string[], field: string, problem: string, remedy: string): Problem[] => {
    const keys = routes.map((route) => {
      const values = same.map((one) => route[one])
      return values.every((value) => typeof value === 'string') ? values.join('/').toLowerCase() : undefined
    })
    return repeated(keys).map(([index, first]) => ({ path: `${path}[${index}].${field}`, problem: `${problem} routes[${first}]`, remedy }))
  }
  // An id names no chain: of two equal transfers from two sources, a contract would take the second one for a copy of the first.
  const counterpart = 'A contract has one counterpart: correct one of the two addresses.'
  const oneDirection = 'One direction between two chains is one route: remove one of them.'
  return [
    ...routes.flatMap((route, index) => checkEnds(`${path}[${index}]`, route, chains)),
    ...twice(['source', 'target'], 'target', 'goes the same way as', oneDirection),
    ...twice(['source', 'sourceContract'], 'sourceContract', 'is the source contract of', counterpart),
    ...twice(['target', 'targetContract'], 'targetContract', 'is the target contract of', counterpart),
  ]
}

function checkEnds(path: string, { source, target }: Fields, chains: readonly string[]): Problem[] {
  const unknown = Object.entries({ source, target }).flatMap(([field, name]) =>
    typeof name !== 'string' || chains.includes(name) ? [] : [unknownChain(`${path}.${field}`, chains)],
  )
  if (typeof source !== 'string' || source !== target) return unknown
  const remedy = 'A route leads to another chain: correct one of them.'
  return [...unknown, { path: `${path}.target`, problem: 'is the source too', remedy }]
}
