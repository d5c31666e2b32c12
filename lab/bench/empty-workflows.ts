import { proxyActivities } from '@temporalio/workflow'

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' })

/** Yardstick: the cost of a workflow that does nothing. */
export async function empty(): Promise<void> {}

/** Yardstick: the cost of a workflow with one regular activity. */
export async function oneActivity(): Promise<void> {
  await nothing()
}
