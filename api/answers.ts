import { z } from 'zod'
import { transferStates } from '../domain/transfer/transfer.ts'
import { laneReportSchema } from '../lanes/report-schema.ts'

/** The browser page bundles this file, so this file must not import Node modules. */

const optionalText = (about: string) => z.string().optional().describe(about)
const optionalNumber = (about: string) => z.number().optional().describe(about)

/** Problem details (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.string().describe('Names the kind of problem: `urn:portage:error:` and the code.'),
    title: z.string().describe('Meaning of the code.'),
    status: z.number().int(),
    detail: z.string().describe('The details of this occurrence.'),
    code: z.string().describe('A stable code: docs/reference/errors.md.'),
    remedy: z.string().describe('Next step for the client or the operator.'),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).describe('The subject: a transfer, a chain, a lane…'),
    errors: z
      .array(z.object({ path: z.string().describe('`body.reason`, `querystring.limit`…'), message: z.string() }))
      .optional()
      .describe('Every field of the request that is wrong.'),
  })
  .meta({ id: 'Problem', description: 'The reason of a refusal, and its remedy.' })
export type Problem = z.output<typeof problemSchema>

export const transferFields = {
  id: z.string(),
  state: z.enum(transferStates).optional(),
  mip61: optionalText("MIP-61's word for the state, of transfers of the native bridge."),
  execution: z.string().describe("The workflow's own status: RUNNING, COMPLETED, TERMINATED…"),
  amount: optionalText(
    "In the units of the message: with at most 8 decimals for the token bridge, in the token's smallest unit for a native bridge.",
  ),
  decimals: optionalText('Decimals of `amount`. Absent if they are not known.'),
  tokenAmount: optionalText('`amount` for people: `1.5`, or `1500000 raw units` if its decimals are not known.'),
  token: optionalText('`<chain id>/<64 hex digits>`, as in the asset list and the deny-list.'),
  recipient: optionalText('Address on the target chain.'),
  sourceTxHash: optionalText(
    'Transaction on the source chain, as one node reported it. Absent if it is not known, as for a message from a guardian spy.',
  ),
  paid: optionalText("Payment of an Executor request, wei of the source's coin."),
  worth: optionalText("The payment in wei of the target's coin, at the prices of the quote."),
  coins: optionalText("Wei of the target's coin that a paid delivery carries."),
}

const transferRowSchema = z
  .object({
    ...transferFields,
    code: optionalText('Why it waits, is parked or was refused: docs/reference/errors.md.'),
    bridge: z.string().optional(),
    sourceChain: z.string().optional(),
    targetChain: z.string().optional(),
    lane: z.string().optional(),
    txHash: z.string().optional(),
    startedAt: z.string(),
    closedAt: z.string().optional(),
  })
  .meta({ id: 'TransferRow' })
export type TransferRow = z.output<typeof transferRowSchema>

export const transferPageSchema = z
  .object({
    transfers: z.array(transferRowSchema),
    next: optionalText('The `cursor` of the next page. Absent on the last page.'),
  })
  .meta({ id: 'TransferPage' })
export type TransferPage = z.output<typeof transferPageSchema>

export const transactionSchema = z
  .object({
    lane: z.string(),
    nonce: z.number(),
    round: z.number(),
    kind: z.enum(['call', 'noop']),
    hash: optionalText('Absent while no process has reported the hash of the recorded attempt.'),
    to: optionalText('Absent while no process has reported the attempt.'),
    value: optionalText('Wei.'),
    gasLimit: optionalText('Gas units.'),
    maxFee: z.string().describe('Wei per gas.'),
    tip: z.string().describe('Wei per gas.'),
    fate: z
      .enum(['recorded', 'signed', 'pending', 'mined', 'reverted', 'replaced', 'reorged', 'dropped'])
      .describe(
        'signed: no node has accepted it yet. pending: a node accepted it. reverted: mined without effect. replaced: another transaction of Portage used its nonce. dropped: abandoned, or its nonce was used from outside Portage.',
      ),
    gasUsed: optionalText('Gas units of the whole transaction.'),
    gasPaid: optionalText('Cost, wei; for a batch the share of the transfer.'),
    at: optionalNumber('When it was recorded in the ledger, ms since the epoch.'),
    acceptedAt: optionalNumber('When a node accepted it first.'),
    includedAt: optionalNumber('When it was seen in a block.'),
    reorgedAt: optionalNumber('When its block left the chain.'),
  })
  .meta({ id: 'Transaction', description: 'A transaction that any process signed for the transfer.' })
export type TransactionRow = z.output<typeof transactionSchema>

export const orderedSchema = z
  .object({
    id: z.string(),
    result: z
      .enum(['woken', 'started again', 'asked'])
      .describe('asked: the order was sent; the timeline of the transfer shows its effect.'),
  })
  .meta({ id: 'OrderedTransfer' })

export const bulkOrderSchema = z
  .object({
    dryRun: z.boolean(),
    matched: z.number().describe('The number of transfers on which the order has an effect.'),
    more: z.boolean().describe('More than `limit` match: send the request again.'),
    transfers: z.array(transferRowSchema),
    results: z
      .array(z.union([orderedSchema, z.object({ id: z.string(), error: problemSchema })]))
      .optional()
      .describe('The result of each transfer. Absent in a dry run.'),
  })
  .meta({ id: 'OrderedTransfers' })
export type BulkOrder = z.output<typeof bulkOrderSchema>

export const lanesSchema = z
  .object({
    lanes: z.array(
      laneReportSchema.extend({
        balanceAt: optionalText('When the balance was read. If no node answers now, the balance and the time are from the ledger.'),
        tokens: z
          .array(
            z.object({
              token: z.string().describe('Contract of the token.'),
              symbol: z.string().optional(),
              decimals: z.number().optional(),
              balance: z.string().describe('In the smallest unit, decimal.'),
              minimum: optionalText('In the smallest unit, decimal.'),
            }),
          )
          .optional()
          .describe('The tokens of `chains.<name>.watchTokens` whose balances a node shows now.'),
      }),
    ),
  })
  .meta({ id: 'Lanes' })
export type Lanes = z.output<typeof lanesSchema>

export const spendingSchema = z
  .object({
    asOf: z.string(),
    lanes: z.array(
      z.object({
        lane: z.string(),
        spending: z
          .array(
            z.object({
              kind: z
                .enum(['cost', 'payment', 'top-up'])
                .describe('cost: gas and data fees. payment: coins paid. top-up: coins sent to other lanes.'),
              window: z.enum(['hour', 'day']),
              spent: z.string().describe('Wei. Of the attempts for a nonce, only the most expensive one counts.'),
              limit: z.string().describe('Limit in the config, wei.'),
            }),
          )
          .describe('Empty: the config sets no limit.'),
      }),
    ),
  })
  .meta({ id: 'Spending' })
export type Spending = z.output<typeof spendingSchema>

const nodeSchema = z
  .object({
    chain: z.string(),
    name: z.string(),
    origin: z.string().describe('Scheme, host and port: the rest of a URL may hold a key.'),
    use: z.enum(['all', 'read', 'send', 'private']),
    state: z
      .enum(['unknown', 'up', 'failing', 'probing', 'wrong-network', 'disabled'])
      .describe('failing: calls failed, so the node gets none for a while. probing: the node is tried again.'),
    lag: optionalNumber('Number of blocks by which the node lags behind the head of the majority.'),
    latencyMs: optionalNumber('Latency of its latest answers, ms.'),
    failures: z.number(),
    asOf: optionalText(
      'When its latest call ended, with or without an answer. `state` is of that time. Absent if the node was not called.',
    ),
    added: z.boolean().optional().describe('An operator added the node at runtime. Such a node does not count in majorities.'),
  })
  .meta({ id: 'Node' })

export const nodesSchema = z
  .object({
    asOf: z.string(),
    chains: z.array(
      z.object({
        chain: z.string(),
        latest: optionalNumber('Height of the head. Absent if no block was read yet.'),
        latestAt: optionalText('The block time that most of its nodes have reached.'),
        finalized: z.number().optional(),
      }),
    ),
    nodes: z.array(nodeSchema),
  })
  .meta({ id: 'Nodes' })
export type Nodes = z.output<typeof nodesSchema>

export const linksSchema = z
  .object({
    namespace: z.string().describe('The Temporal namespace, which identifies the deployment.'),
    temporalWebUi: optionalText("Base URL of Temporal's Web UI. Absent: the config names none."),
    chains: z.record(
      z.string(),
      z.object({
        networkId: z.number(),
        explorer: optionalText('Base URL of the block explorer of the chain. Absent: none is known.'),
        coin: optionalText('Symbol of the coin that pays gas on the chain. Absent: not known.'),
      }),
    ),
  })
  .meta({ id: 'Links' })
export type Links = z.output<typeof linksSchema>

const times = {
  medianMs: optionalNumber('Half of the deliveries took at most this long, from the start of the workflow to its end, ms.'),
  p95Ms: optionalNumber('95 of 100 deliveries took at most this long, ms.'),
}
const counts = z.record(z.string(), z.number())

export const flowSchema = z
  .object({
    asOf: z.string().describe('When the lists of the server were read.'),
    minutes: z.number(),
    stepMs: z.number(),
    open: z.number(),
    isOpenCut: z.boolean().describe('More transfers are open than the server lists, so the counts are those of the newest.'),
    endedSince: optionalText('Transfers that ended before this time are not counted. Absent if the whole window is counted.'),
    delivered: z.number().describe('Deliveries in the window.'),
    ...times,
    routes: z.array(
      z.object({
        ...{ bridge: z.string(), source: z.string(), target: z.string() },
        open: counts.describe('Open transfers, by state.'),
        ended: counts.describe('Transfers that ended in the window, by outcome. `undone`: the workflow closed without an outcome.'),
        oldestOpenAt: optionalNumber('ms since the epoch.'),
        ...times,
      }),
    ),
    steps: z.array(z.object({ at: z.number().describe('ms since the epoch.'), delivered: z.number(), ...times })),
  })
  .meta({ id: 'Flow' })
export type Flow = z.output<typeof flowSchema>
