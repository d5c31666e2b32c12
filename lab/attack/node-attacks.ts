import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FaultRule } from '../devnet/fault-proxy/rules.ts'
import type { NodeKind, PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

/** One node of a chain lies for a while. */
export async function lyingNode(scene: AttackScene, attack: PlannedAttack<NodeKind>): Promise<string> {
  const node = scene.devnet.nodes[attack.chain][attack.node]
  if (!node) throw new Error(`${attack.chain} has no node ${attack.node}`)
  const elsewhere = attack.kind === 'redirect' ? await listenElsewhere(scene) : undefined
  const rule = node.add(ruleOf(attack.kind, elsewhere?.url ?? ''))
  await scene.wait(attack.forMs)
  rule.end()
  await elsewhere?.stop()
  return `node ${attack.node} for ${attack.forMs} ms, ${rule.strikes} answers`
}

function ruleOf(kind: NodeKind, elsewhere: string): FaultRule {
  if (kind === 'flood') return { fault: { kind, mebibytes: 64 }, probability: 0.3 }
  if (kind === 'redirect') return { fault: { kind, to: elsewhere } }
  return { fault: { kind: 'lie', how: kind } }
}

/** The host to which a node redirects its clients. Any request there has leaked to a stranger. */
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
