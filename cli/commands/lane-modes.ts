import type { LaneMode } from '../../temporal/client/lanes.ts'
import { type Call, defineCommand } from '../command.ts'
import { laneArgument, type LaneOptions, toLaneMode } from '../lanes.ts'
import { order } from '../orders.ts'

/** The commands that change what work a lane takes. Those with an example of a reason require --reason. */
const modes: Record<LaneMode, { readonly description: string; readonly reason?: string }> = {
  pause: {
    description: 'Give out no more nonces. What is in flight is still followed and replaced; transfers without a nonce go to another lane.',
    reason: 'key rotation',
  },
  resume: { description: 'Give out nonces again after a pause.' },
  drain: {
    description: 'Take no new work but operator transactions (send, sweep, top-up), until nothing is in flight: to take a key out of use.',
    reason: 'the key is replaced',
  },
  forbid: {
    description: 'Take no new work at all, and let transfers leave whose transaction is not mined: for a key that must not be used.',
    reason: 'the key may have leaked',
  },
  activate: { description: 'End pause, drain and forbid.' },
}

export const modeCommands = (Object.keys(modes) as LaneMode[]).map((mode) => {
  const { description, reason } = modes[mode]
  return defineCommand({
    name: mode,
    description,
    options: (command) => {
      laneArgument(command)
      return reason ? command.requiredOption('--reason <text>', 'why; shown to everything that asks the lane for a nonce') : command
    },
    examples: [`portage lane ${mode} evm-1:0x52908400098527886e0f7030069857d2e4169ee7${reason ? ` --reason "${reason}"` : ''}`],
    run: (call: Call<LaneOptions & { reason?: string }>, name: string) => order(call, toLaneMode(name, call.options, mode), { done: mode }),
  })
})
