import { buildIdOf } from '../../config/build-id.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { describeDeployment } from '../../temporal/client/connection/deployments.ts'
import { fromTemporal } from '../../temporal/client/connection/errors.ts'
import { checkNamespace } from '../../temporal/client/connection/probe.ts'
import { describeQueue } from '../../temporal/client/visibility/runs.ts'
import { chainQueue, laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import { errorOf, type Facts, type Read, valueOf, type VersionFacts } from './facts.ts'
import { limits, read } from './read.ts'
import { notificationQueue } from '../../temporal/contracts/notifier.ts'
import { readFailing, readLanes, readReceivers, readStreams, unparsedOf } from './read-ledgers.ts'
import { readTransfers, type TransfersRead } from './read-transfers.ts'

export type TemporalFacts = Omit<Facts, 'at' | 'chains' | 'spies'>

const nothing: TransfersRead = { transfers: [], declined: [], failing: [], served: new Map(), isCut: false }
const tooMany = {
  title: '',
  about: 'They are too many, their answers are too long, or the config lacks them and they do not answer in time.',
}
const nobody = { asked: 0, answered: 0 }
const unpolled = () => ({ asOf: Date.now(), value: { isPolled: false, waiting: 0, waitingMs: 0 } })

export function withoutTemporal(error: RelayerError): TemporalFacts {
  const away: Read<never> = { asOf: Date.now(), error }
  const { served: _, isCut: __, ...none } = nothing
  return {
    ...{ temporal: away, settings: away, ledger: { queue: away, ...nobody }, chainWorkers: new Map() },
    ...{ lanes: [], streams: [], receivers: [], unread: [], ...none },
  }
}

export async function temporalProblem(client: TemporalClient): Promise<RelayerError | undefined> {
  const answer = await read(limits.temporalMs, () => checkNamespace(client, limits.temporalMs))
  if (!('error' in answer)) return undefined
  const error = fromTemporal(answer.error.cause ?? answer.error, {})
  return error instanceof RelayerError && error.code !== 'INTERNAL' ? error : new RelayerError('TEMPORAL_UNAVAILABLE', { cause: error })
}

/**
 * Takes at most twice `limits.temporalMs`, or longer if more than 50 lanes do not answer. Never throws. `settings` may
 * still be loading.
 */
export async function readTemporal(
  client: TemporalClient,
  config: Pick<Config, 'bridges' | 'chains' | 'notifications' | 'worker'>,
  settings: Promise<Read<Settings>>,
): Promise<TemporalFacts> {
  const queue = (name: string, kind: 'workflow' | 'activity') =>
    ask(() => within(client, limits.temporalMs, () => describeQueue(client, name, kind)))
  const { deployment } = config.worker
  const [known, lanes, streams, receivers, transfers, ledger, failing, version, queues] = await Promise.all([
    settings,
    readLanes(client, config, (lane) => queue(laneQueue(lane), 'activity')),
    ask(() => readStreams(client)),
    readReceivers(client, config.notifications, () => queue(notificationQueue, 'activity')),
    ask(() => readTransfers(client)),
    queue(ledgerQueue, 'workflow'),
    ask(() => readFailing(client, config)),
    deployment && ask(() => readVersion(client, { name: deployment.name, buildId: buildIdOf(config) ?? '' })),
    Promise.all(Object.keys(config.chains).map(async (chain) => [chain, await queue(chainQueue(chain), 'workflow')] as const)),
  ])
  const { served, isCut: _, ...found } = valueOf(transfers) ?? nothing
  // Open transfers may go to chains that the config no longer has. Their queues are judged by their workflows alone.
  const unknown = [...served.keys()].filter((chain) => !Object.hasOwn(config.chains, chain)).map((chain) => [chain, unpolled()] as const)
  const ofStreams = (valueOf(streams)?.found ?? []).map(({ state }) => state)
  const ofLedgers = [known, ...lanes.map((one) => one.ledger), ...ofStreams, ...receivers.map(({ notifier }) => notifier)]
  const cutLanes = { asOf: known.asOf, value: { isCut: lanes.some(({ ledger: one }) => unparsedOf(errorOf(one))) } }
  const parts = { 'the lanes': cutLanes, 'the streams': streams, 'the transfers': transfers, 'the workflows of the queue ledger': failing }
  return {
    temporal: { asOf: known.asOf, value: true },
    settings: known,
    ledger: { queue: ledger, ...answersOf(ofLedgers) },
    chainWorkers: new Map([...queues, ...unknown].map(([chain, polled]) => [chain, { queue: polled, ...(served.get(chain) ?? nobody) }])),
    lanes,
    streams: valueOf(streams)?.found ?? [],
    version,
    receivers,
    ...found,
    failing: [...(valueOf(failing)?.found ?? []), ...found.failing],
    unread: Object.entries(parts).flatMap(([what, answer]) => {
      if ('error' in answer) return [{ what, asOf: answer.asOf, error: answer.error }]
      return answer.value.isCut ? [{ what: `some of ${what}`, asOf: answer.asOf, error: tooMany }] : []
    }),
  }
}

async function readVersion(client: TemporalClient, { name, buildId }: { name: string; buildId: string }): Promise<VersionFacts> {
  const { current, versions } = await within(client, limits.temporalMs, () => describeDeployment(client, name))
  return { buildId, current, status: versions.find((one) => one.buildId === buildId)?.status ?? 'unknown' }
}

function ask<Value>(what: () => Promise<Value>): Promise<Read<Value>> {
  return read(2 * limits.temporalMs, () =>
    what().catch((error: unknown) => {
      throw fromTemporal(error, {})
    }),
  )
}

/** Missing workflows and `noSettings` do not count, because they need no worker. */
export function answersOf(answers: readonly Read<unknown>[]): { asked: number; answered: number } {
  const silent = answers.filter((answer) => 'error' in answer && unanswered.has(answer.error.code)).length
  const answered = answers.filter((answer) => 'value' in answer && answer.value !== undefined && answer.value !== noSettings).length
  return { asked: silent + answered, answered }
}

const unanswered: ReadonlySet<string> = new Set(['LANE_UNREACHABLE', 'STREAM_UNREACHABLE', 'SETTINGS_UNREACHABLE', 'NOTIFIER_UNREACHABLE'])
