import { condition, proxyActivities, sleep, upsertSearchAttributes } from '@temporalio/workflow'

const { hold } = proxyActivities<{ hold(): Promise<void> }>({ startToCloseTimeout: '1h' })

export async function transfer(how: 'nothing' | 'timer' | 'step' | 'parked'): Promise<void> {
  if (how === 'parked') upsertSearchAttributes({ TransferState: ['parked'] })
  if (how === 'timer') await sleep('1h')
  else if (how === 'step') await hold()
  else await condition(() => false)
}
