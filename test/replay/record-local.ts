import { died, resubmit, sendCoins, startDoomed, startSound } from '../faults/processes.ts'
import { startStage } from '../helpers/e2e.ts'
import type { Keep } from './record.ts'

/** Records a local broadcast, and a local broadcast whose process dies between signing and sending. */
export async function recordLocal(keep: Keep): Promise<void> {
  const stage = await startStage({ worker: {}, broadcast: 'auto' })
  try {
    const first = await startSound(stage)
    const [happy] = await sendCoins(stage, 1)
    await stage.reaches(happy!.id, 'delivered')
    await keep('broadcast-local', stage, happy!.id)
    await stage.end(first)
    const doomed = await startDoomed(stage, 'after-sign', 'kill', 1)
    const sent = await sendCoins(stage, 1)
    await died(stage, doomed)
    const sound = await startSound(stage)
    await resubmit(stage, sound, sent)
    await stage.reaches(sent[0]!.id, 'delivered', 60_000)
    await keep('broadcast-local-then-queue', stage, sent[0]!.id)
  } finally {
    await stage.close()
  }
}
