import { collectCauses } from '../../operations/causes/collect.ts'
import { causeReportSchema } from '../../operations/causes/schema.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import type { Api, ApiDeps } from '../deps.ts'

/** ms: each read calls Temporal and every node. */
const keepMs = 2_000

/** `GET /v1/stuck`: as `portage stuck --json`. Returns the reader for other routes. */
export function stuckRoute(app: Api, { config, client, spies }: ApiDeps): () => ReturnType<typeof collectCauses> {
  const collect = keptRead(() => collectCauses(client, { config, environment: process.env, spies }), { fromAnswer: keepMs })
  const schema = { summary: 'Causes of stuck transfers, and their remedies', response: { 200: causeReportSchema } }
  app.get('/v1/stuck', { config: { access: 'read' }, schema }, async () => {
    const { causes, ...report } = await collect()
    return { ...report, causes: causes.map((cause) => ({ ...cause, examples: [...cause.examples], next: [...cause.next] })) }
  })
  return collect
}
