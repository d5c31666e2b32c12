import { z } from 'zod'
import { aboutLane, resolveLane } from '../../config/lane-names.ts'
import type { Operation } from '../../operations/access/operations.ts'
import { type LaneMode, type LedgerOrder, orderOfLane, setLaneMode } from '../../temporal/client/lanes/lanes.ts'
import { cancelOperatorTransaction, startOperatorTransaction } from '../../temporal/client/lanes/operator-transactions.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { idempotencyHeaders, once } from '../idempotency.ts'
import { laneParams } from './lanes.ts'

export const reason = z.string().trim().min(1).max(500).describe('Why; the lane keeps it with the name of the token.')
const nonce = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
export const wei = z.string().regex(/^[0-9]{1,77}$/, 'must be a decimal number of wei in quotes')
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')

const asked = z.object({
  lane: z.string(),
  asked: z.string().describe('It was sent as a signal, which is kept even while no worker serves the ledger.'),
})
const done = z.object({ lane: z.string(), done: z.literal(true), view: z.looseObject({}).describe('The ledger after the order.') })
const refusals = { 404: errorSchema, 422: errorSchema }

const modes: Readonly<Record<LaneMode, string>> = {
  pause: 'Give out no more nonces; what is in flight is still followed',
  resume: 'Give out nonces again after a pause',
  drain: 'Take no new work but operator transactions',
  forbid: 'Take no new work at all, and let transfers leave whose transaction is not mined',
  activate: 'End pause, drain and forbid',
}

/** What the ledger answers: its body, and what is asked of the ledger. */
const ledgerOrders = {
  resync: ordering('Read the account anew before the next nonce is given out', z.strictObject({ reason }), () => ({ kind: 'resync' })),
  fill: ordering('Mine a nonce that no intent owns with a no-op now', z.strictObject({ nonce, reason }), (body) => ({
    kind: 'fill',
    nonce: body.nonce,
    reason: 'operator',
  })),
  'cancel-nonce': ordering('Replace the transaction of a nonce by a no-op', z.strictObject({ nonce, reason }), (body) => ({
    kind: 'cancelNonce',
    nonce: body.nonce,
  })),
  replace: ordering(
    'Send the transaction of a nonce again with a higher fee, at the next block',
    z.strictObject({ nonce, maxFee: wei.optional().describe('Wei per gas, at least.'), tip: wei.optional(), reason }),
    (body) => ({ kind: 'replace', nonce: body.nonce, ...(body.maxFee && { maxFee: body.maxFee }), ...(body.tip && { tip: body.tip }) }),
  ),
  republish: ordering(
    'Send what is signed and in no block to every node again, the same bytes',
    z.strictObject({ nonce: nonce.optional().describe('Absent: all that are in no block.'), reason }),
    (body) => ({ kind: 'republish', nonce: body.nonce }),
  ),
  'set-window': ordering(
    'Change how many nonces may be in flight',
    z.strictObject({ window: z.number().int().min(0).max(128), reason }),
    ({ window }) => ({ kind: 'setWindow', window }),
  ),
  reset: ordering(
    'Forget every nonce, for a chain that was replaced by another',
    z.strictObject({ chainReplaced: z.literal(true).describe('Yes, what was sent on the old chain is not on the new one.'), reason }),
    () => ({ kind: 'reset' }),
  ),
}

function ordering<Body extends z.ZodType<{ reason: string }>>(summary: string, body: Body, ask: (body: z.output<Body>) => LedgerOrder) {
  // Parsed once more, for the type: what fastify hands over is the output of this very schema.
  return { summary, body, ask: (given: unknown) => ask(given as z.output<Body>) }
}

/** Of a transaction that an operator orders. */
export const startedSchema = z.object({ id: z.string().describe('Of its workflow.'), lane: z.string().describe('That pays.') })
export const payingTwice = 'Without the header Idempotency-Key a request that is sent again pays again.'

/** `POST /v1/lanes/{lane}/{order}`: what operators order of a lane, and its own transactions. */
export function laneOrderRoutes(app: Api, deps: ApiDeps): void {
  const { client, config } = deps
  for (const [mode, summary] of Object.entries(modes) as [LaneMode, string][]) {
    const schema = { summary, params: laneParams, body: z.strictObject({ reason }), response: { 200: asked, ...refusals } }
    app.post(`/v1/lanes/:lane/${mode}`, { config: { access: `lane ${mode}` as const }, schema }, async (request) => {
      const lane = resolveLane(config, request.params.lane)
      await setLaneMode(client, lane, mode, { by: orderedBy(request, aboutLane(config, lane)), reason: request.body.reason })
      return { lane, asked: mode }
    })
  }
  for (const [name, { summary, body, ask }] of Object.entries(ledgerOrders)) {
    const schema = { summary, params: laneParams, body, response: { 200: done, ...refusals } }
    app.post(`/v1/lanes/:lane/${name}`, { config: { access: `lane ${name}` as Operation }, schema }, async (request) => {
      const lane = resolveLane(config, request.params.lane)
      const order = { by: orderedBy(request, aboutLane(config, lane)), reason: request.body.reason }
      const view = await orderOfLane(client, lane, ask(request.body), order)
      return { lane, done: true as const, view: { ...view } }
    })
  }
  transactionRoutes(app, deps)
}

function transactionRoutes(app: Api, deps: ApiDeps): void {
  const { client, config } = deps
  const send = {
    summary: "Send one transaction with the lane's key; the signing policy of the lane must allow it",
    description: payingTwice,
    headers: idempotencyHeaders,
    params: laneParams,
    body: z.strictObject({
      to: address,
      value: wei.default('0').describe('Wei.'),
      data: z
        .string()
        .max(100_000)
        .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be bytes in hex, with 0x')
        .default('0x'),
      reason,
    }),
    response: { 202: startedSchema, 409: errorSchema, ...refusals },
  }
  app.post('/v1/lanes/:lane/send', { config: { access: 'lane send' }, schema: send }, async (request, reply) => {
    const lane = resolveLane(config, request.params.lane)
    const { to, value, data, reason: why } = request.body
    const order = { by: orderedBy(request, aboutLane(config, lane)), reason: why }
    const intent = { to: to.toLowerCase(), value: String(BigInt(value)), data: data.toLowerCase() }
    const { body } = await once(deps, request, reply, async () => {
      const id = await startOperatorTransaction(client, { lane, intent }, order, request.headers['idempotency-key'])
      return { status: 202, body: { id, lane } }
    })
    return reply.status(202).send(body)
  })

  const cancel = {
    summary: "End an operator's own transaction: a nonce in flight gets a no-op of the lane",
    params: z.object({ id: z.string().min(1).max(300).describe('Of its workflow.') }),
    body: z.strictObject({ reason }),
    response: { 200: z.object({ id: z.string(), asked: z.literal('cancel') }), ...refusals },
  }
  app.post('/v1/transactions/:id/cancel', { config: { access: 'lane cancel-transaction' }, schema: cancel }, async (request) => {
    const { id } = request.params
    const [, lane = ''] = /^operator-transaction:([^:]+:[^:]+):/.exec(id) ?? []
    const order = { by: orderedBy(request, aboutLane(config, lane)), reason: request.body.reason }
    await cancelOperatorTransaction(client, id, order)
    return { id, asked: 'cancel' as const }
  })
}
