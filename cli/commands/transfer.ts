import { aboutTransfer } from '../../access/subjects.ts'
import {
  cancelTransfer,
  expediteTransfer,
  readTransfer,
  retryTransfer,
  startTransferAgain,
  type TransferReport,
} from '../../temporal/client/transfers.ts'
import type { Call, CommandSpec } from '../command.ts'
import { type Reasoned, invalid, withReason } from '../options.ts'
import { order } from '../orders.ts'
import { facts } from '../output.ts'
import { reportText } from '../transfer-text.ts'
import { submit } from './transfer-submit.ts'
import { list, watch } from './transfer-lists.ts'

export const transferCommand: CommandSpec = {
  description: 'Transfers: hand one in, look at them, retry, cancel, expedite.',
  commands: {
    submit,
    show: {
      description: 'Where a transfer is, what happened, and how it ended.',
      options: (command) => command.argument('<id>', 'transfer id, as list and submit print it'),
      examples: ['portage transfer show wormhole-token-bridge:2:0000…a585:269170:6d1b4c0c5f0a3e21 --json'],
      run: async ({ withTemporal }, id: string) => {
        const report = await withTemporal((client) => readTransfer(client, id))
        return { json: report, text: reportText(report) }
      },
    },
    list,
    watch,
    retry: {
      description: 'Try now: wakes a transfer that waits or is parked; starts one again that is closed and not delivered.',
      options: (command) => withReason(command.argument('<id>', 'transfer id')),
      notes: `Many at once, with Temporal's own CLI:
  temporal workflow signal --name retry --input '{"by":"night-shift","reason":"the node is back"}' \\
    --query "WorkflowType='transfer' AND TransferState='parked'"`,
      examples: ['portage transfer retry wormhole-token-bridge:2:0000…a585:269170:6d1b4c0c5f0a3e21 --reason "the node is back"'],
      run: ({ withOrder }: Call<Reasoned>, id: string) =>
        withOrder(async (client, _, allow) => {
          const report = await readTransfer(client, id)
          const { state, execution } = report
          const given = allow(aboutTransfer(targetOf(report)))
          if (state === 'delivered') throw invalid('This transfer is delivered: there is nothing to retry.', { transfer: id })
          const running = execution === 'RUNNING'
          await (running ? retryTransfer : startTransferAgain)(client, id, given)
          const done = running ? 'woken' : 'started again'
          return { json: { id, done }, text: facts({ transfer: id, done }) }
        }),
    },
    cancel: {
      description: 'End a transfer that is open. A nonce in flight gets a no-op of the lane; if the call wins, the transfer is delivered.',
      options: (command) => withReason(command.argument('<id>', 'transfer id')),
      examples: ['portage transfer cancel wormhole-token-bridge:… --reason "recipient asked for it"'],
      run: (call: Call<Reasoned>, id: string) =>
        order(call, { done: 'cancel; portage transfer watch shows how it ends' }, async (client, _, allow) => {
          const report = await readTransfer(client, id)
          const { state, execution } = report
          const given = allow(aboutTransfer(targetOf(report)))
          if (execution !== 'RUNNING') throw invalid('This transfer is closed already.', { transfer: id, state, execution })
          await cancelTransfer(client, id, given)
          return { result: 'asked', json: { id, asked: 'cancel' }, about: { transfer: id } }
        }),
    },
    expedite: {
      description: 'Raise the fee of the transaction of a transfer now, and let the transfer go first where a lane has no room for all.',
      options: (command) => withReason(command.argument('<id>', 'transfer id')),
      examples: ['portage transfer expedite wormhole-token-bridge:… --reason "the recipient waits"'],
      run: (call: Call<Reasoned>, id: string) =>
        order(call, { done: 'expedite; portage transfer watch shows what becomes of it' }, async (client, _, allow) => {
          const report = await readTransfer(client, id)
          const { state, execution } = report
          const given = allow(aboutTransfer(targetOf(report)))
          if (execution !== 'RUNNING') throw invalid('This transfer is closed already.', { transfer: id, state, execution })
          await expediteTransfer(client, id, given)
          return { result: 'asked', json: { id, asked: 'expedite' }, about: { transfer: id } }
        }),
    },
  },
}

function targetOf(report: TransferReport): string | undefined {
  return 'partial' in report ? report.targetChain : report.transfer.targetChain
}
