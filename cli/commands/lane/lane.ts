import { coinOfLane } from '../../../config/coins.ts'
import { amountText, exactAmountText } from '../../../domain/text/amounts.ts'
import { lastPart, shortAddress, shortLane } from '../../../domain/text/short-id.ts'
import { kept } from '../../../domain/lane/entries.ts'
import { laneAddress, type LaneId, workflowOf, type LaneState } from '../../../domain/lane/lane.ts'
import { listBatches } from '../../../temporal/client/transfers/batches.ts'
import { readLane } from '../../../temporal/client/lanes/lanes.ts'
import { hashesOfNonces } from '../../../temporal/client/lanes/nonce-lookup.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { laneArgument, type LaneOptions, withLane } from '../../arguments/lanes.ts'
import { listLanesNow } from '../../../operations/causes/lane-readings.ts'
import { ageText } from '../../../domain/text/age.ts'
import { toRow } from '../../../lanes/reports.ts'
import { parse } from '../../arguments/options.ts'
import {
  amountCell,
  type Cell,
  facts,
  gasPriceCell,
  type Heading,
  list,
  ordersSection,
  type Shortened,
  type Text,
  timeText,
} from '../../output/output.ts'
import { orderCommands } from '../../orders.ts'
import { paymentWaits, transactions } from './lane-operator-transactions.ts'

export const laneCommand: CommandSpec = {
  description: 'Lanes: a key on a chain, and the ledger of its nonces.',
  commands: {
    list: {
      description: 'All lanes of the config, and every other ledger that runs.',
      examples: ['portage lane list --json'],
      run: async ({ withTemporal, context }) => {
        const { lanes, coin } = await withTemporal(async (client, config) => ({
          lanes: await listLanesNow(client, config, context.env),
          coin: (lane: LaneId) => coinOfLane(config, lane),
        }))
        const rows = lanes.map(({ lane, chain, status, next, latest, finalized, inFlight, window, balance, balanceAt, reason, by }) => [
          laneCell(lane, chain),
          chain ?? '(not in config)',
          reason ? `${status}${by === undefined ? '' : ` by ${by}`}: ${reason}` : status,
          next,
          latest,
          finalized,
          inFlight === undefined ? undefined : `${inFlight}/${window ?? '-'}`,
          balance === undefined ? undefined : balanceCell(balance, coin(lane), balanceAt),
        ])
        return { json: { lanes }, text: list('no lanes', headings, rows) }
      },
    },
    show: {
      description: 'The ledger of a lane: every nonce that is not final, with its owner and its transactions; and the orders to the lane.',
      options: laneArgument,
      examples: ['portage lane show evm-1:0x52908400098527886e0f7030069857d2e4169ee7'],
      run: (call: Call<LaneOptions>, name: string) =>
        withLane(call, name, async (lane, client, config) => {
          const state = await readLane(client, lane)
          const entries = Object.values(state.entries).sort((a, b) => a.nonce - b.nonce)
          const hashes = await hashesOfNonces(client, lane, entries)
          return { json: { ...state, hashes: Object.fromEntries(hashes) }, text: stateText(state, hashes, coinOfLane(config, lane)) }
        }),
    },
    batches: {
      description: 'Open calls of the lane that deliver several transfers each. With --json, with their transfers.',
      options: (command) => laneArgument(command).option('--closed <number>', 'also this many that have ended', parse.closed, 0),
      examples: ['portage lane batches 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
      run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
        withLane(call, name, async (lane, client) => {
          const found = await listBatches(client, lane, call.options.closed)
          const rows = found.map((one) => [
            { full: one.batch, short: lastPart(one.batch) },
            timeText(one.startedAt),
            one.state,
            one.members,
            one.nonce,
            one.detail ?? '',
          ])
          const text = list('no batches', ['batch', 'started', 'state', 'transfers', 'nonce', 'detail'], rows)
          return { json: { lane, batches: found }, text }
        }),
    },
    ...orderCommands('lane', paymentWaits),
    transactions,
  },
}

const headings: readonly Heading[] = [
  ...['lane', 'chain', 'status', 'next'],
  { name: 'mined', wide: true },
  { name: 'final', wide: true },
  'in flight',
  'balance',
]

/** ms: a younger balance was read for this answer. */
const nowMs = 30_000

function balanceCell(balance: string, coin: string | undefined, balanceAt = ''): Shortened {
  const ms = Date.now() - Date.parse(balanceAt)
  const age = ms <= nowMs ? '' : Number.isNaN(ms) ? ' (of unknown age)' : ` (${ageText(ms)} ago)`
  return { full: `${exactAmountText(balance, coin)}${age}`, short: `${amountText(balance, coin)}${age}` }
}

function laneCell(lane: LaneId, chain: string | undefined): Shortened {
  return { full: lane, short: chain === undefined ? shortLane(lane) : shortAddress(laneAddress(lane)) }
}

function stateText(state: LaneState, hashes: ReadonlyMap<number, string>, coin: string | undefined): Text {
  const configured = state.configured?.window
  const { lane, status, next, latest, finalized, inFlight, window, balance, reason, by } = toRow(state.config.lane, undefined, true, state)
  const { kept: keptNow, keptLimit } = kept(state)
  const head = facts({
    lane,
    status,
    reason,
    'ordered by': by,
    'next nonce': next,
    mined: latest,
    final: finalized,
    'in flight': `${inFlight}/${window}${configured === undefined || configured === window ? '' : ` (the config says ${configured})`}`,
    'wait for finality': state.observed && `${keptNow} of at most ${keptLimit} nonces`,
    balance: amountCell(balance, coin),
    'figures read': state.observed && `${ageText(Date.now() - state.observed.at)} ago, when they last changed something`,
    ...countsOf(state),
  })
  const entries = Object.values(state.entries).sort((a, b) => a.nonce - b.nonce)
  const rows = entries.map(({ nonce, attempts, maybeSent, fill, owner }) => {
    const where = state.observed && nonce < state.observed.latest ? 'mined' : maybeSent ? 'sent' : 'in flight'
    return [
      nonce,
      fill ? `${where}, fill: ${fill}` : where,
      attempts.length,
      gasPriceCell(attempts.at(-1)?.maxFee),
      hashCell(hashes.get(nonce)),
      intentCell(owner?.intentId),
    ]
  })
  const nonces = list('Every nonce is final.', ['nonce', 'state', 'attempts', 'max fee', 'transaction', 'intent'], rows)
  return [head, ...ordersSection(state.orders), nonces]
}

function countsOf({ counts: { granted, attempts, filled, released, external, rolledBack } }: LaneState): Record<string, number> {
  return {
    'nonces granted': granted,
    'further attempts': attempts,
    'filled by no-ops': filled,
    'given back': released,
    'used from outside': external,
    'rolled back': rolledBack,
  }
}

function hashCell(hash: string | undefined): Cell {
  return hash === undefined ? undefined : { full: hash, short: shortAddress(hash) }
}

/** The end of an id identifies it. */
function intentCell(intentId: string | undefined): Cell {
  return intentId === undefined ? '(the lane)' : { full: intentId, short: lastPart(workflowOf(intentId)) }
}
