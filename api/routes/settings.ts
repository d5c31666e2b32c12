import { z } from 'zod'
import { settingsAuditSchema, settingsSchema } from '../../operations/orders/settings.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

const access = { config: { access: 'read' } } as const

/** `GET /v1/settings` and `GET /v1/settings/audit`. */
export function settingsRoutes(app: Api, { client }: ApiDeps): void {
  const show = { summary: 'Changes of operators to the running processes', response: { 200: settingsSchema, 503: errorSchema } }
  app.get('/v1/settings', { ...access, schema: show }, () => readSettings(client))

  const audit = {
    summary: 'The latest 200 changes of the settings, newest first',
    querystring: z.strictObject({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    response: { 200: settingsAuditSchema, 400: errorSchema, 503: errorSchema },
  }
  app.get('/v1/settings/audit', { ...access, schema: audit }, async (request) => {
    const { version, audit: changes } = await readSettings(client)
    return { version, audit: changes.toReversed().slice(0, request.query.limit) }
  })
}
