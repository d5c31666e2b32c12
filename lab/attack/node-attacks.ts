import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AbiCoder } from 'ethers'
import { devnetAccount } from '../devnet/chain/accounts.ts'
import { artifact } from '../devnet/chain/contracts.ts'
import { until } from '../devnet/until.ts'
import { startFaultProxy } from '../devnet/fault-proxy/proxy.ts'
import type { FaultRule } from '../devnet/fault-proxy/rules.ts'
import type { NodeKind, PlannedAttack } from './plan.ts'
import { type AttackScene, withApi } from './scene.ts'
import { falseGuardian } from './forged-calls.ts'
import { falseSetIndex, spyFalseSet } from './spy-attacks.ts'

/** Maximum wait for the first read of a lie, ms. A lie about gas is read only when a delivery estimates its gas. */
const struckWithinMs = 20_000

/**
 * Makes the first node of a chain lie, because Portage prefers this node for reads that one node answers. The other
 * nodes are honest, because a quorum needs them. Throws Error if no process reads a lie.
 */
export async function lyingNode(scene: AttackScene, { kind, chain, forMs: least, dice }: PlannedAttack<NodeKind>): Promise<string> {
  const [node] = scene.devnet.nodes[chain]
  if (!node) throw new Error(`${chain} has no node`)
  const elsewhere = kind === 'redirect' ? await listenElsewhere(scene) : undefined
  const rules = rulesOf(kind, elsewhere?.url ?? '').map((rule) => node.add(rule))
  const forMs = kind === 'guardians' ? guardiansForMs : least
  const answers = () => rules.map(({ strikes }) => strikes)
  const lasts = (ms: number) => ms < forMs || (ms < struckWithinMs && answers().every((count) => count === 0))
  for (const from = Date.now(); lasts(Date.now() - from); await scene.wait(1_000))
    if (kind === 'guardians') spyFalseSet(scene, { chain, dice })
  for (const rule of rules) rule.end()
  await elsewhere?.stop()
  if (answers().every((count) => count === 0)) throw new Error('the node was never asked')
  return `false answers for ${forMs} ms: ${answers().join(', ')}`
}

function rulesOf(kind: NodeKind, elsewhere: string): FaultRule[] {
  if (kind === 'flood') return [{ fault: { kind, mebibytes: 1_024 }, probability: 0.3 }]
  if (kind === 'redirect') return [{ fault: { kind, to: elsewhere } }]
  if (kind === 'guardians') return falseGuardians()
  if (kind === 'long-reverts') {
    const message = `execution reverted: ${' '.repeat(200_000)}`
    return [{ fault: { kind: 'error', code: 3, message, forward: false }, methods: ['eth_call', 'eth_estimateGas'] }]
  }
  return [{ fault: { kind: 'lie', how: kind } }]
}

/** Duration of a false guardian set, ms. Longer than the time for which Portage caches the newest set. */
const guardiansForMs = 25_000

/** Answers that name the attacker as the only guardian of the newest set. */
function falseGuardians(): FaultRule[] {
  const coder = AbiCoder.defaultAbiCoder()
  const set = coder.encode(['tuple(address[],uint32)'], [[[devnetAccount(falseGuardian).address], 0]])
  const answers = { getCurrentGuardianSetIndex: coder.encode(['uint32'], [falseSetIndex]), getGuardianSet: set }
  return Object.entries(answers).map(([method, result]) => {
    const selector = artifact('Implementation').abi.getFunction(method)?.selector
    return { fault: { kind: 'answer', result }, methods: [`eth_call ${selector}`] }
  })
}

const addedWithinMs = 30_000
/** Names of the added nodes, which outnumber the config's nodes. */
const added = ['own-1', 'own-2', 'own-3', 'own-4']

/** Uses a stolen admin token to add nodes that lie. All added nodes answer with the attacker's guardian set. */
export async function addNodes(scene: AttackScene, { chain, forMs, dice }: PlannedAttack): Promise<string> {
  const liar = await startFaultProxy(scene.devnet.chains[chain].anvil.url)
  for (const rule of falseGuardians()) liar.add(rule)
  const change = async (orders: readonly object[]) => {
    const [one] = withApi(scene)
    if (!one) throw new Error('no process is up')
    const headers = { 'content-type': 'application/json', ...one.admin }
    const body = JSON.stringify({ reason: 'faster', orders })
    return (await fetch(`${one.apiUrl}/v1/settings`, { method: 'POST', headers, body })).status
  }
  try {
    const adds = added.map((name) => ({ kind: 'setNode', change: { chain, name, url: liar.url, disabled: false, use: 'all' } }))
    // Temporal may be unreachable at this moment, so the order is repeated.
    await until(async () => (await change(adds)) === 200, { timeoutMs: addedWithinMs, everyMs: 500, what: 'the API to add nodes' })
    for (const end = Date.now() + 2 * forMs; Date.now() < end; await scene.wait(1_000)) spyFalseSet(scene, { chain, dice })
    // 400 counts as removed: after a wipe of Temporal, the API does not know the added nodes.
    const cleared = async () => [200, 400].includes(await change(added.map((name) => ({ kind: 'clearNode', chain, name }))))
    await until(cleared, { timeoutMs: addedWithinMs, everyMs: 500, what: 'the API to remove nodes' })
    const asked = [...liar.calls.values()].reduce((sum, count) => sum + count, 0)
    if (asked === 0) throw new Error('no added node was asked')
    return `${added.length} nodes for ${2 * forMs} ms, ${asked} calls`
  } finally {
    await liar.stop()
  }
}

/** Starts a host to which a lying node redirects its clients. Each request to this host counts as a leak. */
async function listenElsewhere({ overheard }: AttackScene): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    overheard.push(`${request.method} ${request.url} at a host that a node named`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}
