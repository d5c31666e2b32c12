import { z } from 'zod'
import { transferStates } from '../../domain/transfer/transfer.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { readTransfer } from '../../temporal/client/transfers.ts'

/** Loose, so that the fields that a newer workflow adds to its status are shown, too. */
const reportSchema = z
  .looseObject({
    id: z.string(),
    state: z.enum(transferStates).optional(),
    mip61: z.string().optional().describe("MIP-61's word for the state, of transfers of the native bridge."),
    execution: z.string().describe("The workflow's own status: RUNNING, COMPLETED, TERMINATED…"),
    partial: z.string().optional().describe('Why only a part of the status is given.'),
  })
  .describe('Where the transfer is, what happened, and how it ended.')

/** `GET /v1/transfers/{id}`: by a query of the open workflow, or from the result of the closed one. */
export function showTransferRoute(app: Api, { client }: ApiDeps): void {
  const schema = {
    summary: 'The status of a transfer',
    params: z.object({ id: z.string().min(1).max(1_000) }),
    response: { 200: reportSchema, 404: errorSchema, 503: errorSchema },
  }
  app.get('/v1/transfers/:id', { schema }, async (request) => ({ ...(await readTransfer(client, request.params.id)) }))
}
