import { until } from '../../lab/devnet/until.ts'
import type { Stage } from './e2e.ts'

/** How many runs a workflow that was started had, by the server's list: that lags behind what began, so it is waited for. */
export function runsOf({ client }: Pick<Stage, 'client'>, id: string): Promise<number> {
  const look = async () => {
    const { count } = await client.workflow.count(`WorkflowId = '${id}'`)
    return count > 0 && count
  }
  return until(look, { timeoutMs: 60_000, everyMs: 100, what: `${id} to be listed` })
}
