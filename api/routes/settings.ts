import { z } from 'zod'
import { changeSettings, readSettings } from '../../temporal/client/settings.ts'
import type { Api, ApiDeps, ApiOptions } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { auditSchema, changeSchema, settingsSchema } from '../settings-schema.ts'

type SettingsAnswer = z.output<typeof settingsSchema>
type AuditAnswer = z.output<typeof auditSchema>['audit']

/** `GET /v1/settings`, `POST /v1/settings` and `GET /v1/settings/audit`. */
export function settingsRoutes(app: Api, { client }: ApiDeps, { known }: ApiOptions): void {
  const show = { summary: 'What operators changed while everything runs', response: { 200: settingsSchema, 503: errorSchema } }
  app.get('/v1/settings', { schema: show }, async () => {
    const { audit: _, ...settings } = await readSettings(client)
    return structuredClone(settings) as SettingsAnswer
  })

  const change = {
    summary: 'Change the settings: halt, deny, fees, nodes. All orders are applied or none; safe to repeat',
    body: changeSchema,
    response: { 200: settingsSchema, 400: errorSchema, 422: errorSchema, 503: errorSchema },
  }
  app.post('/v1/settings', { schema: change }, async (request) => {
    const { audit: _, ...settings } = (await changeSettings(client, known, request.body)).after
    return structuredClone(settings) as SettingsAnswer
  })

  const audit = {
    summary: 'The latest 200 changes of the settings, newest first',
    querystring: z.strictObject({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    response: { 200: auditSchema, 400: errorSchema, 503: errorSchema },
  }
  app.get('/v1/settings/audit', { schema: audit }, async (request) => {
    const settings = await readSettings(client)
    const latest = settings.audit.toReversed().slice(0, request.query.limit)
    return { version: settings.version, audit: structuredClone(latest) as AuditAnswer }
  })
}
