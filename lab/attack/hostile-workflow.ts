import { proxyActivities } from '@temporalio/workflow'

export async function hostile(taskQueue: string, steps: Record<string, unknown>): Promise<Record<string, string>> {
  const options = {
    taskQueue,
    startToCloseTimeout: '40s',
    scheduleToCloseTimeout: '60s',
    heartbeatTimeout: '15s',
    retry: { maximumAttempts: 2 },
  } as const
  const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>(options)
  const ends = Object.entries(steps).map(async ([name, input]) => {
    const end = await activities[name]?.(input).then(JSON.stringify, String)
    return [name, end ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(ends))
}
