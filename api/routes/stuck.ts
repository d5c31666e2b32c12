import { collectCauses } from '../../operations/causes/collect.ts'
import { causeReportSchema } from '../../operations/causes/schema.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import type { Api, ApiDeps } from '../deps.ts'

/** The answer is given again for so long, ms: each costs calls to Temporal and to every node, and many may look. */
const keepMs = 2_000

/** `GET /v1/stuck`: as `portage stuck --json`. Also while Temporal or the nodes are away, which are causes then. Returns what it asks, for others. */
export function stuckRoute(app: Api, { config, client, spies }: ApiDeps): () => ReturnType<typeof collectCauses> {
  const collect = keptRead(() => collectCauses(client, { config, environment: process.env, spies }), { fromAnswer: keepMs })
  const schema = { summary: 'What is stuck, why, and what to do', response: { 200: causeReportSchema } }
  app.get('/v1/stuck', { config: { access: 'read' }, schema }, async () => {
    const { causes, ...report } = await collect()
    return { ...report, causes: causes.map((cause) => ({ ...cause, examples: [...cause.examples], next: [...cause.next] })) }
  })
  return collect
}
