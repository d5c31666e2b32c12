import type { Command } from 'commander'
import { coinOfLane } from '../../../config/networks.ts'
import { amountText, exactAmountText } from '../../../domain/text/amounts.ts'
import { lastPart, shortAddress, shortLane } from '../../../domain/text/short-id.ts'
import { kept } from '../../../domain/lane/entries.ts'
import { type Entry, laneAddress, type LaneId, type LaneState, workflowOf } from '../../../domain/lane/lane.ts'
import { listBatches } from '../../../temporal/client/transfers/batches.ts'
import { readLane } from '../../../temporal/client/lanes/lanes.ts'
import { hashesOfNonces } from '../../../temporal/client/lanes/nonce-lookup.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { laneArgument, type LaneOptions, withLane } from '../../arguments/subjects.ts'
import { isLow, type TokenReading, tokenText } from '../../../domain/lane/tokens.ts'
import { listLanesNow, readTokens } from '../../../operations/causes/lane-readings.ts'
import { ageText } from '../../../domain/text/age.ts'
import { toRow } from '../../../lanes/reports.ts'
import { parse } from '../../arguments/options.ts'
import {
  amountCell,
  type Cell,
  facts,
  type Facts,
  gasPriceCell,
  list,
  ordersSection,
  type Part,
  type Shortened,
  timeText,
} from '../../output/output.ts'
import { orderCommands, type Wait } from '../../orders.ts'
import { harmless } from '../../../domain/text/printable.ts'
import {
  followOperatorTransaction,
  listOperatorTransactions,
  type OperatorTransactionRow,
} from '../../../temporal/client/lanes/operator-transactions.ts'

const payment = waitUntil('done', 'wait until the transaction is final (default: print the id of its workflow)')

const cancellation = waitUntil('cancelled', 'wait until the transaction has ended; exit code 1 if it was not cancelled')

