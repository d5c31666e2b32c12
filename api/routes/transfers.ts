import { z } from 'zod'
import { transferStates } from '../../domain/transfer/transfer.ts'
import { listTransfers, readTransfer } from '../../temporal/client/transfers.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

const common = {
  id: z.string(),
  state: z.enum(transferStates).optional(),
  mip61: z.string().optional().describe("MIP-61's word for the state, of transfers of the native bridge."),
  execution: z.string().describe("The workflow's own status: RUNNING, COMPLETED, TERMINATED…"),
}

const row = z.object({
  ...common,
  bridge: z.string().optional(),
  sourceChain: z.string().optional(),
  targetChain: z.string().optional(),
  lane: z.string().optional(),
  txHash: z.string().optional(),
  startedAt: z.string(),
  closedAt: z.string().optional(),
})

/** Loose, so that the fields that a newer workflow adds to its status are shown, too. */
const reportSchema = z
  .looseObject({ ...common, partial: z.string().optional().describe('Why only a part of the status is given.') })
  .describe('Where the transfer is, what happened, and how it ended.')

/**
 * `GET /v1/transfers?state=&chain=&limit=`: newest first, from Temporal's visibility store, without a worker. `GET /v1/transfers/{id}`: by a query of the open
 * workflow, or from the result of the closed one.
 */
export function transferRoutes(app: Api, { client }: ApiDeps): void {
  const list = {
    summary: 'Transfers, newest first',
    querystring: z.strictObject({
      state: z.enum(transferStates).optional(),
      chain: z
        .string()
        .regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be the name of a chain')
        .optional()
        .describe('Source or target.'),
      limit: z.coerce.number().int().min(1).max(1_000).default(50),
    }),
    response: { 200: z.object({ transfers: z.array(row) }), 503: errorSchema },
  }
  const config = { access: 'read' } as const
  app.get('/v1/transfers', { config, schema: list }, async (request) => ({ transfers: await listTransfers(client, request.query) }))

  const show = {
    summary: 'The status of a transfer',
    params: z.object({ id: z.string().min(1).max(1_000) }),
    response: { 200: reportSchema, 404: errorSchema, 503: errorSchema },
  }
  app.get('/v1/transfers/:id', { config, schema: show }, async (request) => ({ ...(await readTransfer(client, request.params.id)) }))
}
