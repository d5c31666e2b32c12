import { z } from 'zod'
import { transferStates } from '../../domain/transfer/transfer.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { listTransfers } from '../../temporal/client/transfers.ts'

const row = z.object({
  id: z.string(),
  state: z.enum(transferStates).optional(),
  mip61: z.string().optional().describe("MIP-61's word for the state, of transfers of the native bridge."),
  execution: z.string(),
  bridge: z.string().optional(),
  sourceChain: z.string().optional(),
  targetChain: z.string().optional(),
  lane: z.string().optional(),
  txHash: z.string().optional(),
  startedAt: z.string(),
  closedAt: z.string().optional(),
})

/** `GET /v1/transfers?state=&chain=&limit=`: newest first, from Temporal's visibility store, without a worker. */
export function listTransfersRoute(app: Api, { client }: ApiDeps): void {
  const schema = {
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
  app.get('/v1/transfers', { schema }, async (request) => ({ transfers: await listTransfers(client, request.query) }))
}
