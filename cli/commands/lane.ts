import { Command } from 'commander'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import type { LaneRow } from '../lanes.ts'
import { listLanes, readLane, resolveLane, toRow } from '../lanes.ts'
import { facts, print, table } from '../output.ts'
import { withClient } from '../temporal.ts'
import { batchListCommand } from './lane-batch-list.ts'
import { operatorTransactionListCommands } from './lane-transaction-list.ts'
import { operatorTransactionCommands } from './lane-transactions.ts'
import { modeCommands } from './lane-modes.ts'
import { nonceCommands } from './lane-nonces.ts'
import { laneArgument } from './lane-shared.ts'

/** `portage lane …` */
export function laneCommand(cli: Cli): Command {
  const command = new Command('lane')
    .description('Lanes: a key on a chain, and the ledger of its nonces.')
    .addCommand(listCommand(cli))
    .addCommand(showCommand(cli))
    .addCommand(batchListCommand(cli))
  for (const one of [
    ...modeCommands(cli),
    ...nonceCommands(cli),
    ...operatorTransactionCommands(cli),
    ...operatorTransactionListCommands(cli),
  ])
    command.addCommand(one)
  return command
}

function listCommand({ context, action }: Cli): Command {
  return new Command('list')
    .description('All lanes of the config, and every other ledger that runs.')
    .addHelpText('after', '\nExample:\n  portage lane list --json')
    .action(
      action(async (globals) => {
        const config = await readConfig(context, globals)
        const lanes = await withClient(config, (client) => listLanes(client, config))
        print(context, globals, { lanes }, lanes.length === 0 ? 'no lanes' : table(headings, lanes.map(toCells)))
        return exitCodes.ok
      }),
    )
}

function showCommand({ context, action }: Cli): Command {
  return laneArgument(new Command('show'))
    .description('The ledger of a lane: every nonce that is not final, whose it is and what was signed for it.')
    .addHelpText('after', '\nExample:\n  portage lane show evm-1:0x52908400098527886e0f7030069857d2e4169ee7')
    .action(
      action(async (globals, name: string, { chain }: { chain?: string }) => {
        const config = await readConfig(context, globals)
        const lane = resolveLane(config, name, chain)
        const state = await withClient(config, (client) => readLane(client, lane))
        print(context, globals, state, stateText(state))
        return exitCodes.ok
      }),
    )
}

const headings = ['lane', 'chain', 'status', 'next', 'mined', 'final', 'in flight', 'balance (wei)']

function toCells({ lane, chain, status, next, latest, finalized, inFlight, window, balance, reason }: LaneRow): string[] {
  const number = (value: number | undefined): string => (value === undefined ? '-' : String(value))
  const flight = inFlight === undefined ? '-' : `${inFlight}/${number(window)}`
  return [
    lane,
    chain ?? '(not in config)',
    reason ? `${status}: ${reason}` : status,
    number(next),
    number(latest),
    number(finalized),
    flight,
    balance ?? '-',
  ]
}

function stateText(state: LaneState): string {
  const configured = state.configured?.window
  const { lane, status, next, latest, finalized, inFlight, window, balance, reason } = toRow(state.config.lane, undefined, true, state)
  const head = facts({
    lane,
    status,
    reason,
    'next nonce': next,
    mined: latest,
    final: finalized,
    'in flight': `${inFlight}/${window}${configured === undefined || configured === window ? '' : ` (the config says ${configured})`}`,
    balance: balance && `${balance} wei`,
    ...state.counts,
  })
  const entries = Object.values(state.entries).sort((a, b) => a.nonce - b.nonce)
  if (entries.length === 0) return `${head}\n\nEvery nonce is final.`
  const rows = entries.map((entry) => {
    const last = entry.attempts.at(-1)
    const where = state.observed && entry.nonce < state.observed.latest ? 'mined' : entry.maybeSent ? 'sent' : 'in flight'
    return [
      String(entry.nonce),
      entry.fill ? `${where}, fill: ${entry.fill}` : where,
      String(entry.attempts.length),
      last?.maxFee ?? '-',
      entry.owner?.intentId ?? '(the lane)',
    ]
  })
  return `${head}\n\n${table(['nonce', 'state', 'attempts', 'max fee (wei)', 'intent'], rows)}`
}
