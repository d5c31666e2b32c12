import { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'

const nodeSchema = z.object({
  chain: z.string(),
  name: z.string(),
  origin: z.string().describe('Scheme, host and port: the rest of a URL may hold a key.'),
  use: z.enum(['all', 'read', 'send', 'private']),
  state: z
    .enum(['unknown', 'up', 'open', 'half-open', 'wrong-network', 'disabled'])
    .describe('open: too many calls failed; it is tried again later.'),
  lag: z.number().optional().describe('Blocks behind the head of the majority.'),
  latencyMs: z.number().optional().describe('Of its latest answers, ms.'),
  failures: z.number(),
  asOf: z.string().optional().describe('End of its latest call, answered or not: the state is not newer. Absent: it was not called.'),
  added: z.boolean().optional().describe('An operator added it; it counts in no majority.'),
})

const chainSchema = z.object({
  chain: z.string(),
  latest: z.number().optional().describe('Height of the head; absent: no block was read yet.'),
  latestAt: z.string().optional().describe('Time of that block.'),
  finalized: z.number().optional(),
})

/** `GET /v1/nodes`: the chains of this process and their nodes, from its own readings. */
export function nodeRoutes(app: Api, { network }: ApiDeps): void {
  const schema = {
    summary: 'The chains that this process reads, and their nodes',
    response: { 200: z.object({ asOf: z.string(), chains: z.array(chainSchema), nodes: z.array(nodeSchema) }) },
  }
  app.get('/v1/nodes', { config: { access: 'read' }, schema }, () => {
    const chains = [...network.chains.values()]
    return {
      asOf: new Date().toISOString(),
      chains: chains.map(({ name, heads: { current } }) => ({
        chain: name,
        ...(current && {
          latest: current.latest.height,
          latestAt: new Date(current.latest.timestamp * 1_000).toISOString(),
          finalized: current.finalized,
        }),
      })),
      nodes: chains.flatMap((chain) =>
        chain.nodes().map(({ askedAt, ...node }) => ({
          ...{ chain: chain.name, ...node },
          ...(askedAt !== undefined && { asOf: new Date(askedAt).toISOString() }),
        })),
      ),
    }
  })
}
