import type { Client } from '@temporalio/client'

/** Takes all workflow tasks of a queue and answers none, like a process that hangs. The test must call `stop`. */
export function takeAndNeverAnswer(client: Client, queue: string): { stop(): Promise<void> } {
  let taking = true
  const { workflowService, options } = client
  const poll = { namespace: options.namespace, taskQueue: { name: queue }, identity: 'one that never answers' }
  const take = async () => {
    while (taking) await client.withDeadline(Date.now() + 5_000, () => workflowService.pollWorkflowTaskQueue(poll)).catch(() => undefined)
  }
  const taken = take()
  return {
    async stop() {
      taking = false
      await taken
    },
  }
}
