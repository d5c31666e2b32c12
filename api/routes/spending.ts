import { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'

const schema = {
  summary: 'Recent spending of the keys of this process, and their limits',
  response: {
    200: z.object({
      asOf: z.string(),
      lanes: z.array(
        z.object({
          lane: z.string(),
          spending: z
            .array(
              z.object({
                window: z.enum(['hour', 'day']),
                spent: z.string().describe('Wei: each nonce once, by its most expensive attempt.'),
                limit: z.string().describe('Wei, by the config.'),
              }),
            )
            .describe('Empty: the config sets no limit.'),
        }),
      ),
    }),
  },
}

/** `GET /v1/spending`: the lanes whose keys this process holds. Other processes export theirs as metrics. */
export function spendingRoute(app: Api, { spending }: ApiDeps): void {
  app.get('/v1/spending', { config: { access: 'read' }, schema }, () => ({
    asOf: new Date().toISOString(),
    lanes: (spending?.() ?? []).map((row) => ({
      lane: row.lane,
      spending: row.spending.map(({ window, spent, limit }) => ({ window, spent: String(spent), limit: String(limit) })),
    })),
  }))
}
