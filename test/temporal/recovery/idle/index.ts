import { condition, proxyActivities, sleep, upsertSearchAttributes } from '@temporalio/workflow'

const { hold } = proxyActivities<{ hold(): Promise<void> }>({ startToCloseTimeout: '1h' })

/** A transfer that waits in one of the ways in which a workflow can wait. */
export async function transfer(how: 'nothing' | 'timer' | 'step' | 'parked'): Promise<void> {
  if (how === 'parked') upsertSearchAttributes({ TransferState: ['parked'] })
  if (how === 'timer') await sleep('1h')
  else if (how === 'step') await hold()
  else await condition(() => false)
}
