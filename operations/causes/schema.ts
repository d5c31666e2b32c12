import { z } from 'zod'
import { type Severity, severities } from '../../domain/catalogue/row.ts'
import { causePlaces } from '../../domain/catalogue/cause.ts'

const severityNames = Object.keys(severities) as [Severity, ...Severity[]]
const time = z.iso.datetime()

export const causeSchema = z
  .object({
    code: z.string().describe('A code of docs/reference/errors.md. Causes have a runbook: docs/runbooks/README.md.'),
    severity: z.enum(severityNames).describe('The harm. everything: all work has stopped. note: nothing waits.'),
    what: z.string().describe('One sentence. It may quote operators, nodes or strangers: show it as text.'),
    where: z.object({ kind: z.enum(causePlaces), id: z.string() }).describe('The subject.'),
    since: time
      .optional()
      .describe('When the cause began. If a process is missing: the time of the last sign of one, as `what` then says.'),
    asOf: time.describe('When the cause was read.'),
    count: z
      .number()
      .int()
      .min(0)
      .describe(
        'Number of transfers, stream numbers or notifications that the cause holds up. A lower bound if there are more than 1,000 of a kind.',
      ),
    oldest: time.optional().describe('When the oldest transfer, number or notification began to wait.'),
    examples: z.array(z.string()).max(3).describe('Ids of some of these transfers, numbers or notifications.'),
    remedy: z.string().describe('How to end the cause.'),
    next: z.array(z.string()).describe('Commands that help in the present state, in the order in which to type them. Replace each <…>.'),
  })
  .meta({ id: 'Cause', description: 'One fault or order that holds up work.' })

export const causeReportSchema = z
  .object({
    asOf: time.describe('When the reading began.'),
    stuck: z.boolean().describe('False: nothing is stuck. Causes that are listed are notes.'),
    causes: z.array(causeSchema).describe('The most harmful first.'),
  })
  .meta({ id: 'CauseReport', description: 'Everything that is stuck, with the reason and the next commands.' })
