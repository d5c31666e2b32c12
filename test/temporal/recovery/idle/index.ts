import { condition, proxyActivities, sleep, upsertSearchAttributes } from '@temporalio/workflow'

const { hold } = proxyActivities<{ hold(): Promise<void> }>({ startToCloseTimeout: '1h' })

/** Waits for ever, for an hour, for a step, or for ever as a parked transfer. */
export async function transfer(how: 'nothing' | 'timer' | 'step' | 'parked'): Promise<void> {
  if (how === 'parked') upsertSearchAttributes({ TransferState: ['parked'] })
  if (how === 'timer') await sleep('1h')
  else if (how === 'step') await hold()
  else await condition(() => false)
}
