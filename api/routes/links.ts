import { z } from 'zod'
import { explorerOf } from '../../config/explorers.ts'
import type { Api, ApiDeps } from '../deps.ts'

const linksSchema = z.object({
  namespace: z.string().describe('The Temporal namespace, which names the deployment.'),
  temporalWebUi: z.string().optional().describe("Base URL of Temporal's Web UI. Absent: the config names none."),
  chains: z.record(
    z.string(),
    z.object({ networkId: z.number(), explorer: z.string().optional().describe('Base URL of its block explorer. Absent: none is known.') }),
  ),
})

/** `GET /v1/links`: where a person finds more of what the API names: Temporal's Web UI and the block explorers, as the config has them. */
export function linksRoute(app: Api, { config: { temporal, chains } }: ApiDeps): void {
  const links = {
    namespace: temporal.namespace,
    ...(temporal.webUi !== undefined && { temporalWebUi: temporal.webUi }),
    chains: Object.fromEntries(
      Object.entries(chains).map(([name, chain]) => [name, { networkId: chain.networkId, explorer: explorerOf(chain) }] as const),
    ),
  }
  const schema = { summary: "Base URLs of Temporal's Web UI and of block explorers", response: { 200: linksSchema } }
  app.get('/v1/links', { config: { access: 'read' }, schema }, () => links)
}
