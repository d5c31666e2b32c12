import type { Problem } from './problems.ts'

/**
 * What one field alone cannot tell. Works on the raw tree, so that these problems are listed together with those of single fields;
 * whatever has not the expected form is somebody else's problem and skipped here.
 */
export function crossCheck(raw: unknown): Problem[] {
  const config = map(raw)
  const chains = Object.entries(map(config['chains']))
  return [
    ...(config['chains'] !== undefined && chains.length === 0 ? [noChain] : []),
    ...duplicates(chains, 'networkId', 'One network is one chain: merge the two, with the nodes and lanes of both.'),
    ...duplicates(chains, 'wormholeChainId', 'Every Wormhole chain id belongs to one chain: correct one of them.'),
    ...chains.flatMap(([name, chain]) => checkLanes(name, list(map(chain)['lanes']))),
    ...checkBridge(
      'bridges.wormhole-token-bridge',
      map(map(config['bridges'])['wormhole-token-bridge']),
      chains.map(([name]) => name),
    ),
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

/** Two spellings of one token would leave it to chance which fee counts. */
function repeatedTokens(path: string, table: unknown): Problem[] {
  const tokens = Object.keys(map(table)).map((token) => token.toLowerCase().replace('/0x', '/'))
  const twice = tokens.find((token, index) => tokens.indexOf(token) !== index)
  return twice ? [{ path, problem: `names the token ${twice} twice`, remedy: 'Keep one of the two fees.' }] : []
}

function map(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
