import { type NamespaceSetup, setUpNamespace } from '../../temporal/client/connection/namespace-setup.ts'
import { numberWithin } from '../arguments/options.ts'
import type { Call, CommandSpec } from '../command.ts'

const wholeHours = numberWithin(1, 99_999, 'It must be a whole number of hours, at least 1')

export const setupCommand: CommandSpec = {
  description: 'Set up the servers that Portage uses.',
  commands: {
    temporal: {
      description: 'Create the Temporal namespace and its search attributes where they are missing. Changes nothing that exists.',
      options: (command) => command.option('--retention <hours>', 'retention of closed workflows in a new namespace', wholeHours, 72),
      notes: `Reaches the server by the same settings as portage run: the config, temporal.toml and TEMPORAL_*. Needs the role admin in the namespace
(in a token: <namespace>:admin), which portage run does not need. On Temporal Cloud create both in its UI or with tcld. The exit
code is 1 if something is missing afterwards.`,
      examples: ['portage setup temporal', 'TEMPORAL_API_KEY=… portage setup temporal --retention 168 --json'],
      run: async ({ config, temporalOf, options: { retention } }: Call<{ retention: number }>) => {
        const target = temporalOf(await config())
        const { namespace, searchAttributes } = await setUpNamespace(target, { retentionHours: retention })
        const remedy = remedyOf(searchAttributes, target.namespace)
        return {
          json: { address: target.address, ready: remedy === undefined, namespace, searchAttributes, ...(remedy && { remedy }) },
          text: setupText({ namespace, searchAttributes }, remedy),
          failed: remedy !== undefined,
        }
      },
    },
  },
}

function remedyOf({ wrongType, refused }: NamespaceSetup['searchAttributes'], namespace: string): string | undefined {
  if (wrongType.length > 0) {
    return `${wrongType.join(', ')}: of another type than Keyword. Remove them (temporal operator search-attribute remove --namespace ${namespace}), or use another namespace.`
  }
  if (refused.length > 0) {
    return `${refused.join(', ')}: the server does not allow their creation. Run this with ${namespace}:admin; on Temporal Cloud create them in its UI or with tcld, of the type Keyword.`
  }
  return undefined
}

function setupText({ namespace, searchAttributes: { made, present } }: NamespaceSetup, remedy: string | undefined): string {
  const kept = `closed workflows are kept ${namespace.retentionHours} h`
  const lines = [
    `namespace ${namespace.name}: ${namespace.made ? 'made' : 'was there'}, ${kept}`,
    ...(made.length > 0 ? [`search attributes made: ${made.join(', ')}`] : []),
    ...(present.length > 0 ? [`search attributes that were there: ${present.join(', ')}`] : []),
  ]
  return [...lines, ...(remedy ? [`→ ${remedy}`] : [])].join('\n')
}
