import type { Transfer } from '../../domain/transfer/transfer.ts'
import { startTransfer } from '../../temporal/client/start-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { StuckCase, StuckScene } from './scene.ts'

/** A transfer that no code of ours starts: the step that reads its message throws what nobody foresaw, as a bug would. */
async function startBroken({ client }: StuckScene, sequence: string, transfer: Partial<Record<keyof Transfer, unknown>>) {
  const good: Transfer = {
    // Of a chain that nobody here sends from: no halt and no stream is about it.
    ...{ bridge: 'wormhole-token-bridge', sourceChain: 'wormhole-1', sourceId: '1', targetChain: 'bsc' },
    ...{ emitter: 'b0'.repeat(32), sequence, digest: `0x${'b0'.repeat(32)}`, message: '' },
  }
  const id = transferId(good)
  await startTransfer(client, id, { transfer: { ...good, ...transfer } as Transfer })
  return { id, mend: () => client.workflow.getHandle(id).terminate('the scenario is over') }
}

/** Bugs. */
export const transferCases: readonly StuckCase[] = [
  {
    ...{ name: 'bug', fault: 'a step of a transfer throws what nobody foresaw', code: 'INTERNAL' },
    async make(scene) {
      const { mend } = await startBroken(scene, '900000001', { message: 7 })
      return { where: 'failing', mend }
    },
  },
  {
    ...{ name: 'workflow-failing', fault: 'the code of a workflow throws at each of its tasks', code: 'WORKFLOW_FAILING' },
    async make(scene) {
      const { id, mend } = await startBroken(scene, '900000002', { digest: { of: 'another release' }, bridge: null })
      return { where: id, mend }
    },
  },
]
