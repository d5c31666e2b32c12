import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Bridges } from '../../bridges/port.ts'
import { lanesOf, resolveLane } from '../../config/chains.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { defined } from '../../domain/defined.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import type { ChainName, Terms } from '../../domain/transfer/transfer.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import type { SubmitOptions, SubmitResult } from '../../intake/submit/submitter.ts'
import { fetchSignedVaa } from '../../intake/submit/vaa-lookup.ts'
import { aboutTransfer } from '../../operations/access/subjects.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { orderedBy } from '../access.ts'
import { problemSchema } from '../answers.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema, textOf, toErrorAnswer } from '../errors.ts'
import { idempotencyHeaders, once } from '../idempotency.ts'
import { sequenceSchema, textSchema, values, within } from '../../operations/orders/values.ts'
import { orderTexts, reasonSchema } from './orders.ts'

/**
 * Maximum number of messages in a request, and of messages that are submitted at a time. Each message may need reads of
 * a chain.
 */
const [mostInBulk, atOnce] = [100, 4]

const emitterSchema = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be 64 hex digits: the emitter, padded to 32 bytes')
  .transform((value) => value.replace(/^0x/, '').toLowerCase())

const chainIdSchema = z
  .union([z.number().int().min(1).max(65_535), textSchema(64)])
  .describe('Wormhole chain id, or the name of a configured chain.')

const how = {
  priority: within(1, 5)
    .schema.optional()
    .describe('Rank if a lane has no room for all transfers: 1 (first) to 5 (last). Absent: the rank in the config.'),
  deadline: z
    .union([z.iso.datetime({ offset: true }), z.number().positive().max(5_256_000)])
    .optional()
    .describe('A time (ISO 8601), or minutes from now. A transfer that is not delivered by then is parked until it is retried.'),
  maxFeePerGas: values.wei.schema.optional().describe('Maximum price per unit of gas, wei. The value can only lower the configured limit.'),
  maxFeePerTransaction: values.wei.schema
    .optional()
    .describe('Maximum cost of the transaction, wei. The value can only lower the configured limit.'),
  lane: textSchema(120)
    .optional()
    .describe('The only lane that may deliver the transfer: id or address of a configured lane of the target.'),
  reason: reasonSchema.optional(),
}

const bodySchema = z
  .union([
    z.strictObject({ vaa: z.string().min(1).describe('The signed VAA, base64 or hex.'), ...how }),
    z.strictObject({
      chain: chainIdSchema,
      emitter: emitterSchema.describe('The emitter of the VAA, 64 hex digits.'),
      sequence: sequenceSchema.describe('The sequence of the VAA, decimal.'),
      ...how,
    }),
    z.strictObject({
      bridge: textSchema(64).describe('A bridge whose source contract records its transfers: native-bridge.'),
      source: textSchema(64).describe('The chain that the transfer starts on.'),
      target: textSchema(64).describe('The chain that the transfer goes to.'),
      nonce: sequenceSchema
        .refine((nonce) => nonce !== '0', 'must be at least 1')
        .describe('The number of the transfer in the table of the source.'),
      ...how,
    }),
  ])
  .meta({ id: 'Submission' })

type Body = z.output<typeof bodySchema>

const acceptedSchema = z
  .object({
    id: z.string(),
    status: z.enum(['started', 'known']),
    adopted: z
      .literal(true)
      .optional()
      .describe(
        'The earlier copy had signatures of guardians that may no longer sign. The transfer, which was parked or had no transaction yet, continues with this copy.',
      ),
    ignored: z
      .array(z.string())
      .optional()
      .describe('Fields of this request without effect, because the transfer was known and keeps its own.'),
    halted: z.string().optional().describe('An operator has halted its route: the transfer waits until the halt ends.'),
  })
  .meta({ id: 'AcceptedTransfer' })

const bulkSchema = z.strictObject({
  transfers: z
    .array(bodySchema)
    .min(1)
    .max(mostInBulk)
    .describe(
      'Submissions, each like the body of `POST /v1/transfers`. Without the parameter `bridge`, the bridge that the VAA belongs to delivers it.',
    ),
})
const bulkResultsSchema = z.object({
  results: z
    .array(z.union([acceptedSchema.extend({ index: z.number() }), z.object({ index: z.number(), error: problemSchema })]))
    .describe('One result for each submission, in the same sequence.'),
})

