import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type OrderName, orderOf, orders } from '../../operations/orders/orders.ts'
import type { Field, OrderContext, OrderSpec } from '../../operations/orders/spec.ts'
import { textSchema } from '../../operations/orders/values.ts'
import { orderedBy } from '../access.ts'
import { type Api, type ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { idempotencyHeaders, once } from '../idempotency.ts'
import { createReadGate, type ReadGate } from '../read-gate.ts'

export const subjectParams = {
  lane: z.object({ lane: textSchema(200).describe('The id of a lane (`evm-1:0x…`), or the address of a configured lane.') }),
  stream: z.object({
    stream: textSchema(300).describe(
      'Id of the stream: `native-bridge:{source}:{target}` or `{bridge}:{source}:{emitter}`, with the names or the numbers of the chains.',
    ),
  }),
  receiver: z.object({ receiver: textSchema(31).describe('Name of the receiver in the config.') }),
  transaction: z.object({ id: textSchema(300).describe('The id of the workflow of the transaction.') }),
} as const

export const reasonSchema = z.string().trim().min(1).max(500).describe('The reason for the order, kept with the name of the token.')
const payingTwice = 'Without the header Idempotency-Key, a repeated request pays again.'

export function orderRoutes(app: Api, deps: ApiDeps): void {
  const gates: Partial<Record<OrderName, ReadGate>> = { 'stream checkpoint write': createReadGate({ atOnce: 2, waiting: 8 }) }
  for (const name of Object.keys(orders) as OrderName[]) {
    const spec = orderOf(name)
    if (spec.route !== undefined && spec.run && spec.answer) addRoute(app, deps, name, spec, gates[name])
  }
}

function addRoute(app: Api, deps: ApiDeps, name: OrderName, spec: OrderSpec, gate: ReadGate = (read) => read()): void {
  const { route = '', subject, pays, answer, run } = spec
  const status = pays ? 202 : 200
  const schema = {
    ...orderTexts(name),
    ...(subject && { params: subjectParams[subject] }),
    ...(pays && { headers: idempotencyHeaders }),
    ...(spec.reason && { body: bodyOf(spec) }),
    response: { [status]: answer, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  }
  app.post(route, { config: { access: name }, schema }, async (request, reply) => {
    const { reason = '', ...given } = (request.body ?? {}) as { readonly reason?: string }
    const [target = ''] = Object.values(request.params as Record<string, string>)
    const work = async () => {
      const result = await run?.(contextOf(deps, request, reason), target, given as never)
      return { status, body: result?.json }
    }
    const { body } = pays ? await once(deps, request, reply, work) : await gate(work)
    return reply.status(status).send(body)
  })
}

export function orderTexts(name: OrderName): { readonly summary: string; readonly description?: string } {
  const { summary, details, pays } = orderOf(name)
  const description = [details, pays && payingTwice].filter(Boolean).join(' ')
  return { summary, ...(description && { description }) }
}

type Described = Readonly<Record<string, Pick<Field, 'schema' | 'help' | 'onlyCommand'>>>

export function schemasOf<Of extends Described>(fields: Of): { readonly [Name in keyof Of]: Of[Name]['schema'] } {
  const described = Object.entries(fields).filter(([, { onlyCommand }]) => !onlyCommand)
  return Object.fromEntries(described.map(([name, { schema, help }]) => [name, schema.describe(help)])) as never
}

function bodyOf({ fields = {}, reason, conflict }: OrderSpec): z.ZodType {
  const why =
    typeof reason === 'object' ? reasonSchema.default(reason.usual) : reason === 'optional' ? reasonSchema.optional() : reasonSchema
  const body = z.strictObject({ ...schemasOf(fields), reason: why })
  if (!conflict) return body
  return body.superRefine((given, context) => {
    const wrong = conflict(given as never)
    if (wrong) context.addIssue({ code: 'custom', path: [wrong.path], message: wrong.message })
  })
}

function contextOf({ client, config, network }: ApiDeps, request: FastifyRequest, reason: string): OrderContext {
  const key = request.headers['idempotency-key']
  return {
    ...{ client, config, key: typeof key === 'string' ? key : undefined },
    allow: (about) => ({ by: orderedBy(request, about), reason }),
    heights: (chain) => network.chains.get(chain)?.heads.current,
    withChain: async (name, use) => {
      const chain = network.chains.get(name)
      if (!chain) throw new RelayerError('INPUT_INVALID', { detail: `This process does not read ${name}.` })
      return use(chain)
    },
  }
}
