import { z } from 'zod'
import { createTrafficReader, trafficMinutes } from '../../temporal/client/transfers/traffic.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

const times = {
  medianMs: z.number().optional().describe('Half of the deliveries took no longer, from the start of the workflow until it ended, ms.'),
  p95Ms: z.number().optional().describe('95 of 100 deliveries took no longer, ms.'),
}
const counts = z.record(z.string(), z.number())

const flowSchema = z.object({
  asOf: z.string().describe('When the lists of the server were read.'),
  minutes: z.number(),
  stepMs: z.number(),
  open: z.number(),
  isOpenCut: z.boolean().describe('More are open than are listed; the counts are of the newest.'),
  endedSince: z.string().optional().describe('Transfers that ended earlier are not listed. Absent: the window is complete.'),
  delivered: z.number().describe('Deliveries in the window.'),
  ...times,
  routes: z.array(
    z.object({
      ...{ bridge: z.string(), source: z.string(), target: z.string() },
      open: counts.describe('Open transfers, by state.'),
      ended: counts.describe('Transfers that ended in the window, by outcome; undone: closed without one.'),
      oldestOpenAt: z.number().optional().describe('ms since the epoch.'),
      ...times,
    }),
  ),
  steps: z.array(z.object({ at: z.number().describe('ms since the epoch.'), delivered: z.number(), ...times })),
})

/** `GET /v1/flow?minutes=`: traffic and its times, from the server's lists, without a worker. */
export function flowRoute(app: Api, { client }: ApiDeps): void {
  const reader = createTrafficReader(client)
  const schema = {
    summary: 'Transfers between the chains: open ones by state, deliveries and their times over a window',
    querystring: z.strictObject({
      minutes: z
        .enum(trafficMinutes.map(String) as [string, ...string[]])
        .default('60')
        .describe('Length of the window.'),
    }),
    response: { 200: flowSchema, 503: errorSchema },
  }
  app.get('/v1/flow', { config: { access: 'read' }, schema }, async ({ query }) => {
    const minutes = trafficMinutes.find((one) => String(one) === query.minutes) ?? 60
    const { routes, steps, ...rest } = await reader.read(minutes)
    return { ...rest, routes: [...routes], steps: [...steps] }
  })
}
