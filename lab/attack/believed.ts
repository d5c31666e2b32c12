import { pluginPrefix } from './receivers.ts'
import type { AttackScene } from './scene.ts'
import { firstInvented } from './spy-attacks.ts'

const signed: readonly string[] = ['wormhole-token-bridge', 'ntt', 'receivers']

/**
 * Adds to `believed` the transfers in Temporal that have invented sequence numbers. Must run before each wipe of
 * Temporal.
 */
export async function findBelieved({ client, believed, say }: Pick<AttackScene, 'client' | 'believed' | 'say'>): Promise<Set<string>> {
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer'" })) {
    const [bridge = '', , , sequence = ''] = workflowId.split(':')
    if (!(signed.includes(bridge) || bridge.startsWith(pluginPrefix)) || !/^\d+$/.test(sequence) || BigInt(sequence) < firstInvented)
      continue
    if (!believed.has(workflowId)) say(`believed: ${workflowId}`)
    believed.add(workflowId)
  }
  return believed
}
