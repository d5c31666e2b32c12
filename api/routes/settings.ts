import type { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { settingsSchema } from '../settings-schema.ts'
import { readSettings } from '../../temporal/client/settings.ts'

/** `GET /v1/settings`: halts, deny-list, fee rules and changed nodes, as they are now. */
export function settingsRoute(app: Api, { client }: ApiDeps): void {
  const schema = { summary: 'What operators changed while everything runs', response: { 200: settingsSchema, 503: errorSchema } }
  app.get('/v1/settings', { schema }, async () => {
    const { audit: _, ...settings } = await readSettings(client)
    return structuredClone(settings) as z.output<typeof settingsSchema>
  })
}
