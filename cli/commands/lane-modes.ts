import { Command } from 'commander'
import { activateSignal, drainSignal, forbidSignal, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { laneArgument, tell, type LaneHandle, type LaneOptions } from './lane-shared.ts'

/** Whether a lane takes work: `pause`, `resume`, `drain`, `forbid`, `activate`. */
export function modeCommands(cli: Cli): Command[] {
  return [
    withReason(cli, {
      name: 'pause',
      description: 'Give out no more nonces. What is in flight is still followed and replaced; who waits goes to another lane.',
      example: 'portage lane pause evm-1:0x52908400098527886e0f7030069857d2e4169ee7 --reason "key rotation"',
      send: (handle, reason) => handle.signal(pauseSignal, { reason }),
    }),
    plain(cli, { name: 'resume', description: 'Give out nonces again after a pause.', send: (handle) => handle.signal(resumeSignal) }),
    withReason(cli, {
      name: 'drain',
      description:
        'Take no new work but operator transactions (send, sweep, top-up), until nothing is in flight: to take a key out of use.',
      example: 'portage lane drain 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --reason "the key is replaced"',
      send: (handle, reason) => handle.signal(drainSignal, { reason }),
    }),
    withReason(cli, {
      name: 'forbid',
      description: 'Take no new work at all, and let transfers leave whose transaction is not mined: for a key that must not be used.',
      example: 'portage lane forbid 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --reason "the key may have leaked"',
      send: (handle, reason) => handle.signal(forbidSignal, { reason }),
    }),
    plain(cli, { name: 'activate', description: 'End pause, drain and forbid.', send: (handle) => handle.signal(activateSignal) }),
  ]
}

interface Mode {
  readonly name: string
  readonly description: string
}

function withReason(cli: Cli, mode: Mode & { example: string; send: (handle: LaneHandle, reason: string) => Promise<void> }): Command {
  return laneArgument(new Command(mode.name))
    .description(mode.description)
    .requiredOption('--reason <text>', 'why; shown to whoever asks the lane for a nonce')
    .addHelpText('after', `\nExample:\n  ${mode.example}`)
    .action(
      cli.action(async (globals: GlobalOptions, name: string, { chain, reason }: LaneOptions & { reason: string }) =>
        tell(cli, globals, { name, chain, asked: mode.name }, (handle) => mode.send(handle, reason)),
      ),
    )
}

function plain(cli: Cli, { name: asked, description, send }: Mode & { send: (handle: LaneHandle) => Promise<void> }): Command {
  return laneArgument(new Command(asked))
    .description(description)
    .addHelpText('after', `\nExample:\n  portage lane ${asked} evm-1:0x52908400098527886e0f7030069857d2e4169ee7`)
    .action(
      cli.action(async (globals: GlobalOptions, name: string, { chain }: LaneOptions) => tell(cli, globals, { name, chain, asked }, send)),
    )
}
