import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { UserTransfer } from '../../lab/devnet/wormhole/users.ts'
import { type Stage, startStage } from './e2e.ts'

/**
 * Starts a stage in which one process has delivered `first` to bsc. Audits are off, because an audit would start a
 * terminated transfer.
 */
export async function startStageWithoutAudit(
  first: UserTransfer,
): Promise<{ readonly stage: Stage; readonly portage: PortageProcess; readonly lane: string }> {
  const stage = await startStage({ consistencyLevel: 200, auditMinutes: 60 })
  try {
    const portage = await stage.portage()
    await stage.outcomes(await stage.send('ethereum', [first]))
    return { stage, portage, lane: stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address }
  } catch (error) {
    await stage.close()
    throw error
  }
}
