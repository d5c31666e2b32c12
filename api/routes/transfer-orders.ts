import { z } from 'zod'
import { aboutTransfer } from '../../operations/access/subjects.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import {
  orderTransfer,
  orderTransfers,
  selectTransfers,
  type TransferOrder,
  transferOrders,
} from '../../temporal/client/transfers/transfer-orders.ts'
import type { TransferRow } from '../../temporal/client/transfers/transfer-list.ts'
import { describeTransfer } from '../../temporal/client/transfers/transfers.ts'
import { orderedBy } from '../access.ts'
import { bulkOrderSchema, orderedSchema } from '../answers.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema, toErrorAnswer } from '../errors.ts'
import { transferOrderTexts } from '../../operations/orders/transfer-text.ts'
import { textSchema } from '../../operations/orders/values.ts'
import { orderTexts, reasonSchema } from './orders.ts'
import { filterOf, filterSchemas, resolveGiven, transferParams } from './transfers.ts'

/** Maximum transfers per request. Each transfer costs a call to Temporal, and the client waits for all calls. */
const mostOrdered = 500
const mostNamed = 100

const manySchema = z
  .strictObject({
    reason: reasonSchema,
    ids: z
      .array(textSchema(1_000))
      .min(1)
      .max(mostNamed)
      .optional()
      .describe('The ids of the transfers that the order is for. Alternative: `filter`.'),
    filter: z
      .strictObject(filterSchemas)
      .refine((given) => Object.values(given).some((value) => value !== undefined), 'must select by something')
      .optional()
      .describe('Gives the order for all transfers that match. If the token has a scope, the filter must name `targetChain`.'),
    dryRun: z.boolean().default(true).describe('true: lists the selected transfers without giving the order.'),
    limit: z.number().int().min(1).max(mostOrdered).default(100).describe('Give the order for at most this many transfers.'),
  })
  .meta({ id: 'TransferSelection' })

export function transferOrderRoutes(app: Api, deps: ApiDeps): void {
  for (const kind of transferOrders) {
    oneRoute(app, deps, kind)
    manyRoute(app, deps, kind)
  }
}

function oneRoute(app: Api, deps: ApiDeps, kind: TransferOrder): void {
  const schema = {
    ...orderTexts(`transfer ${kind}`),
    params: transferParams,
    body: z.strictObject({ reason: reasonSchema }),
    response: { 200: orderedSchema, 404: errorSchema, 409: errorSchema },
  }
  app.post(`/v1/transfers/:id/${kind}`, { config: { access: `transfer ${kind}` as const }, schema }, async (request) => {
    const transfer = await describeTransfer(deps.client, await resolveGiven(deps, request.params.id, 'order'))
    const by = orderedBy(request, aboutTransfer(transfer.targetChain))
    return { id: transfer.id, result: await orderTransfer(deps.client, transfer, kind, { by, reason: request.body.reason }) }
  })
}

function manyRoute(app: Api, deps: ApiDeps, kind: TransferOrder): void {
  const schema = {
    summary: transferOrderTexts[kind].summaryOfMany,
    description: 'The body selects the transfers by their ids or by a filter.',
    body: manySchema,
    response: { 200: bulkOrderSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  }
  app.post(`/v1/transfers/${kind}`, { config: { access: `transfer ${kind}` as const }, schema }, async (request) => {
    const { ids, filter, limit, dryRun, reason: why } = request.body
    if ((ids === undefined) === (filter === undefined))
      throw new RelayerError('INPUT_INVALID', { detail: 'body: give either `ids` or `filter`' })
    // A dry run must not reveal transfers outside the scope, so the scope is checked before the answer.
    const by = filter ? orderedBy(request, aboutTransfer(filter.targetChain)) : (request.principal?.name ?? '')
    const found = filter
      ? await selectTransfers(deps.client, kind, await filterOf(deps, filter, 'order'), limit)
      : { transfers: await named(deps, ids ?? []), more: false }
    if (!filter) for (const { targetChain } of found.transfers) orderedBy(request, aboutTransfer(targetChain))
    const answer = { dryRun, matched: found.transfers.length, more: found.more, transfers: [...found.transfers] }
    if (dryRun) return answer
    const results = await orderTransfers(deps.client, found.transfers, kind, { by, reason: why })
    return { ...answer, results: results.map((one) => ('error' in one ? { id: one.id, error: toErrorAnswer(one.error).body } : one)) }
  })
}

async function named(deps: ApiDeps, given: readonly string[]): Promise<TransferRow[]> {
  const rows = new Map<string, TransferRow>()
  for (const one of given) {
    const row = await describeTransfer(deps.client, await resolveGiven(deps, one, 'order'))
    rows.set(row.id, row)
  }
  return [...rows.values()]
}
