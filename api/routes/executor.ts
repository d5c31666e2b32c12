import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import { mostInstructions } from '../../bridges/executor/requests.ts'
import { type KnownRequest, mostRequests, statusRow } from '../../bridges/executor/status.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { toErrorAnswer } from '../errors.ts'
import { logFailure } from '../http.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'

/** Maximum bytes of a body. The largest valid body has 2 KB of relay instructions in hex. */
const bodyLimit = 8 * 1_024

/** Callers that ask about the same transaction share one answer, even an empty one, for this time (ms). */
const keepMs = 5_000
const mostKept = 200

const chainId = z.number().int().min(1).max(65_535)
const decimal = z.string().describe('Decimal.')
const hexBytes = (about: string) => z.string().describe(`${about}, 0x hex.`)
const time = z.string().describe('ISO 8601.')
/** Only a hash reaches nodes. A node's error may quote its input, so a caller could choose the words of the error. */
const transactionHash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits')

const failure = z.object({ message: z.string(), statusCode: z.number().int() }).meta({ id: 'ExecutorFailure' })
const failures = { 400: failure, 429: failure, 431: failure, 503: failure }

const capabilitiesSchema = z.record(
  z.string(),
  z.object({
    requestPrefixes: z.array(z.string()).describe('Kinds of requests that are delivered to the chain.'),
    gasDropOffLimit: decimal.describe('Maximum amount of coins for a recipient, wei.'),
    maxGasLimit: decimal.describe('Maximum gas limit.'),
    maxMsgValue: decimal.describe('Maximum amount of coins, including the drop-off, wei.'),
  }),
)

const quoteBody = z.object({
  srcChain: chainId.describe('Wormhole chain id of the source.'),
  dstChain: chainId.describe('Wormhole chain id of the destination.'),
  relayInstructions: z
    .string()
    .max(2 + 2 * mostInstructions)
    .regex(/^(0x)?([0-9a-fA-F]{2})*$/, 'must be whole bytes in hex')
    .optional()
    .describe('Hex. If this field is given, the answer contains the price.'),
})
const quoteAnswer = z.object({
  signedQuote: hexBytes('A quote EQ01 with its signature'),
  estimatedCost: decimal.optional().describe('Price of a request with these instructions, in the smallest unit of the source.'),
})

const statusBody = z.object({
  txHash: transactionHash.describe('Source transaction with the request.'),
  chainId: chainId.optional().describe('Wormhole chain id of the source.'),
})
const relaySchema = z
  .object({
    id: z.string(),
    chainId: z.number(),
    txHash: z.string(),
    status: z.enum(['pending', 'submitted', 'failed', 'unsupported', 'underpaid', 'aborted']),
    failureCause: z.string().optional(),
    estimatedCost: decimal.optional().describe('Price by the signed quote. Absent if the quote or the instructions cannot be read.'),
    indexedAt: time,
    instruction: z.object({ request: z.looseObject({ prefix: z.string() }) }).optional(),
    requestForExecution: z.object({
      quoterAddress: z.string(),
      amtPaid: decimal,
      dstChain: z.number(),
      dstAddr: z.string(),
      refundAddr: z.string(),
      signedQuoteBytes: z.string(),
      requestBytes: z.string(),
      relayInstructionsBytes: z.string(),
      timestamp: time,
    }),
    signedQuote: z.object({ quote: z.record(z.string(), z.union([z.string(), z.number()])), signature: z.string() }).optional(),
    txs: z.array(z.object({ txHash: z.string(), chainId: z.number(), blockNumber: decimal, blockTime: time.optional(), cost: decimal })),
  })
  .meta({ id: 'ExecutorRelay' })

/** The routes of a relay provider need no token, because the web pages of integrators call them. */
export function executorRoutes(app: Api, deps: ApiDeps): void {
  const { executor: provider, requestsOf } = deps
  if (!provider) return
  const open = openTo(deps)
  const preflight = { ...open, schema: { hide: true } }
  app.options('/v0/*', preflight, (_, reply) =>
    reply
      .headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': '86400',
      })
      .status(204)
      .send(),
  )

  const can = {
    summary: 'Executor: the kinds and sizes of requests that Portage delivers, by Wormhole chain id',
    response: { 200: capabilitiesSchema, ...failures },
  }
  app.get('/v0/capabilities', { ...open, schema: can }, () =>
    Object.fromEntries(
      [...provider.capabilities()].map(([id, { requestPrefixes, maxGasDropOff, maxGasLimit, maxMsgValue }]) => [
        String(id),
        {
          requestPrefixes: [...requestPrefixes],
          gasDropOffLimit: String(maxGasDropOff),
          maxGasLimit: String(maxGasLimit),
          maxMsgValue: String(maxMsgValue),
        },
      ]),
    ),
  )

  const quote = { summary: 'Executor: a signed quote', body: quoteBody, response: { 200: quoteAnswer, ...failures } }
  app.post('/v0/quote', { ...open, schema: quote }, async ({ body: { srcChain, dstChain, relayInstructions } }) => {
    const instructions = relayInstructions === undefined ? undefined : Buffer.from(relayInstructions.replace(/^0x/, ''), 'hex')
    const { signed, cost } = await provider.quote({ source: srcChain, target: dstChain, instructions })
    return { signedQuote: signed, ...(cost !== undefined && { estimatedCost: String(cost) }) }
  })

  if (!requestsOf) return
  const summary = `Executor: the first ${mostRequests} requests of a source transaction. Empty: not known, or not yet`
  const shared = createSharedReads<readonly KnownRequest[]>(keepMs, createReadGate({ atOnce: 4, waiting: 32 }), mostKept)
  const status = { summary, body: statusBody, response: { 200: z.array(relaySchema), ...failures } }
  app.post('/v0/status/tx', { ...open, schema: status }, async ({ body }) => {
    const [hash, chain] = [body.txHash.toLowerCase(), body.chainId]
    return (await shared(`${chain ?? ''}/${hash}`, () => requestsOf(hash, chain))).map(statusRow)
  })
}

/** Options of routes for web pages of all origins. Errors have the form of relay providers, without details. */
function openTo({ logger }: Pick<ApiDeps, 'logger'>) {
  const errorHandler = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { status: usual, headers, body } = toErrorAnswer(error)
    // A 422 here can only be a fault of this server, such as a missing key, because no request can cause one.
    const status = usual === 422 ? 503 : usual
    logFailure(logger, request, { status, error })
    void reply
      .status(status)
      .headers(headers)
      .send({ message: status < 500 ? body.detail : body.title, statusCode: status })
  }
  return {
    config: { access: 'open' },
    bodyLimit,
    errorHandler,
    onSend: async (_, reply) => void reply.header('access-control-allow-origin', '*'),
  } as const satisfies RouteShorthandOptions
}
