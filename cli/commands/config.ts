import { configJsonSchema } from '../../config/schema/fields.ts'
import type { CommandSpec } from '../command.ts'
import { facts, verbatim } from '../output/output.ts'
import { temporalText } from '../doctor/temporal.ts'

export const configCommand: CommandSpec = {
  description: 'The config file.',
  commands: {
    check: {
      description: 'Read the config and list all its problems at once, each with its field and what to do.',
      examples: ['portage config check --config portage.yaml'],
      run: async ({ config, temporalOf, configFile: file }) => {
        const loaded = await config()
        const { chains, bridges } = loaded
        const temporal = temporalOf(loaded).settings
        const lanes = Object.values(chains).reduce((count, chain) => count + chain.lanes.length, 0)
        const found = { chains: Object.keys(chains), lanes, bridges: Object.keys(bridges) }
        const text = facts({
          config: 'valid',
          chains: found.chains.join(', '),
          lanes,
          bridges: found.bridges.join(', '),
          ...temporalText(temporal),
        })
        return { json: { valid: true, file, ...found, temporal }, text }
      },
    },
    schema: {
      description: 'Print the JSON Schema of the config file. Editors complete and check the file with it.',
      notes: `An editor with the YAML language server uses it if the first line of the config is
  # yaml-language-server: $schema=portage.schema.json`,
      examples: ['portage config schema > portage.schema.json'],
      run: async () => {
        const json = configJsonSchema()
        return { json, text: verbatim(JSON.stringify(json, null, 2)) }
      },
    },
  },
}
