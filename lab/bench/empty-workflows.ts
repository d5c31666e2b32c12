import { proxyActivities } from '@temporalio/workflow'

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' })

export async function empty(): Promise<void> {}

/** A workflow with one regular activity, not a local one. */
export async function oneActivity(): Promise<void> {
  await nothing()
}
