import { createBridges } from '../../bridges/registry.ts'
import type { Source } from '../../bridges/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import { commandsOf } from '../../domain/catalogue/cause.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { printable } from '../../domain/text/printable.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { ignoredChanges } from '../../intake/streams/config-changes.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { listStreamNames, queryStream } from '../../temporal/client/streams/streams.ts'
import { createConfiguredChain } from '../../chains/registry.ts'
import { maxOpenText } from '../output/stream-text.ts'
import { type Check, type Finding, look, warn } from './check.ts'

/** Whether each stream runs with the values of the config. Nothing without Temporal: checkTemporal reports that. */
export async function checkStreams(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  // Never connected: only the config of a source is read.
  const chains = new Map(Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain)]))
  const sources = [...createBridges(config, chains).values()].flatMap((bridge) => bridge.sources)
  return withTemporalClient(temporal, async (client) => {
    const own = await Promise.all(sources.map((source) => look('streams', source.config.stream, () => checkStream(client, source))))
    const all = [...own, ...(await checkWithoutSource(client, sources))]
    // Most have no message: only those that need attention get a line.
    const quiet = new Set(sources.flatMap((source) => (source.kind === 'signed' && source.withoutNode ? [source.config.stream] : [])))
    const isQuiet = ({ name, status }: Check) => quiet.has(name) && status === 'ok'
    const some = all.filter(isQuiet).length
    const detail = `of ${some} of them the streams run, or begin with the first message`
    const summary: Check[] = some === 0 ? [] : [{ area: 'streams', name: 'sources without a node', status: 'ok', detail }]
    return [...all.filter((check) => !isQuiet(check)), ...summary]
  }).catch(() => [])
}

async function checkWithoutSource(client: TemporalClient, sources: readonly Source[]): Promise<Check[]> {
  const own = new Set(sources.map(({ config }) => config.stream))
  const others = (await listStreamNames(client)).filter((stream) => !own.has(stream))
  return others.toSorted().map((stream) => {
    const [, end = ''] = commandsOf('STREAM_WITHOUT_SOURCE', { stream })
    const remedy = `If the source is wanted, add it to the config again. If not: ${end}`
    const detail = 'runs, and the config has no source for it: no process feeds it'
    return { area: 'streams', name: printable(stream), status: 'warn', detail, remedy } as const
  })
}

async function checkStream(client: TemporalClient, source: Source): Promise<Finding> {
  const { config } = source
  const state = await queryStream(client, config.stream).catch((error: unknown) => {
    if (error instanceof RelayerError && error.code === 'STREAM_UNREACHABLE') return error
    throw error
  })
  // No failure: the doctor often runs before the workers.
  if (state instanceof RelayerError) return warn('exists, and does not answer', state.remedy)
  if (!state) return `has not begun; at most ${config.maxOpen} transfers under way`
  const detail = `runs; ${maxOpenText(viewStream(state).maxOpen)}`
  const [late] = ignoredChanges(state, source)
  if (!late) return detail
  const { field, began, configured, remedy } = late
  return warn(`${detail}; ${field} is ${configured} and acts only where a stream begins: this one began with ${began}`, remedy)
}
