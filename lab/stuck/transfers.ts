import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { triesUntilFailing } from '../../operations/causes/read.ts'
import { until } from '../devnet/until.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { TransferInput } from '../../temporal/contracts/transfer.ts'
import { sendCoin, type StuckCase, type StuckScene } from './scene.ts'

/** Starts a transfer's workflow with input that Portage's code does not expect. */
async function startBroken({ client }: StuckScene, sequence: string, broken: { readonly message?: unknown; readonly progress?: unknown }) {
  const good: Transfer = {
    // No user sends from this chain, so no halt or stream affects the transfer.
    ...{ bridge: 'wormhole-token-bridge', sourceChain: 'wormhole-1', sourceId: '1', targetChain: 'bsc' },
    ...{ emitter: 'b0'.repeat(32), sequence, digest: `0x${'b0'.repeat(32)}`, message: '' },
  }
  const id = transferId(good)
  const { message = '', ...carried } = broken
  await startTransfer(client, id, { transfer: { ...good, message: message as string }, ...carried } as TransferInput)
  return { id, mend: () => client.workflow.getHandle(id).terminate('the scenario is over') }
}

/** Adds an invalid line to the spending records of all keys of bsc. No process wrote this line. */
async function spoilSpending({ devnet: { dir, lanes } }: StuckScene): Promise<() => Promise<unknown>> {
  const hourMs = 3_600_000
  const files = lanes.flatMap(({ chain, address }) => {
    const folder = join(dir, 'portage-data', 'spending', `evm-1397_${address.toLowerCase()}`)
    return chain === 'bsc' ? [join(folder, `${Math.floor(Date.now() / hourMs) * hourMs}.log`)] : []
  })
  for (const file of files) {
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '\na scenario\n', { flag: 'a' })
  }
  return () => Promise.all(files.map((file) => rm(file)))
}

export const transferCases: readonly StuckCase[] = [
  {
    ...{ name: 'bug', fault: 'a step of a transfer throws an unexpected error', code: 'INTERNAL' },
    async make(scene) {
      const { mend } = await startBroken(scene, '900000001', { message: 7 })
      return { where: 'failing', mend }
    },
  },
  {
    ...{ name: 'workflow-failing', fault: 'the code of a workflow has thrown in three tries of its task', code: 'WORKFLOW_FAILING' },
    async make(scene) {
      const { id, mend } = await startBroken(scene, '900000002', { progress: {} })
      // Temporal makes the third try about ten seconds after the first two.
      const tries = async () => (await scene.client.workflow.getHandle(id).describe()).raw.pendingWorkflowTask?.attempt ?? 0
      await until(async () => (await tries()) >= triesUntilFailing, { timeoutMs: 90_000, everyMs: 100, what: 'three tries' })
      return { where: id, mend }
    },
  },
  {
    ...{ name: 'spending-unrecorded', fault: 'the spending records of the keys of a chain are damaged', code: 'SPENDING_UNRECORDED' },
    async make(scene) {
      const mend = await spoilSpending(scene)
      await sendCoin(scene, 'ethereum')
      return { mend }
    },
  },
]
