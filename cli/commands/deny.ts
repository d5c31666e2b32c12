import { Argument, Command } from 'commander'
import type { Denial } from '../../domain/settings/settings.ts'
import type { Cli } from '../context.ts'
import { order, withAuthor } from '../settings.ts'

interface Options {
  readonly reason: string
  readonly by?: string
}

/** `portage deny recipient|token <value>` */
export function denyCommand(cli: Cli): Command {
  return listed(new Command('deny'))
    .description(
      'Deliver nothing to a recipient, or nothing of a token: such transfers are declined. What is signed already is not held back.',
    )
    .addHelpText(
      'after',
      `${values}\n\nExample:\n  portage deny recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "sanctions list"`,
    )
    .action(
      cli.action(async (globals, what: Denial['kind'], value: string, options: Options) => {
        const note = { done: `denied: ${what} ${value}`, same: `${what} ${value} is denied already` }
        return order(cli, globals, options, [{ kind: 'deny', what, value }], note)
      }),
    )
}

/** `portage allow recipient|token <value>` */
export function allowCommand(cli: Cli): Command {
  return listed(new Command('allow'))
    .description('Take a recipient or a token off the deny-list. Transfers that were declined meanwhile: portage transfer retry.')
    .addHelpText('after', '\nExample:\n  portage allow recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "cleared"')
    .action(
      cli.action(async (globals, what: Denial['kind'], value: string, options: Options) => {
        const note = { done: `no longer denied: ${what} ${value}`, same: `${what} ${value} is not denied; portage settings shows who is` }
        return order(cli, globals, options, [{ kind: 'allow', what, value }], note)
      }),
    )
}

function listed(command: Command): Command {
  return withAuthor(
    command
      .addArgument(new Argument('<what>', 'which list').choices(['recipient', 'token']))
      .argument('<value>', 'the recipient or the token'),
  )
}

const values = `
A recipient is <address>, on every chain, or <target chain>/<address>.
A token is <wormhole chain id>/<64 hex digits>: where it is native, and its address there.`
