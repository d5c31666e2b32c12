import { countSchema } from '../../operations/orders/values.ts'
import { z } from 'zod'
import { resolveLane } from '../../config/chains.ts'
import { listLanesNow } from '../../operations/causes/lane-readings.ts'
import { listBatches } from '../../temporal/client/transfers/batches.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { listOperatorTransactions } from '../../temporal/client/lanes/operator-transactions.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { lanesSchema } from '../answers.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'
import { subjectParams } from './orders.ts'

/** Time (ms) for which callers share an answer, because a read calls Temporal and every node. */
const keepMs = 1_000

/** The answer keeps fields that this schema does not name, so that it shows the fields of a newer ledger. */
const stateSchema = z
  .looseObject({ synced: z.boolean(), next: z.number(), era: z.number() })
  .meta({ id: 'Lane', description: 'The nonce ledger: every nonce that is not final.' })
const workflowSchema = z.looseObject({ startedAt: z.string() })

const closed = z.strictObject({
  closed: countSchema(0, 200).default(0).describe('Also list this many ended items.'),
})

const closedLists = [
  { name: 'batches', summary: 'The calls of a lane that deliver several transfers each, newest first', rows: listBatches },
  {
    name: 'transactions',
    summary: "The operators' own transactions with the key of a lane, newest first",
    rows: listOperatorTransactions,
  },
] as const

export function laneRoutes(app: Api, { client, config }: ApiDeps): void {
  const access = { config: { access: 'read' } } as const
  const list = { summary: 'The lanes of the config, and every other ledger that runs', response: { 200: lanesSchema } }
  const read = keptRead(() => listLanesNow(client, config, process.env), { fromAnswer: keepMs })
  app.get('/v1/lanes', { ...access, schema: list }, async () => ({ lanes: await read() }))

  const show = { summary: 'The ledger of a lane', params: subjectParams.lane, response: { 200: stateSchema, 404: errorSchema } }
  app.get('/v1/lanes/:lane', { ...access, schema: show }, async (request) => ({
    ...(await readLane(client, resolveLane(config, request.params.lane))),
  }))

  const gate = createReadGate({ atOnce: 2, waiting: 8 })
  for (const { name, summary, rows } of closedLists) {
    const shared = createSharedReads<readonly { readonly startedAt: string }[]>(keepMs, gate)
    const response = { 200: z.object({ [name]: z.array(workflowSchema) }), 404: errorSchema }
    const schema = { summary, params: subjectParams.lane, querystring: closed, response }
    app.get(`/v1/lanes/:lane/${name}`, { ...access, schema }, async ({ params, query: { closed: most } }) => {
      const lane = resolveLane(config, params.lane)
      const found = await shared(`${lane} ${most}`, () => rows(client, lane, most))
      return { [name]: found.map((row) => ({ ...row })) }
    })
  }
}
