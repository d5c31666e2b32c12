import { Command } from 'commander'
import { fromTemporal } from '../../api/temporal-errors.ts'
import type { LaneState } from '../../domain/lane.ts'
import { pauseSignal, resumeSignal } from '../../temporal/messages.ts'
import { laneWorkflowId } from '../../temporal/names.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import type { LaneRow } from '../lanes.ts'
import { listLanes, readLane, resolveLane, toRow } from '../lanes.ts'
import { facts, print, table } from '../output.ts'
import { withClient } from '../temporal.ts'

/** `portage lane …` */
export function laneCommand(cli: Cli): Command {
  return new Command('lane')
    .description('Lanes: a key on a chain, and the ledger of its nonces.')
    .addCommand(listCommand(cli))
    .addCommand(showCommand(cli))
    .addCommand(pauseCommand(cli))
    .addCommand(resumeCommand(cli))
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

function pauseCommand({ context, action }: Cli): Command {
  return laneArgument(new Command('pause'))
    .description('Give out no more nonces. What is in flight is still followed and replaced.')
    .requiredOption('--reason <text>', 'why; shown to whoever asks the lane for a nonce')
    .addHelpText('after', '\nExample:\n  portage lane pause evm-1:0x52908400098527886e0f7030069857d2e4169ee7 --reason "key rotation"')
    .action(
      action(async (globals, name: string, { chain, reason }: { chain?: string; reason: string }) =>
        tell({ context, action }, globals, { name, chain, asked: 'pause' }, (handle) => handle.signal(pauseSignal, { reason })),
      ),
    )
}

function resumeCommand({ context, action }: Cli): Command {
  return laneArgument(new Command('resume'))
    .description('Give out nonces again.')
    .action(
      action(async (globals, name: string, { chain }: { chain?: string }) =>
        tell({ context, action }, globals, { name, chain, asked: 'resume' }, (handle) => handle.signal(resumeSignal)),
      ),
    )
}

type Handle = ReturnType<Parameters<Parameters<typeof withClient>[1]>[0]['workflow']['getHandle']>

/** A signal, not an update: it is kept even when no worker serves the ledger at the moment. */
async function tell(
  { context }: Cli,
  globals: GlobalOptions,
  what: { name: string; chain: string | undefined; asked: string },
  send: (handle: Handle) => Promise<void>,
) {
  const config = await readConfig(context, globals)
  const lane = resolveLane(config, what.name, what.chain)
  await withClient(config, async (client) => {
    try {
      await send(client.workflow.getHandle(laneWorkflowId(lane)))
    } catch (error) {
      throw fromTemporal(error, 'LANE_NOT_FOUND', { lane })
    }
  })
  print(context, globals, { lane, asked: what.asked }, facts({ lane, asked: what.asked }))
  return exitCodes.ok
}

function laneArgument(command: Command): Command {
  return command
    .argument('<lane>', 'lane id (evm-1:0x…), or the address of a configured lane')
    .option('--chain <name>', 'the chain, where several have this address')
}

const headings = ['lane', 'chain', 'status', 'next', 'mined', 'final', 'in flight', 'balance (wei)']

function toCells({ lane, chain, status, next, latest, finalized, inFlight, window, balance, pausedFor }: LaneRow): string[] {
  const number = (value: number | undefined): string => (value === undefined ? '-' : String(value))
  const flight = inFlight === undefined ? '-' : `${inFlight}/${number(window)}`
  return [
    lane,
    chain ?? '(not in config)',
    pausedFor ? `${status}: ${pausedFor}` : status,
    number(next),
    number(latest),
    number(finalized),
    flight,
    balance ?? '-',
  ]
}

function stateText(state: LaneState): string {
  const { lane, status, next, latest, finalized, inFlight, window, balance, pausedFor } = toRow(state.config.lane, undefined, true, state)
  const head = facts({
    lane,
    status,
    'paused for': pausedFor,
    'next nonce': next,
    mined: latest,
    final: finalized,
    'in flight': `${inFlight}/${window}`,
    balance: balance && `${balance} wei`,
    ...state.counts,
  })
  const entries = Object.values(state.entries).sort((a, b) => a.nonce - b.nonce)
  if (entries.length === 0) return `${head}\n\nEvery nonce is final.`
  const rows = entries.map((entry) => {
    const last = entry.attempts.at(-1)
    const where = state.observed && entry.nonce < state.observed.latest ? 'mined' : entry.maybeSent ? 'sent' : 'granted'
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
