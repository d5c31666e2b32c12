import { Command } from 'commander'
import type { HaltScope } from '../../domain/settings/settings.ts'
import type { Cli } from '../context.ts'
import { order, scopeText, withAuthor } from '../settings.ts'

interface HaltOptions {
  readonly bridge?: string
  readonly chain?: string
  readonly source?: string
  readonly target?: string
  readonly all?: true
  readonly reason: string
  readonly by?: string
}

/** `portage halt` */
export function haltCommand(cli: Cli): Command {
  return scoped(new Command('halt'))
    .description(
      'Sign nothing new for a bridge, a chain, a route or everything. Transfers are taken in, and wait without a nonce; what is signed is still mined.',
    )
    .addHelpText('after', haltHelp)
    .action(
      cli.action(async (globals, options: HaltOptions, command: Command) => {
        const scope = scopeOf(options, command)
        const note = { done: `halted: ${scopeText(scope)}`, same: `${scopeText(scope)} is halted already` }
        return order(cli, globals, options, [{ kind: 'halt', scope }], note)
      }),
    )
}

/** `portage unhalt` */
export function unhaltCommand(cli: Cli): Command {
  return scoped(new Command('unhalt'))
    .description('End a halt. The scope is the one that it was given: portage settings shows all of them.')
    .addHelpText(
      'after',
      '\nExamples:\n  portage unhalt --all --reason "incident is over"\n  portage unhalt --target bsc --reason "node is back"',
    )
    .action(
      cli.action(async (globals, options: HaltOptions, command: Command) => {
        const scope = scopeOf(options, command)
        const note = {
          done: `no longer halted: ${scopeText(scope)}`,
          same: `there is no halt of ${scopeText(scope)}; portage settings shows all`,
        }
        return order(cli, globals, options, [{ kind: 'unhalt', scope }], note)
      }),
    )
}

function scoped(command: Command): Command {
  return withAuthor(
    command
      .option('--bridge <name>', 'what goes over this bridge')
      .option('--chain <name>', 'what comes from this chain or goes to it')
      .option('--source <chain>', 'what comes from this chain')
      .option('--target <chain>', 'what goes to this chain')
      .option('--all', 'everything'),
  )
}

/** Several options narrow each other. None of them is a mistake, so that nobody halts everything by leaving one out. */
function scopeOf({ bridge, chain, source: sourceChain, target: targetChain, all }: HaltOptions, command: Command): HaltScope {
  const scope: HaltScope = {
    ...(bridge !== undefined && { bridge }),
    ...(chain !== undefined && { chain }),
    ...(sourceChain !== undefined && { sourceChain }),
    ...(targetChain !== undefined && { targetChain }),
  }
  const narrowed = Object.keys(scope).length > 0
  if (narrowed === (all === true)) command.error('error: give either --all, or one or more of --bridge, --chain, --source and --target')
  return scope
}

const haltHelp = `
Every process sees it within some two seconds. Several options narrow each other: --source ethereum --target bsc is one route.

Examples:
  portage halt --all --reason "incident 12"
  portage halt --source ethereum --target bsc --reason "wrapper is being replaced" --by night-shift`
