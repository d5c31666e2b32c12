import { Command, InvalidArgumentError } from 'commander'
import type { Cli, GlobalOptions } from '../context.ts'
import { laneArgument, order, wei, type LaneOptions } from './lane-shared.ts'

const lane = '0x52908400098527886e0f7030069857d2e4169ee7'

/** What operators do to the nonces of a lane: `resync`, `fill`, `cancel-nonce`, `replace`, `set-window`, `reset`. */
export function nonceCommands(cli: Cli): Command[] {
  return [resync(cli), fill(cli), cancelNonce(cli), replace(cli), setWindow(cli), reset(cli)]
}

function resync({ context, action }: Cli): Command {
  return laneArgument(new Command('resync'))
    .description(
      'Read the account anew, on the word of more than half of the nodes, before the next nonce is given out. Nothing is forgotten.',
    )
    .addHelpText('after', `\nExample:\n  portage lane resync ${lane}`)
    .action(
      action(async (globals: GlobalOptions, name: string, { chain }: LaneOptions) =>
        order({ context, action }, globals, { name, chain, ordered: 'resync' }, { kind: 'resync' }),
      ),
    )
}

function fill({ context, action }: Cli): Command {
  return laneArgument(new Command('fill'))
    .argument('<nonce>', 'the nonce', whole)
    .description('Mine a nonce that is nobody’s with a no-op now: one of an earlier ledger, or given back.')
    .addHelpText('after', `\nExample:\n  portage lane fill ${lane} 118`)
    .action(
      action(async (globals: GlobalOptions, name: string, nonce: number, { chain }: LaneOptions) =>
        order({ context, action }, globals, { name, chain, ordered: `fill ${nonce}` }, { kind: 'fill', nonce, reason: 'operator' }),
      ),
    )
}

function cancelNonce({ context, action }: Cli): Command {
  return laneArgument(new Command('cancel-nonce'))
    .argument('<nonce>', 'the nonce', whole)
    .description(
      'Replace the transaction of a nonce by a no-op. Its transfer is told when that is final, and tries again with another nonce.',
    )
    .addHelpText('after', `\nExample:\n  portage lane cancel-nonce ${lane} 118`)
    .action(
      action(async (globals: GlobalOptions, name: string, nonce: number, { chain }: LaneOptions) =>
        order({ context, action }, globals, { name, chain, ordered: `cancel nonce ${nonce}` }, { kind: 'cancelNonce', nonce }),
      ),
    )
}

function replace({ context, action }: Cli): Command {
  return laneArgument(new Command('replace'))
    .argument('<nonce>', 'the nonce', whole)
    .description(
      'Send the transaction of a nonce again with a higher fee, at the next block: at least 20 % more, or the market, or what is named.',
    )
    .option('--max-fee <wei>', 'at least this fee per gas', wei)
    .option('--tip <wei>', 'at least this tip per gas', wei)
    .addHelpText('after', `\nExample:\n  portage lane replace ${lane} 118 --max-fee 90000000000 --tip 3000000000`)
    .action(
      action(async (globals: GlobalOptions, name: string, nonce: number, options: LaneOptions & { maxFee?: string; tip?: string }) => {
        const { chain, maxFee, tip } = options
        const fees = { ...(maxFee && { maxFee }), ...(tip && { tip }) }
        return order({ context, action }, globals, { name, chain, ordered: `replace ${nonce}` }, { kind: 'replace', nonce, ...fees })
      }),
    )
}

function setWindow({ context, action }: Cli): Command {
  return laneArgument(new Command('set-window'))
    .argument('<nonces>', 'most nonces in flight, up to 128; 0: none', windowSize)
    .description('Change how many nonces may be in flight. It stays until the window in the config is changed.')
    .addHelpText('after', `\nExample:\n  portage lane set-window ${lane} 32`)
    .action(
      action(async (globals: GlobalOptions, name: string, window: number, { chain }: LaneOptions) =>
        order({ context, action }, globals, { name, chain, ordered: `window ${window}` }, { kind: 'setWindow', window }),
      ),
    )
}

function reset({ context, action }: Cli): Command {
  return laneArgument(new Command('reset'))
    .description('Forget every nonce, and begin anew from the account: for a chain that was replaced by another (LANE_CHAIN_REPLACED).')
    .requiredOption('--chain-replaced', 'yes, the chain was replaced: what was sent on the old one is not on the new one')
    .addHelpText('after', `\nExample:\n  portage lane reset ${lane} --chain-replaced`)
    .action(
      action(async (globals: GlobalOptions, name: string, { chain }: LaneOptions) =>
        order({ context, action }, globals, { name, chain, ordered: 'reset' }, { kind: 'reset' }),
      ),
    )
}

function whole(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** As the config bounds it (config/schema.ts). */
function windowSize(text: string): number {
  const window = whole(text)
  if (window > 128) throw new InvalidArgumentError('It must be from 0 to 128.')
  return window
}