export const laneCommand: CommandSpec = {
  description: 'Lanes: a key on a chain, and the ledger of its nonces.',
  commands: {
    list: {
      description: 'All lanes in the config, and all other lanes whose ledger runs.',
      examples: ['portage lane list --json'],
      run: async ({ withTemporal, context }) => {
        const { lanes, coin } = await withTemporal(async (client, config) => ({
          lanes: await listLanesNow(client, config, context.env),
          coin: (lane: LaneId) => coinOfLane(config, lane),
        }))
        const rows = lanes.map(({ lane, chain, status, next, latest, finalized, inFlight, window, balance, balanceAt, reason, by }) => ({
          lane: { full: lane, short: chain === undefined ? shortLane(lane) : shortAddress(laneAddress(lane)) },
          chain: chain ?? '(not in config)',
          status: reason ? `${status}${by === undefined ? '' : ` by ${by}`}: ${reason}` : status,
          next,
          mined: latest,
          final: finalized,
          'in flight': inFlight === undefined ? undefined : `${inFlight}/${window ?? '-'}`,
          balance: balance === undefined ? undefined : balanceCell(balance, coin(lane), balanceAt),
        }))
        return { json: { lanes }, text: list('no lanes', rows, { wide: ['mined', 'final'] }) }
      },
    },
    show: {
      description: 'The ledger of a lane: every nonce that is not final, with its owner and its transactions, and the orders to the lane.',
      options: laneArgument,
      examples: ['portage lane show evm-1:0x52908400098527886e0f7030069857d2e4169ee7'],
      run: (call: Call<LaneOptions>, name: string) =>
        withLane(call, name, async (lane, client, config) => {
          const state = await readLane(client, lane)
          const entries = Object.values(state.entries).sort((a, b) => a.nonce - b.nonce)
          const hashes = await hashesOfNonces(client, lane, entries)
          const tokens = await readTokens(client, config, call.context.env, lane)
          const text = [
            stateFacts(state, coinOfLane(config, lane), tokens),
            ...ordersSection(state.orders),
            noncesText(state, entries, hashes),
          ]
          return { json: { ...state, ...(tokens.length > 0 && { tokens }), hashes: Object.fromEntries(hashes) }, text }
        }),
    },
    batches: {
      description: 'The open batches of a lane: calls that deliver several transfers each. --json also lists the transfers of each batch.',
      options: withClosed,
      examples: ['portage lane batches 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
      run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
        withLane(call, name, async (lane, client) => {
          const found = await listBatches(client, lane, call.options.closed)
          const rows = found.map(({ batch, startedAt, state, members, nonce, detail = '' }) => ({
            batch: { full: batch, short: lastPart(batch) },
            started: timeText(startedAt),
            ...{ state, transfers: members, nonce, detail },
          }))
          return { json: { lane, batches: found }, text: list('no batches', rows) }
        }),
    },
    ...orderCommands('lane', {
      ...{ 'lane send': payment, 'lane sweep': payment, 'lane top-up': payment },
      'lane cancel-transaction': cancellation,
    }),
    transactions: {
      description: "The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.",
      options: withClosed,
      examples: ['portage lane transactions 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
      run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
        withLane(call, name, async (lane, client, config) => {
          const rows = await listOperatorTransactions(client, lane, call.options.closed)
          const coin = coinOfLane(config, lane)
          const shown = rows.map((row) => transactionCells(row, coin))
          return { json: { lane, transactions: rows }, text: list('no transactions', shown) }
        }),
    },
  },
}

const nowMs = 30_000

function balanceCell(balance: string, coin: string | undefined, balanceAt = ''): Shortened {
  const ms = Date.now() - Date.parse(balanceAt)
  const age = ms <= nowMs ? '' : Number.isNaN(ms) ? ' (of unknown age)' : ` (${ageText(ms)} ago)`
  return { full: `${exactAmountText(balance, coin)}${age}`, short: `${amountText(balance, coin)}${age}` }
}

function stateFacts(state: LaneState, coin: string | undefined, tokens: readonly TokenReading[]): Facts {
  const { configured, observed } = state
  const { lane, status, next, latest, finalized, inFlight, window, balance, reason, by } = toRow(state.config.lane, undefined, true, state)
  const { kept: keptNow, keptLimit } = kept(state)
  const { granted, attempts, filled, released, external, rolledBack } = state.counts
  return facts({
    lane,
    status,
    reason,
    'ordered by': by,
    'next nonce': next,
    mined: latest,
    final: finalized,
    'in flight': `${inFlight}/${window}${configured.window === window ? '' : ` (the config says ${configured.window})`}`,
    'wait for finality': observed && `${keptNow} of at most ${keptLimit} nonces`,
    balance: amountCell(balance, coin),
    tokens: tokens.map((one) => `${tokenText(one, one.balance)}${isLow(one) ? ' (below its minimum)' : ''}`).join(', ') || undefined,
    'figures read': observed && `${ageText(Date.now() - observed.at)} ago, when they last changed something`,
    'nonces granted': granted,
    'further attempts': attempts,
    'filled by no-ops': filled,
    'given back': released,
    'used from outside': external,
    'rolled back': rolledBack,
  })
}

function noncesText({ observed }: LaneState, entries: readonly Entry[], hashes: ReadonlyMap<number, string>): Part {
  const rows = entries.map(({ nonce, attempts, maybeSent, fill, owner }) => {
    const where = observed && nonce < observed.latest ? 'mined' : maybeSent ? 'sent' : 'in flight'
    const hash = hashes.get(nonce)
    return {
      nonce,
      state: fill ? `${where}, fill: ${fill}` : where,
      attempts: attempts.length,
      'max fee': gasPriceCell(attempts.at(-1)?.maxFee),
      transaction: hash === undefined ? undefined : { full: hash, short: shortAddress(hash) },
      intent: owner ? { full: owner.intentId, short: lastPart(workflowOf(owner.intentId)) } : '(the lane)',
    }
  })
  return list('Every nonce is final.', rows)
}

function withClosed(command: Command): Command {
  return laneArgument(command).option('--closed <number>', 'also list this many ended items', parse.closed, 0)
}

function waitUntil(wanted: 'done' | 'cancelled', help: string): Wait {
  const until: Wait['until'] = async ({ context }, client, { json, text }) => {
    const { id } = json as { readonly id: string }
    const { asked: _, ...about } = text as Record<string, Cell>
    const say = (line: string) => context.stderr.write(`${harmless(line)}\n`)
    if (wanted === 'done') say(`${id} continues by itself; this command waits until it is final (Ctrl-C ends only the wait)`)
    const status = await followOperatorTransaction(client, id, say)
    const { state, detail, nonce, txHash: transaction } = status
    return { json: { id, ...status }, text: facts({ ...about, state, detail, nonce, transaction }), failed: state !== wanted }
  }
  return { help, until }
}

function transactionCells({ id, execution, startedAt, status }: OperatorTransactionRow, coin: string | undefined) {
  const { nonce, intent, by, reason, detail = '' } = status ?? {}
  return {
    transaction: { full: id, short: lastPart(id) },
    started: timeText(startedAt),
    state: status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase()),
    nonce,
    to: intent && { full: intent.to, short: shortAddress(intent.to) },
    value: amountCell(intent?.value, coin),
    ...{ by, reason, detail },
  }
}
