import { createBridges } from '../../bridges/registry.ts'
import type { Source } from '../../bridges/source-port.ts'
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

/** Checks that each stream of the config runs with the values of the config. No checks if Temporal does not answer: checkTemporal reports that. */
export async function checkStreams(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  // Never connected: a source is only asked for its config.
  const chains = new Map(Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain)]))
  const sources = [...createBridges(config, chains).values()].flatMap((bridge) => bridge.sources)
  return withTemporalClient(temporal, async (client) => {
    const own = await Promise.all(sources.map((source) => look('streams', source.config.stream, () => checkStream(client, source))))
    const all = [...own, ...(await checkWithoutSource(client, sources))]
    // Sources without a node are many, and most of them have nothing for us: only what needs attention has a line of its own.
    const quiet = new Set(sources.flatMap((source) => (source.kind === 'signed' && source.withoutNode ? [source.config.stream] : [])))
    const isQuiet = ({ name, status }: Check) => quiet.has(name) && status === 'ok'
    const some = all.filter(isQuiet).length
    const detail = `of ${some} of them the streams run, or begin when a message is heard`
    const summary: Check[] = some === 0 ? [] : [{ area: 'streams', name: 'sources without a node', status: 'ok', detail }]
    return [...all.filter((check) => !isQuiet(check)), ...summary]
  }).catch(() => [])
}

/** Streams that run and that the config has no source for. */
async function checkWithoutSource(client: TemporalClient, sources: readonly Source[]): Promise<Check[]> {
  const own = new Set(sources.map(({ config }) => config.stream))
  const others = (await listStreamNames(client)).filter((stream) => !own.has(stream))
  return others.toSorted().map((stream) => {
    const [, end = ''] = commandsOf('STREAM_WITHOUT_SOURCE', { stream })
    const remedy = `If its source is meant, put it back into the config. If not: ${end}`
    const detail = 'runs, and the config has no source that is this stream: no process feeds it'
    return { area: 'streams', name: printable(stream), status: 'warn', detail, remedy } as const
  })
}

async function checkStream(client: TemporalClient, source: Source): Promise<Finding> {
  const { config } = source
  const state = await queryStream(client, config.stream).catch((error: unknown) => {
    if (error instanceof RelayerError && error.code === 'STREAM_UNREACHABLE') return error
    throw error
  })
  // No failure: the doctor is often run before the workers are started.
  if (state instanceof RelayerError) return warn('is there, and does not answer', state.remedy)
  if (!state) return `has not begun; at most ${config.maxOpen} transfers under way`
  const detail = `runs; ${maxOpenText(viewStream(state).maxOpen)}`
  const [late] = ignoredChanges(state, source)
  if (!late) return detail
  const { field, began, configured, remedy } = late
  return warn(`${detail}; ${field} is ${configured} and acts only where a stream begins: this one began with ${began}`, remedy)
}
