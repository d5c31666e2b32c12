import { checkRoutes } from './native-checks.ts'
import type { Problem } from './problems.ts'
import { list, map } from './tree.ts'

/**
 * Problems between fields. Works on the raw tree, so that they are listed together with the problems of single fields; a value of the wrong
 * form is skipped here, because its own field reports it.
 */
export function crossCheck(raw: unknown): Problem[] {
  const config = map(raw)
  const chains = Object.entries(map(config['chains']))
  const names = chains.map(([name]) => name)
  const bridges = map(config['bridges'])
  return [
    ...(config['chains'] !== undefined && chains.length === 0 ? [noChain] : []),
    ...duplicates(chains, 'networkId', 'One network is one chain: merge the two, with the nodes and lanes of both.'),
    ...duplicates(chains, 'wormholeChainId', 'Every Wormhole chain id belongs to one chain: correct one of them.'),
    ...chains.flatMap(([name, chain]) => checkNodes(`chains.${name}`, map(chain))),
    ...chains.flatMap(([name, chain]) => checkLanes(name, list(map(chain)['lanes']))),
    ...(bridges['wormhole-token-bridge'] === undefined ? [] : chains.flatMap(([name, chain]) => checkWormhole(name, map(chain)))),
    ...checkBridge('bridges.wormhole-token-bridge', map(bridges['wormhole-token-bridge']), names),
    ...checkRoutes('bridges.native-bridge.routes', list(map(bridges['native-bridge'])['routes']), names),
  ]
}

const noChain: Problem = { path: 'chains', problem: 'names no chain', remedy: 'Add at least one; config/portage.example.yaml shows how.' }

function duplicates(chains: readonly [string, unknown][], field: string, remedy: string): Problem[] {
  const first = new Map<unknown, string>()
  return chains.flatMap(([name, chain]) => {
    const value = map(chain)[field]
    if (typeof value !== 'number') return []
    const other = first.get(value)
    if (other === undefined) first.set(value, name)
    return other === undefined ? [] : [{ path: `chains.${name}.${field}`, problem: `is ${value}, as of chains.${other}`, remedy }]
  })
}

/** Some node must read, some must take transactions, and each has a name of its own. */
function checkNodes(path: string, chain: Record<string, unknown>): Problem[] {
  const nodes = list(chain['nodes']).map(map)
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
  } else if (!uses.some((use) => use === 'all' || use === 'send') && list(chain['lanes']).length > 0) {
    const remedy = 'Add one with use: all or use: send, or choose send: private.'
    problems.push({ path: `${path}.nodes`, problem: 'has no node that takes transactions', remedy })
  }
  const names = nodes.map(({ name }, index) => (typeof name === 'string' ? name : `node-${index + 1}`))
  for (const [index, name] of names.entries()) {
    const other = names.indexOf(name)
    if (other === index) continue
    const remedy = 'Give every node a name of its own.'
    problems.push({ path: `${path}.nodes[${index}].name`, problem: `is ${name}, as of nodes[${other}]`, remedy })
  }
  return problems
}

function checkLanes(chain: string, lanes: readonly unknown[]): Problem[] {
  const first = new Map<string, number>()
  return lanes.flatMap((lane, index) => {
    const path = `chains.${chain}.lanes[${index}]`
    const problems = checkSigner(`${path}.signer`, map(map(lane)['signer']))
    const address = map(lane)['address']
    if (typeof address !== 'string') return problems
    const other = first.get(address.toLowerCase())
    if (other === undefined) first.set(address.toLowerCase(), index)
    else
      problems.unshift({
        path: `${path}.address`,
        problem: `is the address of lanes[${other}] too`,
        remedy: 'A key is one lane: remove one of them.',
      })
    return problems
  })
}

function checkSigner(path: string, signer: Record<string, unknown>): Problem[] {
  if (signer['kind'] !== 'keystore') return []
  const given = ['passwordFile', 'passwordVariable'].filter((field) => signer[field] !== undefined)
  if (given.length === 1) return []
  return [
    {
      path,
      problem:
        given.length === 0 ? 'does not say where the password of the keystore is' : 'names two places for the password of the keystore',
      remedy: 'Give either passwordFile or passwordVariable.',
    },
  ]
}

/** The fields of a chain that only Wormhole's bridge needs. */
function checkWormhole(name: string, chain: Record<string, unknown>): Problem[] {
  const missing = [
    ['wormholeChainId', "Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge."],
    ['contracts', 'Add core and tokenBridge: the Wormhole contracts of the chain.'],
  ] as const
  return missing.flatMap(([field, remedy]) =>
    chain[field] === undefined
      ? [{ path: `chains.${name}.${field}`, problem: 'is missing, and bridges.wormhole-token-bridge needs it', remedy }]
      : [],
  )
}

function checkBridge(path: string, bridge: Record<string, unknown>, chains: readonly string[]): Problem[] {
  const byChain = (field: string): [string, string, unknown][] =>
    Object.entries(map(bridge[field])).map(([chain, table]) => [`${path}.${field}.${chain}`, chain, table])
  const unknown = [...byChain('minimumFees'), ...byChain('calls')].flatMap(([at, chain]) =>
    chains.includes(chain)
      ? []
      : [{ path: at, problem: 'is not a chain of this config', remedy: `Use one of: ${chains.join(', ') || '(none is configured)'}.` }],
  )
  return [...unknown, ...byChain('minimumFees').flatMap(([at, , table]) => repeatedTokens(at, table))]
}

/** Two spellings of one token are refused: it would be unclear which fee counts. */
function repeatedTokens(path: string, table: unknown): Problem[] {
  const tokens = Object.keys(map(table)).map((token) => token.toLowerCase().replace('/0x', '/'))
  const twice = tokens.find((token, index) => tokens.indexOf(token) !== index)
  return twice ? [{ path, problem: `names the token ${twice} twice`, remedy: 'Keep one of the two fees.' }] : []
}
