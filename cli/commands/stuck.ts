import { collectCauses } from '../../operations/causes/collect.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import type { CommandSpec } from '../command.ts'
import { stuckText } from '../output/stuck-text.ts'

export const stuckCommand: CommandSpec = {
  description: 'Causes of stuck transfers and their remedies: one row for each cause, the most harmful first.',
  notes: `Reads Temporal, every node, the guardian spy and the ledgers now, each with a time limit. Changes nothing.
docs/runbooks/README.md has the steps for each cause. The exit code is 0 if nothing is stuck, else 1. Transfers that the deny-list
declined are shown and do not count as stuck.`,
  examples: ['portage stuck', 'portage stuck --json'],
  run: async ({ config: load, temporalOf, context }) => {
    const config = await load()
    const options = { config, environment: context.env }
    // An unreachable Temporal is one cause of several.
    const report = await withTemporalClient(temporalOf(config), (client) => collectCauses(client, options)).catch((error: unknown) => {
      if (error instanceof RelayerError && !notTemporal.has(error.code)) return collectCauses(error, options)
      throw error
    })
    return { json: report, text: stuckText(report, Date.now()), failed: report.stuck }
  },
}

const notTemporal: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'INPUT_INVALID', 'INTERNAL'])
