import type { z } from 'zod'
import type { Api, ApiDeps, ApiOptions } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { changeSchema, settingsSchema } from '../settings-schema.ts'
import { changeSettings } from '../../temporal/client/settings.ts'

/** `POST /v1/settings`: applies all orders of the request, or none; safe to repeat. Answers with the settings after it. */
export function settingsChangeRoute(app: Api, { client }: ApiDeps, { known }: ApiOptions): void {
  const schema = {
    summary: 'Change the settings: halt, deny, fees, nodes',
    body: changeSchema,
    response: { 200: settingsSchema, 400: errorSchema, 422: errorSchema, 503: errorSchema },
  }
  app.post('/v1/settings', { schema }, async (request) => {
    const { after } = await changeSettings(client, known, request.body)
    const { audit: _, ...settings } = after
    return structuredClone(settings) as z.output<typeof settingsSchema>
  })
}
