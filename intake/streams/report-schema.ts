import { z } from 'zod'

/** A stream's report. The stream of a newer version may have more fields. */
export const streamReportSchema = z
  .looseObject({
    stream: z.string(),
    workflowId: z.string().optional().describe("Id of the stream's workflow in Temporal."),
    problem: z.string().optional().describe('Why the stream did not answer; every other field is absent then.'),
    cursor: z.number().optional().describe('Last block of the live scan.'),
    lag: z.number().optional().describe("Blocks from the cursor to the source's finalized head, where this process reads it."),
    headAt: z.string().optional().describe("Time of the source's head, up to which the lag is counted."),
    updatedAt: z
      .number()
      .optional()
      .describe('Time of the last update of the stream, ms since the epoch. The other fields are as of this time.'),
    silentSince: z
      .string()
      .optional()
      .describe('Time of the last report of an intake. Absent unless the reports of two audits are overdue.'),
    asOf: z.string().optional().describe('Time of this reading.'),
    completed_nonce_height: z.string().optional().describe('MIP-61: all numbers up to this one are resolved.'),
    completed_block_height: z.number().optional().describe('MIP-61: no block up to this one can hold an unresolved number.'),
    paused: z
      .object({ by: z.string(), reason: z.string(), at: z.number() })
      .optional()
      .describe('The name and reason of the pause, and its time, ms since the epoch. Absent: the stream is not paused.'),
    unproved: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('Guarantees that are missing because the config has no node of the source; absent: none.'),
  })
  .meta({ id: 'Stream', description: 'The present state of a stream: docs/operate/streams.md.' })
