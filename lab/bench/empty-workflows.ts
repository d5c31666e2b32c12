import { proxyActivities } from '@temporalio/workflow'

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' })

/** The cost of a workflow that does nothing. */
export async function empty(): Promise<void> {}

/** The cost that one regular activity adds. */
export async function oneActivity(): Promise<void> {
  await nothing()
}
