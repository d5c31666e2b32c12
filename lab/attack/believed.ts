import type { AttackScene } from './scene.ts'
import { firstInvented } from './spy-attacks.ts'

/** Adds transfers with invented sequence numbers to `believed`. Must run before each wipe of Temporal. */
export async function findBelieved({ client, believed, say }: Pick<AttackScene, 'client' | 'believed' | 'say'>): Promise<Set<string>> {
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer'" })) {
    const [bridge, , , sequence = ''] = workflowId.split(':')
    if ((bridge !== 'wormhole-token-bridge' && bridge !== 'ntt') || !/^\d+$/.test(sequence) || BigInt(sequence) < firstInvented) continue
    if (!believed.has(workflowId)) say(`believed: ${workflowId}`)
    believed.add(workflowId)
  }
  return believed
}
