import { until } from '../../lab/devnet/until.ts'
import { batchStatusQuery } from '../../temporal/contracts/batch.ts'
import { pooled, type Pooled } from './e2e-chain.ts'
import type { Stage } from './e2e.ts'

export interface InBatches {
  readonly pool: readonly Pooled[]
  readonly members: readonly (readonly string[])[]
}

/**
 * Waits until `calls` calls are in the pool. Each member of a batch counts as a call. At least two calls must share a
 * transaction.
 */
export function untilInBatches(stage: Stage, calls: number): Promise<InBatches> {
  const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address.toLowerCase() ?? ''
  const look = async () => {
    const [members, pool] = await Promise.all([batchMembers(stage), pooled(stage.devnet.chains.bsc.anvil, lane)])
    return members.length > 0 && pool.length - members.length + members.flat().length === calls && { pool, members }
  }
  return until(look, { timeoutMs: 90_000, everyMs: 300, what: `${calls} calls to be in the pool, some of them in one transaction` })
}

async function batchMembers({ client }: Stage): Promise<string[][]> {
  const members: string[][] = []
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = 'batch' AND ExecutionStatus = 'Running'` }))
    members.push((await client.workflow.getHandle(workflowId).query(batchStatusQuery)).members)
  return members
}
