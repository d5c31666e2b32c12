import { Command, InvalidArgumentError } from 'commander'
import { randomBytes } from 'node:crypto'
import { RelayerError } from '../../domain/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { OperatorTransactionInput, OperatorTransactionStatus } from '../../temporal/contracts/operator-transaction.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import type { Cli, ExitCode, GlobalOptions } from '../context.ts'
import { exitCodes } from '../context.ts'
import { spare, tokenBalance, withLaneChain } from '../lane-account.ts'
import { resolveLane } from '../lanes.ts'
import { facts, print } from '../output.ts'
import { laneArgument, withLane, wei, type LaneOptions } from './lane-shared.ts'
import type { Client } from '@temporalio/client'

const lane = '0x52908400098527886e0f7030069857d2e4169ee7'

interface OperatorTransactionOptions extends LaneOptions {
  readonly wait?: true
}

/** An operator's own transactions, through the ledger of the lane: `send`, `sweep`, `top-up`. */
export function operatorTransactionCommands(cli: Cli): Command[] {
  return [send(cli), sweep(cli), topUp(cli)]
}

function send({ context, action }: Cli): Command {
  return operatorTransactionOptions(laneArgument(new Command('send')))
    .description("Send one transaction with the lane's key. The signing policy of the lane must allow it.")
    .requiredOption('--to <address>', 'whom to call or pay', address)
    .option('--value <wei>', 'coins to send', wei, '0')
    .option('--data <hex>', 'call data', hex, '0x')
    .requiredOption('--reason <text>', 'why; kept with the operator transaction')
    .addHelpText(
      'after',
      `\nExample:\n  portage lane send ${lane} --to 0x8617e340b3d01fa5f11f306f4090fd50e238070d --value 1000 --reason "a refund" --wait`,
    )
    .action(
      action(
        async (
          globals: GlobalOptions,
          name: string,
          options: OperatorTransactionOptions & { to: string; value: string; data: string; reason: string },
        ) => {
          const { chain, to, value, data, reason, wait } = options
          return withLane({ context }, globals, { name, chain }, (id, client) =>
            run({ context, action }, globals, client, { lane: id, intent: { to, data, value }, reason }, wait),
          )
        },
      ),
    )
}

function sweep({ context, action }: Cli): Command {
  return operatorTransactionOptions(laneArgument(new Command('sweep')))
    .description(
      "Send what the lane does not need to the chain's treasury (chains.<name>.treasury). What the transfer itself may cost stays, too.",
    )
    .option('--keep <wei>', "coins that stay; default: the lane's minimumBalance", wei)
    .option('--token <address>', 'the whole balance of this ERC-20 token, instead of coins', address)
    .addHelpText('after', `\nExample:\n  portage lane sweep ${lane} --keep 500000000000000000 --wait`)
    .action(
      action(async (globals: GlobalOptions, name: string, options: OperatorTransactionOptions & { keep?: string; token?: string }) => {
        const { chain, keep, token, wait } = options
        return withLane({ context }, globals, { name, chain }, (id, client, config) =>
          withLaneChain(config, id, async (account) => {
            const { treasury } = account.config
            if (!treasury) throw new RelayerError('INPUT_INVALID', { detail: `chains.${account.name}.treasury is not in the config` })
            const kept = keep ?? account.lane.minimumBalance
            if (!token && kept === undefined) throw new RelayerError('INPUT_INVALID', { detail: 'say what stays: --keep <wei>' })
            const intent = token
              ? { to: token, data: transferCall(treasury.address, await tokenBalance(account, token)), value: '0' }
              : { to: treasury.address, data: '0x', value: await spare(account, treasury.address, BigInt(kept ?? '0')) }
            return run({ context, action }, globals, client, { lane: id, intent, reason: `sweep to the treasury` }, wait)
          }),
        )
      }),
    )
}

function topUp({ context, action }: Cli): Command {
  return operatorTransactionOptions(laneArgument(new Command('top-up')))
    .description('Send coins to a lane from another lane of its chain.')
    .requiredOption('--from <lane>', 'the lane that pays')
    .requiredOption('--amount <wei>', 'how much', wei)
    .addHelpText(
      'after',
      `\nExample:\n  portage lane top-up ${lane} --chain ethereum --from 0x8617e340b3d01fa5f11f306f4090fd50e238070d --amount 1000000000000000000`,
    )
    .action(
      action(async (globals: GlobalOptions, name: string, options: OperatorTransactionOptions & { from: string; amount: string }) => {
        const { chain, from, amount, wait } = options
        return withLane({ context }, globals, { name, chain }, (id, client, config) => {
          const payer = resolveLane(config, from, chain)
          if (network(payer) !== network(id) || payer === id) {
            throw new RelayerError('INPUT_INVALID', {
              detail: 'the two must be different lanes of one network',
              facts: { lane: id, from: payer },
            })
          }
          const intent = { to: laneAddress(id), data: '0x', value: amount }
          return run({ context, action }, globals, client, { lane: payer, intent, reason: `top-up of ${id}` }, wait)
        })
      }),
    )
}

function operatorTransactionOptions(command: Command): Command {
  return command.option('--wait', 'until it is final; without it, the id of its workflow is printed')
}

async function run(
  { context }: Cli,
  globals: GlobalOptions,
  client: Client,
  what: { lane: LaneId; intent: Intent; reason: string },
  wait: true | undefined,
): Promise<ExitCode> {
  const by = context.env['USER'] ?? 'operator'
  const handle = await client.workflow.start<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>(
    'operatorTransaction',
    {
      workflowId: `operator-transaction:${what.lane}:${randomBytes(8).toString('hex')}`,
      taskQueue: ledgerQueue,
      args: [{ ...what, by }],
      staticSummary: `${what.reason} (${what.lane})`,
    },
  )
  const about = { operatorTransaction: handle.workflowId, lane: what.lane, to: what.intent.to, value: `${what.intent.value} wei` }
  if (!wait) {
    print(context, globals, { ...about, intent: what.intent }, facts(about))
    return exitCodes.ok
  }
  // On stderr, since it can take as long as the chain does: stdout is for the result.
  context.stderr.write(`${handle.workflowId} goes on by itself; this waits until it is final (Ctrl-C ends the waiting only)\n`)
  const status = await handle.result()
  const { state, detail, txHash, nonce } = status
  print(
    context,
    globals,
    { operatorTransaction: handle.workflowId, ...status },
    facts({ ...about, state, detail, nonce, transaction: txHash }),
  )
  return state === 'done' ? exitCodes.ok : exitCodes.failure
}

/** ERC-20 `transfer(address,uint256)`. */
function transferCall(to: string, amount: bigint): string {
  return `0xa9059cbb${to.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
}

function network(id: LaneId): string {
  return id.slice(0, id.indexOf(':'))
}

function address(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('It must be an address: 0x and 40 hex digits.')
  return text.toLowerCase()
}

function hex(text: string): string {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(text)) throw new InvalidArgumentError('It must be 0x and whole bytes in hex.')
  return text.toLowerCase()
}
