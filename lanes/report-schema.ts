import { z } from 'zod'

/** The browser page bundles this file, so this file must not import Node modules. */

const text = (about: string) => z.string().optional().describe(about)
const number = (about: string) => z.number().optional().describe(about)

export const laneReportSchema = z.object({
  lane: z.string(),
  chain: text('Absent if the lane is not in this config, although its ledger runs.'),
  status: z
    .string()
    .describe('active, syncing, paused, draining, forbidden, broke, chain replaced, unserved, chain away, no ledger yet, no answer.'),
  reason: text('Why the lane accepts no work.'),
  by: text('The name of the token that ordered this status.'),
  next: number('The next nonce to be granted.'),
  latest: number('Nonces that are in a block.'),
  finalized: z.number().optional(),
  inFlight: number('Granted nonces that are in no block.'),
  window: number('Limit of nonces in flight.'),
  balance: z
    .string()
    .regex(/^\d{1,78}$/)
    .optional()
    .describe('Wei, decimal.'),
  observedAt: text('When the figures were read from the chain.'),
})
