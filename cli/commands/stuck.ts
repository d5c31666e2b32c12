import { collectCauses } from '../../operations/causes/collect.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import type { CommandSpec } from '../command.ts'
import { stuckText } from '../output/stuck-text.ts'

export const stuckCommand: CommandSpec = {
  description: 'What is stuck, why, and what to do: one row for each cause, the most harmful first.',
  notes: `Asks Temporal, every node, the guardian spy and the ledgers just now, each with a time limit, and shows nothing of an old reading. Changes nothing.
docs/runbooks/README.md has what to do for each cause. The exit code is 0 where nothing stands, and 1 where something does; that transfers were declined by
the deny-list is told, and is nothing that stands.`,
  examples: ['portage stuck', 'portage stuck --json'],
  run: async ({ config: load, temporalOf, context }) => {
    const config = await load()
    const options = { config, environment: context.env }
    // A Temporal that is away is a cause, and the others are shown beside it.
    const report = await withTemporalClient(temporalOf(config), (client) => collectCauses(client, options)).catch((error: unknown) => {
      if (error instanceof RelayerError && !notTemporal.has(error.code)) return collectCauses(error, options)
      throw error
    })
    return { json: report, text: stuckText(report, Date.now()), failed: report.stuck }
  },
}

const notTemporal: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'INPUT_INVALID', 'INTERNAL'])
