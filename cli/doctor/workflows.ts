import { createBridges } from '../../bridges/registry.ts'
import type { Source } from '../../bridges/port.ts'
import { wormholeTokenBridge } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import type { Config } from '../../config/schema/schema.ts'
import { commandsOf } from '../../domain/catalogue/cause.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { printable } from '../../domain/text/printable.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { ignoredChanges } from '../../intake/streams/config-changes.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { listStreamNames, queryStream } from '../../temporal/client/streams/streams.ts'
import { maxOpenText } from '../output/stream-text.ts'
import { withChains } from '../arguments/subjects.ts'
import { type Check, checkOf, checkTimeoutMs, type Finding, ifReachable, look, orError, warn } from './check.ts'
import { lanesOf } from '../../config/chains.ts'
import { kept } from '../../domain/lane/entries.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { countOpenTransfers } from '../../temporal/client/transfers/transfer-queries.ts'

export async function checkStreams(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  const sources = await withChains(config, (chains) => [...createBridges(config, chains).values()].flatMap((bridge) => bridge.sources))
  return ifReachable(temporal, async (client) => {
    const own = await Promise.all(sources.map((source) => look('streams', source.config.stream, () => checkStream(client, source))))
    const all = [...own, ...(await checkWithoutSource(client, sources))]
    // Most sources without a node have no messages, so one line counts all that need no attention.
    const quiet = new Set(sources.flatMap((source) => (source.kind === 'signed' && source.withoutNode ? [source.config.stream] : [])))
    const isQuiet = ({ name, status }: Check) => quiet.has(name) && status === 'ok'
    const some = all.filter(isQuiet).length
    const detail = `of ${some} of them the streams run, or begin with the first message`
    const summary = some === 0 ? [] : [checkOf('streams', 'sources without a node', detail)]
    return [...all.filter((check) => !isQuiet(check)), ...summary]
  })
}

async function checkWithoutSource(client: TemporalClient, sources: readonly Source[]): Promise<Check[]> {
  const own = new Set(sources.map(({ config }) => config.stream))
  const others = (await listStreamNames(client)).filter((stream) => !own.has(stream))
  return others.toSorted().map((stream) => {
    const [, end = ''] = commandsOf('STREAM_WITHOUT_SOURCE', { stream })
    const remedy = `If the source is wanted, add it to the config again. If not: ${end}`
    return checkOf('streams', printable(stream), warn('runs, and the config has no source for it: no process feeds it', remedy))
  })
}

async function checkStream(client: TemporalClient, source: Source): Promise<Finding> {
  const { config } = source
  const state = await orError(queryStream(client, config.stream), 'STREAM_UNREACHABLE')
  if (state instanceof RelayerError) return warn('exists, and does not answer', state.remedy)
  if (!state) return `has not begun; at most ${config.maxOpen} transfers under way`
  const detail = `runs; ${maxOpenText(viewStream(state).maxOpen)}`
  const [late] = ignoredChanges(state, source)
  if (!late) return detail
  const { field, began, configured, remedy } = late
  return warn(`${detail}; ${field} is ${configured} and acts only where a stream begins: this one began with ${began}`, remedy)
}

const nearLimit = 0.8

export async function checkLanes(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  return ifReachable(temporal, (client) => Promise.all(lanesOf(config).map(({ id }) => look('ledgers', id, () => checkLane(client, id)))))
}

async function checkLane(client: TemporalClient, lane: LaneId): Promise<Finding> {
  const state = await orError(readLane(client, lane), 'LANE_UNREACHABLE', 'LANE_NOT_FOUND')
  if (state instanceof RelayerError) {
    return state.code === 'LANE_NOT_FOUND' ? 'has not begun' : warn('exists, and does not answer', state.remedy)
  }
  const { kept: now, keptLimit } = kept(state)
  const detail = `keeps ${now} nonces until they are final, at most ${keptLimit}`
  if (now < keptLimit * nearLimit) return detail
  const more = 'If it is only slow, give the chain more lanes: then each keeps fewer.'
  return warn(detail, `Check whether the final blocks of the chain advance (run portage doctor again). ${more}`)
}

/** Checks chains without `contracts.tokenBridge`: the field may have been removed while transfers were open. */
export async function checkWithoutTokenBridge({ chains, bridges }: Config, temporal: TemporalAccess): Promise<Check[]> {
  const without = Object.entries(chains).flatMap(([name, { contracts }]) => (contracts?.tokenBridge === undefined ? [name] : []))
  if (!bridges[wormholeTokenBridge] || without.length === 0) return []
  return ifReachable(temporal, (client) =>
    Promise.all(without.map((name) => look(`chain ${name}`, 'token bridge contract', () => withoutTokenBridge(client, name)))),
  )
}

export async function withoutTokenBridge(client: TemporalClient, chain: ChainName): Promise<Finding> {
  const open = await countOpenTransfers(client, { Bridge: wormholeTokenBridge, TargetChain: chain }, checkTimeoutMs / 2)
  if (open === 0) return 'none; no open transfer needs it'
  const list = `portage transfer list --bridge ${wormholeTokenBridge} --target ${chain} --execution open`
  return warn(
    `none, but ${open} open transfers need it: they are parked (TARGET_CHAIN_UNSUPPORTED) and not delivered`,
    `Add contracts.tokenBridge to this chain, and retry the parked transfers. Remove the field only when this lists nothing: ${list}`,
  )
}
