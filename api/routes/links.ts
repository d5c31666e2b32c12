import { z } from 'zod'
import { coinOf } from '../../config/coins.ts'
import { explorerOf } from '../../config/explorers.ts'
import type { Api, ApiDeps } from '../deps.ts'

const linksSchema = z.object({
  namespace: z.string().describe('The Temporal namespace, which identifies the deployment.'),
  temporalWebUi: z.string().optional().describe("Base URL of Temporal's Web UI. Absent: the config names none."),
  chains: z.record(
    z.string(),
    z.object({
      networkId: z.number(),
      explorer: z.string().optional().describe('Base URL of its block explorer. Absent: none is known.'),
      coin: z.string().optional().describe('Symbol of the coin that pays gas on it. Absent: not known.'),
    }),
  ),
})

/** `GET /v1/links`: Temporal's Web UI and the block explorers of the config, and the symbols of coins. */
export function linksRoute(app: Api, { config: { temporal, chains } }: ApiDeps): void {
  const links = {
    namespace: temporal.namespace,
    ...(temporal.webUi !== undefined && { temporalWebUi: temporal.webUi }),
    chains: Object.fromEntries(
      Object.entries(chains).map(([name, chain]) => {
        const { networkId } = chain
        return [name, { networkId, explorer: explorerOf(chain), coin: coinOf({ chains }, networkId) }] as const
      }),
    ),
  }
  const schema = {
    summary: "Base URLs of Temporal's Web UI and of block explorers, and the coins of chains",
    response: { 200: linksSchema },
  }
  app.get('/v1/links', { config: { access: 'read' }, schema }, () => links)
}
