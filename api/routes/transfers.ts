import { z } from 'zod'
import { sourceIdsOf } from '../../config/chains.ts'
import { remedyOf } from '../../domain/catalogue/catalogue.ts'
import { findTransfer } from '../../intake/streams/find-transfer.ts'
import { placesOfTransaction } from '../../intake/streams/source-transactions.ts'
import { filterFields, toFilter, type TransferSelection } from '../../operations/orders/transfer-filter.ts'
import { limitSchema, textSchema } from '../../operations/orders/values.ts'
import { listTransferPage, type TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { readTransfer, transactionsOf } from '../../temporal/client/transfers/transfers.ts'
import { transactionSchema, transferFields, transferPageSchema } from '../answers.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { createReadGates, type ReadFor } from '../read-gate.ts'
import { schemasOf } from './orders.ts'

/** Few searches by nonce run at a time, because they read more from the nodes than any other filter. */
const nonceGates = createReadGates({ atOnce: 2, waiting: 16 })

export function filterOf({ client, config, network }: ApiDeps, given: TransferSelection, readFor: ReadFor): Promise<TransferFilter> {
  const mined = (chain: string, address: string, nonce: number) =>
    nonceGates[readFor](async () => (await network.chains.get(chain)?.mined(address, nonce))?.hash)
  return toFilter({ client, config, mined }, given)
}

export const filterSchemas = schemasOf(filterFields)

/** Few searches by text run at a time, because they read lists and nodes, and any client may send them. */
const gates = createReadGates({ atOnce: 2, waiting: 16 })

/** Returns the transfer's id. Throws TRANSFER_NOT_FOUND, TRANSFER_IN_GAP, TRANSFER_AMBIGUOUS, API_BUSY, TEMPORAL_*. */
export function resolveGiven(
  { client, config, network }: Pick<ApiDeps, 'client' | 'config' | 'network'>,
  given: string,
  readFor: ReadFor,
): Promise<string> {
  return findTransfer(client, given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    gate: gates[readFor],
    placesOf: (hash) => placesOfTransaction(network.bridges, network.chains, hash),
  })
}

export const transferParams = z.object({
  id: textSchema(1_000).describe(
    'The id, its beginning, its last part, the hash of its transaction on either chain, its digest, or `chain:emitter:sequence` (docs/start/http-api.md).',
  ),
})

/** The answer keeps fields that this schema does not name, so that it shows the fields of a newer workflow. */
const reportSchema = z
  .looseObject({
    ...transferFields,
    partial: z.string().optional().describe('Why the report is incomplete.'),
    remedy: z.string().optional().describe('The remedy of the code, while the transfer waits or is parked.'),
    profit: z
      .string()
      .optional()
      .describe(
        "Of a delivered Executor request: `worth` without `coins` and the gas of Portage's transactions, wei of the target's coin.",
      ),
    transactions: z.array(transactionSchema).optional().describe('Every attempt of every process, in order.'),
  })
  .meta({ id: 'Transfer', description: 'The state of the transfer, its timeline and its outcome.' })

/** Lists need no worker. A report queries the workflow of an open transfer, or reads the result of a closed one. */
export function transferRoutes(app: Api, deps: ApiDeps): void {
  const list = {
    summary: 'Transfers: all open transfers, newest first, and then all closed transfers, newest first',
    querystring: z.strictObject({
      ...filterSchemas,
      limit: limitSchema(1_000, 50).describe('Maximum number of transfers on a page. A page may have fewer, even if more pages follow.'),
      cursor: textSchema(2_000).optional().describe('`next` of the page before, with the same filter.'),
    }),
    response: { 200: transferPageSchema, 404: errorSchema },
  }
  const config = { access: 'read' } as const
  app.get('/v1/transfers', { config, schema: list }, async ({ query: { limit: most, cursor, ...given } }) => {
    const page = await listTransferPage(deps.client, await filterOf(deps, given, 'read'), { limit: most, cursor })
    return { ...page, transfers: [...page.transfers] }
  })

  const show = {
    summary: 'A transfer: its state, attempts, timeline and orders',
    params: transferParams,
    response: { 200: reportSchema, 404: errorSchema, 409: errorSchema },
  }
  app.get('/v1/transfers/:id', { config, schema: show }, async (request) => {
    const report = await readTransfer(deps.client, await resolveGiven(deps, request.params.id, 'read'))
    if ('partial' in report) return { ...report }
    const { state, code } = report
    const remedy = (state === 'waiting' || state === 'parked') && code !== undefined ? remedyOf(code) : undefined
    return { ...report, ...(remedy !== undefined && { remedy }), transactions: [...(await transactionsOf(deps.client, report))] }
  })
}
