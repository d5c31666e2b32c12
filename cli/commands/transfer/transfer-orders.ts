import { createInterface } from 'node:readline'
import { aboutTransfer } from '../../../operations/access/subjects.ts'
import type { Config } from '../../../config/schema/schema.ts'
import {
  type ManyResult,
  orderTransfer,
  orderTransfers,
  type Selection,
  selectTransfers,
  type TransferOrder,
  transferOrders,
} from '../../../temporal/client/transfers/transfer-orders.ts'
import { describeTransfer } from '../../../temporal/client/transfers/transfers.ts'
import { invalid, type OrderContext } from '../../../operations/orders/spec.ts'
import type { Call, Commands, CommandSpec } from '../../command.ts'
import { facts, type Outcome, section } from '../../output/output.ts'
import type { CliContext } from '../../context.ts'
import { numberWithin, type Reasoned, withReason } from '../../arguments/options.ts'
import { filterOf, type FilterOptions, findTransfer, selectionOf, transferForms, withFilter } from '../../arguments/subjects.ts'
import { lastPart } from '../../../domain/text/short-id.ts'
import type { TransferSelection } from '../../../operations/orders/transfer-filter.ts'
import { orderText } from '../../orders.ts'
import { rowsText } from '../../output/transfer-text.ts'

type OrderOptions = Reasoned & FilterOptions & { readonly dryRun?: true; readonly yes?: true; readonly limit: number }

const mostOrdered = 1_000

function transferOrder(kind: TransferOrder): CommandSpec {
  return {
    ...orderText(`transfer ${kind}`),
    options: (command) =>
      withReason(withFilter(command.argument('[id]', `transfer: ${transferForms}; without an id, all transfers that match the options`)))
        .option('--limit <number>', 'order at most this many transfers', numberWithin(1, mostOrdered), 100)
        .option('--dry-run', 'show the selected transfers, and order nothing')
        .option('--yes', 'do not ask for a confirmation'),
    run: (call: Call<OrderOptions>, id: string | undefined) => {
      const selection = selectionOf(call.options)
      if ((id === undefined) === (selection === undefined)) call.misuse('give either a transfer, or options that select some')
      return call.withOrder((client, config, allow) => {
        const setting = { kind, call, client, config, allow, selection }
        return id === undefined ? orderMany(setting) : orderOne(setting, id)
      })
    },
  }
}

export const transferOrderCommands: Commands = Object.fromEntries(transferOrders.map((kind) => [kind, transferOrder(kind)]))

interface Setting extends Pick<OrderContext, 'client' | 'allow'> {
  readonly kind: TransferOrder
  readonly call: Call<OrderOptions>
  readonly config: Config
  readonly selection: TransferSelection | undefined
}

async function orderOne({ kind, call, client, config, allow }: Setting, given: string): Promise<Outcome> {
  const transfer = await describeTransfer(client, await findTransfer(client, config, given))
  const { id, state } = transfer
  const order = allow(aboutTransfer(transfer.targetChain))
  if (call.options.dryRun)
    return { json: { dryRun: true, transfers: [transfer] }, text: facts({ transfer: id, state, ordered: `nothing: --dry-run` }) }
  const result = await orderTransfer(client, transfer, kind, order)
  if (result !== 'asked') return { json: { id, done: result }, text: facts({ transfer: id, done: result }) }
  return { json: { id, asked: kind }, text: facts({ asked: `${kind}; portage transfer watch shows what becomes of it`, transfer: id }) }
}

async function orderMany({ kind, call, client, config, allow, selection }: Setting): Promise<Outcome> {
  const { options, context } = call
  // Checks the scope first, because a dry run must not reveal transfers outside the scope.
  const order = allow(aboutTransfer(selection?.targetChain))
  const found = await selectTransfers(client, kind, await filterOf(client, config, selection), options.limit)
  const { transfers, more } = found
  const rest = more ? ', and more match: order these first, then again' : ''
  if (options.dryRun || transfers.length === 0) {
    return {
      json: { dryRun: options.dryRun === true, matched: transfers.length, more, transfers },
      text: [rowsText(transfers), `${transfers.length} selected to ${kind}${rest}.`],
    }
  }
  if (transfers.length > 1 && !options.yes) await confirm(context, kind, found)
  const results = await orderTransfers(client, transfers, kind, order)
  const failed = results.filter((one) => 'error' in one)
  return {
    json: { dryRun: false, matched: transfers.length, more, results: results.map(toJson) },
    text: [
      ...section(failed, ({ id, error: { code, message } }) => ({
        transfer: { full: id, short: lastPart(id) },
        refused: `${code}: ${message}`,
      })),
      `${results.length - failed.length} of ${transfers.length} accepted the order to ${kind}${rest}.`,
    ],
    failed: failed.length > 0,
  }
}

async function confirm({ stdin, stderr }: CliContext, kind: TransferOrder, { transfers, more }: Selection): Promise<void> {
  const count = `${more ? 'the first ' : ''}${transfers.length} transfers`
  if (!stdin.isTTY) throw invalid(`${count} match: check them with --dry-run, then give --yes to ${kind} them.`)
  stderr.write(`${kind} ${count}? [y/N] `)
  const lines = createInterface({ input: stdin })
  const { value: answer = '' } = await lines[Symbol.asyncIterator]().next()
  lines.close()
  if (!/^y(es)?$/i.test(String(answer).trim())) throw invalid('Nothing was ordered.')
}

function toJson(one: ManyResult): object {
  if (!('error' in one)) return one
  const { code, message, remedy, facts: about } = one.error
  return { id: one.id, error: { code, message, remedy, facts: about } }
}