/** 202: the transfer was started. 200: the transfer existed, and keeps its priority, deadline and terms. */
export function submitTransferRoute(app: Api, deps: ApiDeps): void {
  const config = { access: 'transfer submit' } as const
  const querystring = z.strictObject({
    bridge: textSchema(64).optional().describe('Name of the bridge of a VAA. Absent: the bridge that the VAA belongs to.'),
  })
  const schema = {
    ...orderTexts('transfer submit'),
    headers: idempotencyHeaders,
    querystring,
    body: bodySchema,
    response: { 200: acceptedSchema, 202: acceptedSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  }
  app.post('/v1/transfers', { config, schema }, async (request, reply) => {
    const { status, body } = await once(deps, request, reply, async () => {
      const answer = await submitOne(deps, request, request.body, request.query.bridge)
      return { status: answer.status === 'started' ? 202 : 200, body: answer }
    })
    return reply.status(status === 202 ? 202 : 200).send(body)
  })

  const bulk = {
    summary: 'Submit several transfers. A refused transfer does not affect the other transfers',
    headers: idempotencyHeaders,
    querystring,
    body: bulkSchema,
    response: { 200: bulkResultsSchema, 409: errorSchema, 422: errorSchema },
  }
  app.post('/v1/transfers/bulk', { config, schema: bulk }, async (request, reply) => {
    const submitAt = async ([index, body]: [number, Body]) => {
      try {
        return { index, ...(await submitOne(deps, request, body, request.query.bridge)) }
      } catch (error) {
        return { index, error: toErrorAnswer(error).body }
      }
    }
    const { body } = await once(deps, request, reply, async () => {
      const results = await mapLimited([...request.body.transfers.entries()], atOnce, submitAt)
      return { status: 200, body: { results } }
    })
    return body
  })
}

async function submitOne(
  deps: ApiDeps,
  request: FastifyRequest,
  body: Body,
  named?: string,
): Promise<SubmitResult & { readonly ignored?: string[] }> {
  const bridge = 'nonce' in body ? body.bridge : (named ?? defaultBridge(deps.network.bridges))
  const { priority, deadline, maxFeePerGas, maxFeePerTransaction, lane, reason } = body
  const given = defined({ priority, deadline, maxFeePerGas, maxFeePerTransaction, lane })
  const options = { ...given, ...deadlineOf(deadline) }
  const answer = await withMessage(body, deps, (message) => submit(deps, request, { bridge, message, reason, ...options }))
  const ignored = answer.status === 'known' ? Object.keys(given) : []
  return ignored.length > 0 ? { ...answer, ignored } : answer
}

/** Calls `take` with one copy of a signed message after the other, until `take` accepts one. */
async function withMessage<T>(body: Body, { config, network }: ApiDeps, take: (message: Uint8Array) => Promise<T>): Promise<T> {
  if ('vaa' in body) return take(messageBytes(body.vaa))
  if ('nonce' in body) return take(await recordedMessage(network.bridges, body))
  return fetchSignedVaa(network.vaaLookup, { ...body, chain: chainNumber(body.chain, config) }, take)
}

type RecordedPlace = Extract<Body, { nonce: string }>

/** Throws INPUT_INVALID for an unknown route, NATIVE_NOT_FINAL and the errors of the read. */
async function recordedMessage(bridges: Bridges, { bridge, source, target, nonce }: RecordedPlace): Promise<Uint8Array> {
  const directions = (bridges.get(bridge)?.sources ?? []).filter((one) => one.kind === 'scanned')
  const found = directions.find(({ sourceChain, targetChain }) => sourceChain === source && targetChain === target)
  if (!found) {
    const served = directions.map(({ sourceChain, targetChain }) => `${sourceChain}:${targetChain}`).join(', ')
    const detail = `No route of ${bridge} leads from ${source} to ${target}; here are: ${served || 'none'}.`
    throw new RelayerError('INPUT_INVALID', { detail })
  }
  const [transfer] = await found.recorded([nonce], 'finalized')
  if (!transfer) throw new RelayerError('NATIVE_NOT_FINAL', { facts: { chain: source, nonce } })
  return Buffer.from(transfer.message, 'base64')
}

/** Throws INPUT_INVALID for a past deadline: the transfer would be parked at once. */
function deadlineOf(given: string | number | undefined): { readonly deadline: number | undefined; readonly withinMs?: number } {
  if (given === undefined) return { deadline: undefined }
  if (typeof given === 'number') return { deadline: undefined, withinMs: Math.ceil(given * 60_000) }
  const deadline = Date.parse(given)
  if (deadline > Date.now()) return { deadline }
  throw new RelayerError('INPUT_INVALID', { detail: `deadline: ${given} has passed` })
}

function chainNumber(chain: number | string, { chains }: ApiDeps['config']): number {
  const id = /^[0-9]{1,5}$/.test(String(chain)) ? Number(chain) : chains[chain]?.wormholeChainId
  if (id !== undefined && id >= 1 && id <= 65_535) return id
  const names = Object.keys(chains).filter((name) => chains[name]?.wormholeChainId !== undefined)
  throw new RelayerError('INPUT_INVALID', { detail: `There is no chain ${chain}; configured: ${names.join(', ')}.` })
}

const failed = {
  description: 'Why the VAA was refused.',
  content: {
    'application/json': { schema: z.object({ message: z.literal('Request failed'), code: z.string(), error: z.string() }) },
    ...errorSchema.content,
  },
}

/**
 * The route `GET /relayvaa/{vaa}` of spy_relayer. The answer "Scheduled" means that the signatures are valid and the
 * transfer exists.
 */
export function relayVaaRoute(app: Api, deps: ApiDeps): void {
  const schema = {
    summary: "spy_relayer's route: submit a VAA as base64 in the path",
    params: z.object({ '*': z.string().describe('The VAA, base64.') }),
    response: { 200: z.object({ message: z.literal('Scheduled') }), 400: failed, 503: failed },
  }
  app.get('/relayvaa/*', { config: { access: 'transfer submit' }, schema }, async (request, reply) => {
    try {
      const vaa = request.params['*']
      if (!vaa) throw new RelayerError('MESSAGE_ENCODING', { detail: 'The path holds no VAA.' })
      await submit(deps, request, { bridge: defaultBridge(deps.network.bridges), message: messageBytes(vaa) })
      return await reply.status(200).send({ message: 'Scheduled' })
    } catch (error) {
      const { status, headers, body } = toErrorAnswer(error)
      void reply.headers(headers)
      // Clients of spy_relayer expect 400 for a refusal. Errors of the server are 503, so that a proxy may retry.
      return reply.status(status >= 500 ? 503 : 400).send({ message: 'Request failed', code: body.code, error: textOf(body) })
    }
  })
}

function defaultBridge(bridges: Bridges): string {
  const [first] = bridges.keys()
  if (first === undefined) throw new RelayerError('INPUT_INVALID', { detail: 'No bridge is configured.' })
  return first
}

interface Submission extends Pick<SubmitOptions, 'priority' | 'deadline' | 'withinMs'>, Terms {
  readonly bridge: string
  readonly message: Uint8Array
  readonly reason?: string | undefined
}

/** Submits under the token's name. Throws INPUT_INVALID, LANE_NOT_FOUND, ACCESS_SCOPE and the submitter's errors. */
async function submit(
  { submitter, config, network: { bridges }, metrics }: ApiDeps,
  request: FastifyRequest,
  { bridge, message, reason = 'handed in', priority, deadline, withinMs, ...terms }: Submission,
): Promise<SubmitResult> {
  const protocol = bridges.get(bridge)
  if (!protocol) {
    throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${bridge}; configured: ${[...bridges.keys()].join(', ')}.` })
  }
  metrics.portage_intake_messages_total.inc({ via: 'api', bridge })
  try {
    const { targetChain } = protocol.decode(message)
    const lane = terms.lane === undefined ? undefined : laneOfTarget(config, terms.lane, targetChain)
    const by = orderedBy(request, { ...aboutTransfer(targetChain), lane })
    const chosen = defined({ ...terms, lane })
    const options = { priority, deadline, withinMs, ...(Object.keys(chosen).length > 0 && { terms: chosen }), order: { by, reason } }
    const answer = await submitter.submit(bridge, message, options)
    metrics.portage_intake_started_total.inc({ via: 'api', bridge, status: answer.status })
    return answer
  } catch (error) {
    metrics.portage_intake_refused_total.inc({ via: 'api', bridge, code: toRelayerError(error).code })
    throw error
  }
}

function laneOfTarget(config: ApiDeps['config'], given: string, targetChain: ChainName): LaneId {
  const lane = resolveLane(config, given, targetChain)
  if (lanesOf(config).some(({ id, chain }) => id === lane && chain === targetChain)) return lane
  throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane, chain: targetChain } })
}
