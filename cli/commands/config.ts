import { Command } from 'commander'
import type { Cli } from '../context.ts'
import { exitCodes, configPath, readConfig } from '../context.ts'
import { facts, print } from '../output.ts'

/** `portage config check` */
export function configCommand({ context, action }: Cli): Command {
  const check = new Command('check')
    .description('Read the config and list all its problems at once, each with its field and what to do.')
    .addHelpText('after', '\nExample:\n  portage config check --config portage.yaml')
    .action(
      action(async (globals) => {
        const config = await readConfig(context, globals)
        const chains = Object.entries(config.chains)
        const summary = {
          valid: true,
          file: configPath(context, globals),
          chains: chains.map(([name]) => name),
          lanes: chains.reduce((count, [, chain]) => count + chain.lanes.length, 0),
          bridges: Object.keys(config.bridges),
        }
        const text = facts({
          config: 'valid',
          chains: summary.chains.join(', '),
          lanes: summary.lanes,
          bridges: summary.bridges.join(', '),
        })
        print(context, globals, summary, text)
        return exitCodes.ok
      }),
    )
  return new Command('config').description('The config file.').addCommand(check)
}
