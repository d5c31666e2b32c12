import type { Command } from 'commander'
import type { HaltScope } from '../../../domain/settings/settings.ts'
import type { Call, Commands } from '../../command.ts'
import { type Reasoned, withReason } from '../../arguments/options.ts'
import { sendToSettings } from '../../orders.ts'
import { scopeText } from '../../output/settings-text.ts'

type HaltOptions = Reasoned & { readonly all?: true } & Partial<Record<'bridge' | 'chain' | 'source' | 'target', string>>

export const haltCommands: Commands = {
  halt: {
    description:
      'Sign nothing new for a bridge, a chain, a route or everything. Transfers are taken in and wait without a nonce; what is signed already is still mined.',
    options: scoped,
    notes: `Every process sees it within some two seconds. Several options narrow each other: --source ethereum --target bsc is one route.`,
    examples: [
      'portage halt --all --reason "incident 12"',
      'portage halt --source ethereum --target bsc --reason "wrapper is being replaced"',
    ],
    run: (call: Call<HaltOptions>) => {
      const [scope, name] = scopeOf(call)
      return sendToSettings(call, { done: `halted: ${name}`, same: `${name} is halted already` }, [{ kind: 'halt', scope }])
    },
  },
  unhalt: {
    description: 'End a halt. The scope is the one that it was given: portage settings shows all of them.',
    options: scoped,
    examples: ['portage unhalt --all --reason "incident is over"', 'portage unhalt --target bsc --reason "node is back"'],
    run: (call: Call<HaltOptions>) => {
      const [scope, name] = scopeOf(call)
      const words = { done: `no longer halted: ${name}`, same: `there is no halt of ${name}; portage settings shows all` }
      return sendToSettings(call, words, [{ kind: 'unhalt', scope }])
    },
  },
}

function scoped(command: Command): Command {
  return withReason(
    command
      .option('--bridge <name>', 'what goes over this bridge')
      .option('--chain <name>', 'what comes from this chain or goes to it')
      .option('--source <chain>', 'what comes from this chain')
      .option('--target <chain>', 'what goes to this chain')
      .option('--all', 'everything'),
  )
}

/** The scope and its text. No option at all is a mistake, so that a forgotten option does not halt everything. */
function scopeOf({ options, misuse }: Call<HaltOptions>): [HaltScope, string] {
  const { bridge, chain, source: sourceChain, target: targetChain, all } = options
  const scope: HaltScope = { bridge, chain, sourceChain, targetChain }
  const narrowed = Object.values(scope).some((part) => part !== undefined)
  if (narrowed === (all === true)) misuse('give either --all, or one or more of --bridge, --chain, --source and --target')
  return [scope, scopeText(scope)]
}
