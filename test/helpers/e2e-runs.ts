import { until } from '../../lab/devnet/until.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import type { Sent, Stage } from './e2e.ts'

/** Number of runs of a started workflow. Waits until Temporal's list, which lags, has the workflow. */
export function runsOf({ client }: Pick<Stage, 'client'>, id: string): Promise<number> {
  const look = async () => {
    const { count } = await client.workflow.count(`WorkflowId = '${id}'`)
    return count > 0 && count
  }
  return until(look, { timeoutMs: 60_000, everyMs: 100, what: `${id} to be listed` })
}

/**
 * Resolves when Temporal lists all transfers in this state. Reads the list, because a query during a local activity
 * costs a task, and a count would include transfers of the devnet's set-up.
 */
export async function untilListed(
  { client }: Pick<Stage, 'client'>,
  sent: readonly Pick<Sent, 'id'>[],
  state: TransferState,
): Promise<void> {
  const missing = async () => {
    const listed = new Set<string>()
    const query = `WorkflowType = 'transfer' AND TransferState = '${state}'`
    for await (const { workflowId } of client.workflow.list({ query, pageSize: 1000 })) listed.add(workflowId)
    return sent.filter(({ id }) => !listed.has(id))
  }
  const all = async () => (await missing()).length === 0
  await until(all, { timeoutMs: 120_000, everyMs: 200, growingToMs: 500, what: `${sent.length} transfers to be listed as ${state}` }).catch(
    async (error) => {
      const left = (await missing()).map(({ id }) => id)
      throw new Error(`${String(error)}; not so: ${left.join(', ')}`, { cause: error })
    },
  )
}
