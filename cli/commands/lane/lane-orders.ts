import { type LaneMode, setLaneMode } from '../../../temporal/client/lanes/lanes.ts'
import type { Call, Commands, CommandSpec } from '../../command.ts'
import { aboutLane } from '../../../config/lane-names.ts'
import { findLane, laneArgument, laneOrder, type LaneOptions, sendToLane } from '../../arguments/lanes.ts'
import { type Reasoned, parse, numberWithin, withReason } from '../../arguments/options.ts'
import { order } from '../../orders.ts'

const lane = '0x52908400098527886e0f7030069857d2e4169ee7'

/** What operators do to the nonces of a lane. */
export const nonceCommands: Commands = {
  resync: {
    description:
      'Read the account anew, on the word of more than half of the nodes, before the next nonce is given out. Nothing is forgotten.',
    options: laneOrder,
    examples: [`portage lane resync ${lane} --reason "the key was used elsewhere"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string) => sendToLane(call, name, 'resync', { kind: 'resync' }),
  },
  fill: {
    description: 'Mine a nonce that no intent owns with a no-op now: one of an earlier ledger, or given back.',
    options: (command) => laneOrder(command).argument('<nonce>', 'the nonce', parse.number),
    examples: [`portage lane fill ${lane} 118 --reason "of an earlier ledger"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string, nonce: number) =>
      sendToLane(call, name, `fill ${nonce}`, { kind: 'fill', nonce, reason: 'operator' }),
  },
  'cancel-nonce': {
    description:
      'Replace the transaction of a nonce by a no-op. Its transfer is told when that is final, and tries again with another nonce.',
    options: (command) => laneOrder(command).argument('<nonce>', 'the nonce', parse.number),
    examples: [`portage lane cancel-nonce ${lane} 118 --reason "the recipient asked for it"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string, nonce: number) =>
      sendToLane(call, name, `cancel nonce ${nonce}`, { kind: 'cancelNonce', nonce }),
  },
  replace: {
    description:
      'Send the transaction of a nonce again with a higher fee, at the next block: at least 20 % more, or the market, or what is named.',
    options: (command) =>
      laneOrder(command)
        .argument('<nonce>', 'the nonce', parse.number)
        .option('--max-fee <amount>', 'at least this fee per gas: 90gwei', parse.wei)
        .option('--tip <amount>', 'at least this tip per gas: 3gwei', parse.wei),
    examples: [`portage lane replace ${lane} 118 --max-fee 90gwei --tip 3gwei --reason "it must go now"`],
    run: (call: Call<LaneOptions & Reasoned & { maxFee?: string; tip?: string }>, name: string, nonce: number) => {
      const { maxFee, tip } = call.options
      return sendToLane(call, name, `replace ${nonce}`, { kind: 'replace', nonce, maxFee, tip })
    },
  },
  republish: {
    description: 'Send what is signed and in no block to every node again, the same bytes. Portage does so by itself every few blocks.',
    options: (command) => laneOrder(command).argument('[nonce]', 'only this nonce (default: all that are in no block)', parse.number),
    examples: [`portage lane republish ${lane} --reason "the node's pool was emptied"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string, nonce: number | undefined) =>
      sendToLane(call, name, nonce === undefined ? 'republish all' : `republish ${nonce}`, { kind: 'republish', nonce }),
  },
  'set-window': {
    description: 'Change how many nonces may be in flight. It stays until the window in the config is changed.',
    options: (command) =>
      // As the config bounds it (config/schema/schema.ts).
      laneOrder(command).argument('<nonces>', 'most nonces in flight, up to 128; 0: none', numberWithin(0, 128)),
    examples: [`portage lane set-window ${lane} 32 --reason "the pool takes more"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string, window: number) =>
      sendToLane(call, name, `window ${window}`, { kind: 'setWindow', window }),
  },
  reset: {
    description: 'Forget every nonce, and begin anew from the account: for a chain that was replaced by another (LANE_CHAIN_REPLACED).',
    options: (command) =>
      withReason(
        laneArgument(command).requiredOption(
          '--chain-replaced',
          'yes, the chain was replaced: what was sent on the old one is not on the new one',
        ),
      ),
    examples: [`portage lane reset ${lane} --chain-replaced --reason "the test network began anew"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string) => sendToLane(call, name, 'reset', { kind: 'reset' }),
  },
}

/** A command that changes what work a lane takes. */
function modeCommand(mode: LaneMode, description: string, reason: string): CommandSpec {
  return {
    description,
    options: laneOrder,
    examples: [`portage lane ${mode} evm-1:${lane} --reason "${reason}"`],
    run: (call: Call<LaneOptions & Reasoned>, name: string) =>
      // It is kept even while no worker serves the ledger.
      order(call, { done: mode }, async (client, config, allow) => {
        const lane = await findLane(client, config, name, call.options.chain)
        await setLaneMode(client, lane, mode, allow(aboutLane(config, lane)))
        return { result: 'asked', json: { lane, asked: mode }, about: { lane } }
      }),
  }
}

export const modeCommands: Commands = {
  pause: modeCommand(
    'pause',
    'Give out no more nonces. What is in flight is still followed and replaced; transfers without a nonce go to another lane.',
    'key rotation',
  ),
  resume: modeCommand('resume', 'Give out nonces again after a pause.', 'the key is in place'),
  drain: modeCommand(
    'drain',
    'Take no new work but operator transactions (send, sweep, top-up), until nothing is in flight: to take a key out of use.',
    'the key is replaced',
  ),
  forbid: modeCommand(
    'forbid',
    'Take no new work at all, and let transfers leave whose transaction is not mined: for a key that must not be used.',
    'the key may have leaked',
  ),
  activate: modeCommand('activate', 'End pause, drain and forbid.', 'the key is safe'),
} satisfies Record<LaneMode, CommandSpec>
