import { z } from 'zod'
import { sequenceSchema } from './routes/submit-transfer.ts'
import type { StreamOrder } from '../streams/orders.ts'

const author = {
  by: z.string().trim().min(1).max(100).describe('The person who orders it; recorded by the stream.'),
  reason: z.string().trim().min(1).max(500).describe('The reason; the stream records its first 60 bytes.'),
}
const by = author.by
const height = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const number = sequenceSchema

/** The request bodies of the orders. */
export const orderBodies = {
  skip: z.strictObject({ number, ...author }),
  unskip: z.strictObject({ number, ...author }),
  backfill: z
    .strictObject({ from: height.describe('First block.'), to: height.describe('Last block, at most the cursor.'), by })
    .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be below from' }),
  pause: z.strictObject(author),
  resume: z.strictObject({}).nullish(),
  trust: z.strictObject({
    number: number.describe('All numbers up to it are resolved.'),
    height: height.optional().describe('No block up to it has to be read.'),
    by,
  }),
} as const

export type OrderName = keyof typeof orderBodies

/** The order of a route and its body. */
export function toOrder<Name extends OrderName>(kind: Name, body: z.output<(typeof orderBodies)[Name]>): StreamOrder {
  return { ...body, kind } as StreamOrder
}

/** Loose, so that the fields that a newer stream adds are shown, too. */
export const reportSchema = z
  .looseObject({
    stream: z.string(),
    problem: z.string().optional().describe('Why the stream did not answer; nothing else is known of it.'),
    cursor: z.number().optional().describe('Last block of the live scan.'),
    lag: z.number().optional().describe("Blocks from the cursor to the source's finalized head, where this process reads it."),
    completed_nonce_height: z.string().optional().describe('MIP-61: every number up to it is resolved.'),
    completed_block_height: z.number().optional().describe('MIP-61: no block up to it can hold an unresolved number.'),
  })
  .describe('The present state of a stream: docs/streams.md.')

export const shownSchema = z
  .looseObject({ view: reportSchema })
  .describe('The whole state: open numbers, gaps, exceptions, blocks left of the backfill.')

export const obeyedSchema = z.object({
  done: z.boolean().describe('False: the order changed nothing.'),
  view: reportSchema,
})
