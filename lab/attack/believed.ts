import type { AttackScene } from './scene.ts'
import { firstInvented } from './spy-attacks.ts'

/**
 * Adds the token bridge's and NTT's transfers with invented sequence numbers to `believed`. Call this before each wipe
 * of Temporal, which deletes the workflows of these transfers.
 */
export async function findBelieved({ client, believed, say }: Pick<AttackScene, 'client' | 'believed' | 'say'>): Promise<Set<string>> {
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer'" })) {
    const [bridge, , , sequence = ''] = workflowId.split(':')
    if ((bridge !== 'wormhole-token-bridge' && bridge !== 'ntt') || !/^\d+$/.test(sequence) || BigInt(sequence) < firstInvented) continue
    if (!believed.has(workflowId)) say(`believed: ${workflowId}`)
    believed.add(workflowId)
  }
  return believed
}
