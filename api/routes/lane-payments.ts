import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { chainOf, lanesOf } from '../../config/chains.ts'
import { coinOfLane } from '../../config/coins.ts'
import { aboutLane, resolveLane } from '../../config/lane-names.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Order } from '../../domain/order.ts'
import { sweepIntent, topUpIntent } from '../../lanes/account/payments.ts'
import { startOperatorTransaction } from '../../temporal/client/lanes/operator-transactions.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { idempotencyHeaders, once } from '../idempotency.ts'
import { laneParams } from './lanes.ts'
import { payingTwice, reason, startedSchema, wei } from './lane-orders.ts'

const refusals = { 404: errorSchema, 409: errorSchema, 422: errorSchema }

/** `POST /v1/lanes/{lane}/sweep` and `…/top-up`: operators' transactions to the two payees that the policy of every key knows. */
export function lanePaymentRoutes(app: Api, deps: ApiDeps): void {
  const { config, network } = deps
  const sweep = {
    summary: "Send the coins that the lane does not need to the chain's treasury",
    description: payingTwice,
    headers: idempotencyHeaders,
    params: laneParams,
    body: z.strictObject({
      keep: wei.optional().describe("Coins that stay, wei; absent: the lane's minimumBalance."),
      reason,
    }),
    response: { 202: startedSchema, ...refusals },
  }
  app.post('/v1/lanes/:lane/sweep', { config: { access: 'lane sweep' }, schema: sweep }, async (request, reply) => {
    const lane = resolveLane(config, request.params.lane)
    const { keep, reason: why } = request.body
    const order = { by: orderedBy(request, aboutLane(config, lane)), reason: why }
    return pay(deps, request, reply, { lane, order, what: 'sweep' }, async () => {
      const found = lanesOf(config).find(({ id }) => id === lane)
      if (!found) throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane } })
      const { treasury } = chainOf(config, found.chain)
      if (!treasury) throw invalid(`chains.${found.chain}.treasury is not in the config`)
      const kept = keep ?? found.lane.minimumBalance
      if (kept === undefined) throw invalid('keep: say what stays; the lane has no minimumBalance')
      const chain = network.chains.get(found.chain)
      if (!chain) throw invalid(`This process does not read ${found.chain}.`)
      return sweepIntent(chain, { lane, treasury: treasury.address.toLowerCase(), keep: kept, coin: coinOfLane(config, lane) })
    })
  })

  const topUp = {
    summary: 'Send coins to a lane from another lane of its chain',
    description: payingTwice,
    headers: idempotencyHeaders,
    params: laneParams,
    body: z.strictObject({ from: z.string().min(1).max(200).describe('The lane that pays.'), amount: wei.describe('Wei.'), reason }),
    response: { 202: startedSchema, ...refusals },
  }
  app.post('/v1/lanes/:lane/top-up', { config: { access: 'lane top-up' }, schema: topUp }, async (request, reply) => {
    const [lane, from] = [resolveLane(config, request.params.lane), resolveLane(config, request.body.from)]
    // The lane that pays is what the order is about.
    const order = { by: orderedBy(request, aboutLane(config, from)), reason: request.body.reason }
    return pay(deps, request, reply, { lane: from, order, what: 'top-up' }, async () =>
      topUpIntent(lane, from, String(BigInt(request.body.amount))),
    )
  })
}

/** Starts the transaction once for each idempotency key. */
async function pay(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { lane, order, what }: { readonly lane: LaneId; readonly order: Order; readonly what: string },
  intentOf: () => Promise<Intent>,
) {
  const { body } = await once(deps, request, reply, async () => {
    const intent = await intentOf()
    const key = request.headers['idempotency-key']
    // With a space, which no header's key has: another route's request with this key is another transaction.
    const id = await startOperatorTransaction(deps.client, { lane, intent }, order, typeof key === 'string' ? `${what} ${key}` : undefined)
    return { status: 202, body: { id, lane } }
  })
  return reply.status(202).send(body)
}

function invalid(detail: string): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail })
}
