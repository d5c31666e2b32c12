import type { AttackScene } from './scene.ts'
import { firstInvented } from './spy-attacks.ts'

/**
 * Adds the transfers with sequence numbers that only messages at the spy have to those that were found before. A wipe of
 * Temporal deletes them, so it looks first.
 */
export async function findBelieved({ client, believed, say }: Pick<AttackScene, 'client' | 'believed' | 'say'>): Promise<Set<string>> {
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer'" })) {
    const [bridge, , , sequence = ''] = workflowId.split(':')
    if (bridge !== 'wormhole-token-bridge' || !/^\d+$/.test(sequence) || BigInt(sequence) < firstInvented) continue
    if (!believed.has(workflowId)) say(`believed: ${workflowId}`)
    believed.add(workflowId)
  }
  return believed
}
