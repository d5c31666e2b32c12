import { z } from 'zod'
import { namesOf } from '../../config/chains.ts'
import { feePolicySchema } from '../../config/schema/lane-schema.ts'
import { changeSettings, readSettings } from '../../temporal/client/settings/settings.ts'
import { majorityWarnings } from '../../domain/settings/node-majority.ts'
import { aboutSettings } from '../../operations/access/subjects.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

const name = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be a name: lower case letters, digits and dashes')
const text = z.string().min(1).max(300)

const haltScope = z
  .strictObject({ bridge: name.optional(), chain: name.optional(), sourceChain: name.optional(), targetChain: name.optional() })
  .describe('Every field narrows the scope; without any it is everything.')

const feeScope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('transfer'), id: text }),
  z.strictObject({ kind: z.literal('lane'), lane: text }),
  z.strictObject({ kind: z.literal('call'), chain: name, contract: text, selector: text.optional() }),
  z.strictObject({ kind: z.literal('chain'), chain: name }),
  z.strictObject({ kind: z.literal('global') }),
])

const nodeChange = z.strictObject({
  chain: name,
  name,
  disabled: z.boolean(),
  url: text.optional().describe('Only of an added node; a secret in it has to be a ${VARIABLE} of the workers.'),
  use: z.enum(['all', 'read', 'send', 'private']).optional(),
})

const denied = { what: z.enum(['recipient', 'token']), value: text }

/** The id of a token, as each that Portage signs has it: what is no id would only fill the list of revoked ones. */
const tokenId = z.uuid()
const revokeToken = <Id extends z.ZodString | z.ZodUUID>(jti: Id) => z.strictObject({ kind: z.literal('revokeToken'), jti })

const otherOrders = [
  z.strictObject({ kind: z.literal('halt'), scope: haltScope }),
  z.strictObject({ kind: z.literal('unhalt'), scope: haltScope }),
  z.strictObject({ kind: z.literal('deny'), ...denied }),
  z.strictObject({ kind: z.literal('allow'), ...denied }),
  z.strictObject({ kind: z.literal('setFees'), scope: feeScope, policy: feePolicySchema }),
  z.strictObject({ kind: z.literal('setNode'), change: nodeChange }),
  z.strictObject({ kind: z.literal('clearNode'), chain: name, name }),
] as const
/** One change; domain/settings/settings.ts says what each does. */
const orderSchema = z.discriminatedUnion('kind', [...otherOrders, revokeToken(tokenId)])
/** What the audit shows: tokens are made where their keys are (portage token create), and not by a request. */
const auditedSchema = z.union([...otherOrders, revokeToken(text), z.looseObject({ kind: z.literal('addToken') })])

/** The body of a change. */
const changeSchema = z.strictObject({
  reason: z.string().trim().min(1).max(500).describe('The reason; recorded in the audit.'),
  orders: z.array(orderSchema).min(1).max(100).describe('All are applied, or none.'),
})

const author = { reason: z.string(), by: z.string(), at: z.number().describe('ms since the epoch.') }

/** Without the audit: what the schema does not have is not sent. */
const settingsSchema = z.object({
  version: z.number().describe('Counts changes; 0: nothing was ever changed.'),
  halts: z.array(z.object({ scope: haltScope, ...author })).readonly(),
  denied: z.array(z.object({ kind: denied.what, value: text, ...author })).readonly(),
  fees: z.array(z.object({ scope: feeScope, policy: feePolicySchema })).readonly(),
  nodes: z.array(nodeChange).readonly(),
})

/** Of a change. */
const changedSchema = settingsSchema.extend({
  warnings: z.array(z.string()).optional().describe('What the change leaves too few nodes for; absent: nothing.'),
})

const auditSchema = z.object({
  version: z.number(),
  audit: z.array(z.object({ version: z.number(), ...author, order: auditedSchema })).describe('Newest first.'),
})

/** `GET /v1/settings`, `POST /v1/settings` and `GET /v1/settings/audit`. */
export function settingsRoutes(app: Api, { client, config }: ApiDeps): void {
  const read = { access: 'read' } as const
  const show = { summary: 'What operators changed while everything runs', response: { 200: settingsSchema, 503: errorSchema } }
  app.get('/v1/settings', { config: read, schema: show }, () => readSettings(client))

  const change = {
    summary: 'Change the settings: halt, deny, fees, nodes. All orders are applied or none; safe to repeat',
    body: changeSchema,
    response: { 200: changedSchema, 400: errorSchema, 422: errorSchema, 503: errorSchema },
  }
  app.post('/v1/settings', { config: { access: 'settings import' }, schema: change }, async (request) => {
    const { reason, orders } = request.body
    const by = orderedBy(request, aboutSettings(orders))
    const known = namesOf(config)
    const { after } = await changeSettings(client, known, { by, reason, orders })
    const warnings = majorityWarnings(orders, after, known.voters ?? {})
    return warnings.length > 0 ? { ...after, warnings } : after
  })

  const audit = {
    summary: 'The latest 200 changes of the settings, newest first',
    querystring: z.strictObject({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    response: { 200: auditSchema, 400: errorSchema, 503: errorSchema },
  }
  app.get('/v1/settings/audit', { config: read, schema: audit }, async (request) => {
    const { version, audit: changes } = await readSettings(client)
    return { version, audit: changes.toReversed().slice(0, request.query.limit) }
  })
}
