import { proxyActivities } from '@temporalio/workflow'

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' })

/** What a workflow costs that does nothing. */
export async function empty(): Promise<void> {}

/** What one regular activity adds. */
export async function oneActivity(): Promise<void> {
  await nothing()
}
