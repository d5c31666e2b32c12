import { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { auditSchema } from '../settings-schema.ts'
import { readSettings } from '../../temporal/client/settings.ts'

/** `GET /v1/settings/audit?limit=`: the latest 200 changes, newest first. */
export function settingsAuditRoute(app: Api, { client }: ApiDeps): void {
  const schema = {
    summary: 'Who changed the settings, when and why',
    querystring: z.strictObject({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    response: { 200: auditSchema, 400: errorSchema, 503: errorSchema },
  }
  app.get('/v1/settings/audit', { schema }, async (request) => {
    const { version, audit } = await readSettings(client)
    return { version, audit: structuredClone(audit.toReversed().slice(0, request.query.limit)) as Answer }
  })
}

type Answer = z.output<typeof auditSchema>['audit']
