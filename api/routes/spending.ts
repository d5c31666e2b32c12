import { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'

const schema = {
  summary: 'What the keys of this process have signed for lately, and their limits',
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
                spent: z.string().describe('Wei: each nonce once, by its dearest attempt.'),
                limit: z.string().describe('Wei, by the config.'),
              }),
            )
            .describe('Empty: the config sets no limit.'),
        }),
      ),
    }),
  },
}

/** `GET /v1/spending`: of the lanes whose keys this process holds; another process tells of its own in its metrics. */
export function spendingRoute(app: Api, { spending }: ApiDeps): void {
  app.get('/v1/spending', { config: { access: 'read' }, schema }, () => ({
    asOf: new Date().toISOString(),
    lanes: (spending?.() ?? []).map((row) => ({
      lane: row.lane,
      spending: row.spending.map(({ window, spent, limit }) => ({ window, spent: String(spent), limit: String(limit) })),
    })),
  }))
}
