import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { limits } from '../../domain/stream/gaps.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { osUser, withAuthor } from '../settings.ts'
import { height, order, streamArgument, u64 } from '../streams.ts'

const example = 'native-bridge:ethereum:bsc'

interface Author {
  readonly reason: string
  readonly by?: string
}

/** What is ordered of a stream by one update: `skip`, `unskip`, `pause`, `resume`, `set-max-open`, `trust`. */
export function orderCommands(cli: Cli): Command[] {
  return [skip(cli), unskip(cli), pause(cli), resume(cli), setMaxOpen(cli), trust(cli)]
}

function skip(cli: Cli): Command {
  return withAuthor(streamArgument('skip').argument('<number>', 'the number', u64))
    .description('Resolve a number without a delivery, so that the watermark passes it. It is listed as an exception, with who and why.')
    .addHelpText(
      'after',
      `\nA transfer that runs under this number goes on: end it by portage transfer cancel.\n\nExample:\n  portage stream skip ${example} 118 --reason "a test message of the guardians"`,
    )
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, number: string, { reason, by = osUser() }: Author) =>
        order(
          cli,
          globals,
          stream,
          { kind: 'skip', number, by, reason },
          { done: `skipped ${number}`, same: `${number} is resolved already` },
        ),
      ),
    )
}

function unskip(cli: Cli): Command {
  return withAuthor(streamArgument('unskip').argument('<number>', 'the number', u64))
    .description('Take a number up again that was resolved, by a skip or wrongly: its transfer is started, or found delivered.')
    .addHelpText(
      'after',
      `\nA transfer that ended as rejected, declined or cancelled stays so: portage transfer retry starts it again.\n\nExample:\n  portage stream unskip ${example} 118 --reason "it was a real one"`,
    )
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, number: string, { reason, by = osUser() }: Author) =>
        order(cli, globals, stream, { kind: 'unskip', number, by, reason }, { done: `${number} is to be started again` }),
      ),
    )
}

function pause(cli: Cli): Command {
  return withAuthor(streamArgument('pause'))
    .description('Move the cursor no further and start nothing new. What is open goes on; portage halt stops that, too.')
    .addHelpText('after', `\nExample:\n  portage stream pause ${example} --reason "the source chain is being upgraded"`)
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, { reason, by = osUser() }: Author) =>
        order(cli, globals, stream, { kind: 'pause', by, reason }, { done: 'paused' }),
      ),
    )
}

function resume(cli: Cli): Command {
  return streamArgument('resume')
    .description('End a pause. The scan goes on where it stood.')
    .addHelpText('after', `\nExample:\n  portage stream resume ${example}`)
    .action(
      cli.action(async (globals: GlobalOptions, stream: string) => order(cli, globals, stream, { kind: 'resume' }, { done: 'resumed' })),
    )
}

function setMaxOpen(cli: Cli): Command {
  return streamArgument('set-max-open')
    .argument(
      '<transfers>',
      `most transfers that are under way at a time, 1 to ${limits.open}; parked ones do not count; configured: as the config has it`,
      mostOpen,
    )
    .description('Change how many transfers of the stream are under way at a time; beyond it the cursor waits. It outranks the config.')
    .option('--by <name>', 'who says so (default: the user of the operating system)')
    .addHelpText('after', `\nExamples:\n  portage stream set-max-open ${example} 50\n  portage stream set-max-open ${example} configured`)
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, most: number | 'configured', { by = osUser() }: { by?: string }) =>
        order(
          cli,
          globals,
          stream,
          { kind: 'setMaxOpen', by, ...(most !== 'configured' && { maxOpen: most }) },
          { done: most === 'configured' ? 'as many open as the config says' : `at most ${most} open` },
        ),
      ),
    )
}

function trust(cli: Cli): Command {
  return streamArgument('trust')
    .description('Take a watermark from elsewhere, such as an on-chain checkpoint: all up to a number is resolved. It only ever raises.')
    .requiredOption('--number <number>', 'all numbers up to this one are resolved', u64)
    .option('--height <block>', 'no block of the source up to this one has to be read', height)
    .option('--by <name>', 'who says so (default: the user of the operating system)')
    .addHelpText(
      'after',
      `\nNumbers up to it that were not delivered are never looked at again: be sure. Beyond the highest known number it is refused\n(portage stream audit asks the source for it). portage stream reread, to a block below that of the number, takes it back.\n\nExample:\n  portage stream trust ${example} --number 118000 --height 19000000`,
    )
    .action(
      cli.action(async (globals: GlobalOptions, stream: string, options: { number: string; height?: number; by?: string }) => {
        const { number, height: upTo, by = osUser() } = options
        const request = { kind: 'trust', number, by, ...(upTo !== undefined && { height: upTo }) } as const
        return order(cli, globals, stream, request, {
          done: `trusted up to ${number}`,
          same: `what is trusted is ${number} or more already`,
        })
      }),
    )
}

function mostOpen(text: string): number | 'configured' {
  if (text === 'configured') return text
  const most = height(text)
  if (most < 1 || most > limits.open) throw new InvalidArgumentError(`It must be from 1 to ${limits.open}.`)
  return most
}
