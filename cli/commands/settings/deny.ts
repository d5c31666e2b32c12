import { Argument, type Command } from 'commander'
import type { DenyRule } from '../../../domain/settings/settings.ts'
import type { Call, Commands } from '../../command.ts'
import { type Reasoned, withReason } from '../../arguments/options.ts'
import { sendToSettings } from '../../orders.ts'

export const denyCommands: Commands = {
  deny: {
    description:
      'Deliver nothing to a recipient, or nothing of a token: such transfers are declined. What is signed already is not held back.',
    options: listed,
    notes: `A recipient is <address>, on every chain, or <target chain>/<address>.
A token is <wormhole chain id>/<64 hex digits>: where it is native, and its address there.`,
    examples: ['portage deny recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "sanctions list"'],
    run: (call: Call<Reasoned>, what: DenyRule['kind'], value: string) => {
      const words = { done: `denied: ${what} ${value}`, same: `${what} ${value} is denied already` }
      return sendToSettings(call, words, [{ kind: 'deny', what, value }])
    },
  },
  allow: {
    description: 'Take a recipient or a token off the deny-list. Transfers that were declined meanwhile: portage transfer retry.',
    options: listed,
    examples: ['portage allow recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "cleared"'],
    run: (call: Call<Reasoned>, what: DenyRule['kind'], value: string) => {
      const same = `${what} ${value} is not denied; portage settings shows the deny-list`
      return sendToSettings(call, { done: `no longer denied: ${what} ${value}`, same }, [{ kind: 'allow', what, value }])
    },
  },
}

function listed(command: Command): Command {
  return withReason(
    command
      .addArgument(new Argument('<what>', 'which list').choices(['recipient', 'token']))
      .argument('<value>', 'the recipient or the token'),
  )
}
