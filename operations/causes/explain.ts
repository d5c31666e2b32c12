import { configuredStreams } from '../../bridges/configured-emitters.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'
import { namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { anyText, type Check, fields, time } from '../../domain/field-checks.ts'
import { inForce, unfitting } from '../../domain/settings/in-force.ts'
import type { KnownNames } from '../../domain/settings/known-names.ts'
import { haltOf, type HaltScope, noSettings } from '../../domain/settings/settings.ts'
import { shortStream } from '../../domain/text/short-id.ts'
import { haltScopeText, unfittingText } from '../orders/scope-text.ts'
import { explainChains } from './explain-chains.ts'
import { explainIntake } from './explain-intake.ts'
import { explainLanes } from './explain-lanes.ts'
import { explainQuotes } from './explain-quotes.ts'
import { explainReceivers } from './explain-receivers.ts'
import { explainStreams } from './explain-streams.ts'
import { explainTransfers, failingChains } from './explain-transfers.ts'
import { errorOf, type Facts, type ServedFacts, type TransferFacts, valueOf, type SpyFacts } from './facts.ts'
import { type Finding, goesOn, isolated, joined, lastSign, orElse, ranked } from './finding.ts'

const holdsChain: ReadonlySet<string> = new Set(['CHAIN_UNREACHABLE', 'CHAIN_WITHOUT_MAJORITY', 'CHAIN_STALLED'])

/** The causes of what is stuck, most harmful first. */
export function explain(facts: Facts, config: Pick<Config, 'chains' | 'bridges' | 'streams'>): Cause[] {
  const { transfers, at } = facts
  const configured = configuredStreams(config)
  const names = namesOf(config)
  const ofChains = isolated('the chains', at, () => explainChains(facts))
  const held = new Set([...ofChains.filter(({ row }) => holdsChain.has(row)).map(({ where }) => where.id), ...failingChains(transfers)])
  let silent: ReadonlySet<string> = new Set()
  const ofIntake = isolated('the intake', at, () => {
    const intake = explainIntake(facts, config, configured, held)
    silent = intake.silent
    return intake.found
  })
  const heard = facts.streams.filter(({ stream }) => !silent.has(stream))
  const known = [
    ...isolated('Temporal', at, () => explainTemporal(facts)),
    ...isolated('the workers', at, () => explainWorkers(facts, config)),
    ...isolated('the halts', at, () => explainHalts(facts, names)),
    ...ofChains,
    ...explainLanes(facts, held),
    ...ofIntake,
    ...isolated('the failing workflows', at, () => explainFailing(facts)),
    ...facts.spies.flatMap((spy) => isolated(`the spy ${spy.address}`, at, () => explainSpy(spy, heard))),
    ...explainStreams(facts, configured, silent),
    ...explainReceivers(facts),
    ...isolated('the quotes', at, () => explainQuotes(facts)),
    ...isolated('the reads that failed', at, () => explainUnread(facts)),
    ...isolated('the version', at, () => explainVersion(facts)),
    ...isolated('the names in the settings', at, () => explainNames(facts, names)),
  ]
  const isExplained = (transfer: TransferFacts) => known.some(({ holds }) => holds?.(transfer))
  const ofTransfers = isolated('the transfers', at, () => explainTransfers(facts, isExplained, config))
  return ranked(joined([...known, ...ofTransfers]), transfers)
}

function explainTemporal({ temporal, spies }: Facts): Finding[] {
  const error = errorOf(temporal)
  if (!error) return []
  const { code, title, about } = error
  const where = { kind: 'temporal', id: 'temporal' } as const
  const numbers = { count: spies.reduce((sum, spy) => sum + spy.kept, 0) }
  return [{ row: 'TEMPORAL_UNAVAILABLE', code, what: `${title} ${about}`, where, asOf: temporal.asOf, numbers }]
}

function explainWorkers({ temporal, ledger, chainWorkers, version, at }: Facts, config: Pick<Config, 'chains'>): Finding[] {
  if (errorOf(temporal)) return []
  const inactive = inactiveVersion(version)
  const useless = inactive === undefined ? ['portage deploy promote'] : ['portage run']
  const more = inactive === undefined ? {} : { version: inactive }
  const chains = [...chainWorkers].flatMap(([chain, served]) => {
    const holds = (transfer: TransferFacts) => goesOn(transfer) && transfer.targetChain === chain
    const of = { row: 'CHAIN_WITHOUT_WORKER', values: { chain, ...more }, holds, useless } as const
    const found = explainQueue(`chain:${chain}`, served, at, of)
    if (Object.hasOwn(config.chains, chain)) return found
    const how = `The config has no chain ${chain}: use this name in the config again until the chain's transfers have ended.`
    return found.map((finding) => ({ ...finding, what: `${finding.what} ${how}` }))
  })
  return [...chains, ...explainQueue('ledger', ledger, at, { row: 'LEDGER_WITHOUT_WORKER', values: more, holds: goesOn, useless })]
}

/** An answer proves more than pollers, because Temporal lists killed pollers for a while. */
function explainQueue(
  id: string,
  { queue, asked, answered }: ServedFacts,
  at: number,
  of: Pick<Finding, 'row' | 'values' | 'holds' | 'useless'>,
): Finding[] {
  const { isPolled = true, polledAt } = valueOf(queue) ?? {}
  if (answered > 0 || (asked === 0 && isPolled)) return []
  const why = asked > 0 ? `none of the ${asked} workflows that were asked answers` : 'no process polls it'
  const what = `No process serves the queue ${id}: ${why}.${lastSign(polledAt, at)}`
  return [{ ...of, what, where: { kind: 'worker', id }, since: polledAt, asOf: queue.asOf || at }]
}

function explainHalts({ settings }: Facts, names: KnownNames): Finding[] {
  const known = valueOf(settings) ?? noSettings
  const applied = inForce(known, names).halts
  return known.halts.map((halt, index): Finding => {
    const halts = applied.slice(index, index + 1)
    const holds = (transfer: TransferFacts) => goesOn(transfer) && mayWaitForHalt(transfer) && haltOf({ halts }, transfer) !== undefined
    const what = `Halted by ${halt.by} (${haltScopeText(halt.scope)}): ${halts[0]?.reason}`
    const values = { scope: scopeOptions(halt.scope) }
    return { row: 'HALTED', what, since: halt.at, asOf: settings.asOf, where: { kind: 'settings', id: values.scope }, values, holds }
  })
}

function explainNames({ settings }: Facts, names: KnownNames): Finding[] {
  const what = unfittingText(unfitting(valueOf(settings) ?? noSettings, names))
  return what === undefined ? [] : [{ row: 'ORDER_NAME_UNKNOWN', what, where: { kind: 'settings', id: 'names' }, asOf: settings.asOf }]
}

/** A halt does not stop signed transactions. */
function mayWaitForHalt({ state, code }: TransferFacts): boolean {
  return state === 'waiting' ? code === undefined || code === 'HALTED' : state === 'admitting' || state === 'broadcasting'
}

function scopeOptions({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  const options = { bridge, chain, source: sourceChain, target: targetChain }
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]))
  return given.join(' ') || '--all'
}

function explainFailing({ failing, at }: Facts): Finding[] {
  return failing.map(({ workflow, tries, since }) => ({
    row: 'WORKFLOW_FAILING',
    what: `The task of ${workflow} was tried ${tries} times.`,
    where: { kind: 'worker', id: workflow },
    since,
    asOf: at,
    values: { workflow },
    holds: ({ workflowId }) => workflowId === workflow,
  }))
}

function explainSpy(spy: SpyFacts, streams: Facts['streams']): Finding[] {
  const { address, problem, asOf, unknownSets } = spy
  const where = { kind: 'spy', id: address } as const
  const away: Finding[] =
    problem === undefined ? [] : [{ row: 'SPY_UNAVAILABLE', what: `The guardian spy ${address}: ${problem}`, where, asOf }]
  // A spy whose messages wait for their guardian set is not silent.
  if (unknownSets === 0) return problem === undefined ? explainSilence(spy, streams) : away
  const what = `Messages from the spy that are signed by a guardian set which is not known yet: ${unknownSets}.`
  return [...away, { row: 'GUARDIAN_SET_UNKNOWN', what, where, asOf, numbers: { count: unknownSets } }]
}

const isMissed: Check = fields({ from: anyText, to: anyText, since: time })

/**
 * A spy that missed one message may have lost only this message. If it missed a second message, it has been silent
 * since the first.
 */
function explainSilence({ address, bridge }: SpyFacts, streams: Facts['streams']): Finding[] {
  const silent = streams.flatMap(({ stream, state }) => {
    const missed = valueOf(state)?.missedBySpy
    if (!missed || missed.from === missed.to || !stream.startsWith(`${bridge}:`)) return []
    return orElse([], () => {
      isMissed(missed, '')
      return [{ stream, asOf: state.asOf, ...missed }]
    })
  })
  const [first] = silent.toSorted((a, b) => a.since - b.since)
  if (!first) return []
  const { stream, from, to, since } = first
  const more = silent.length === 1 ? '' : ` It misses messages of ${silent.length - 1} more streams.`
  const what = `The guardian spy ${address} is connected, but does not send messages of ${shortStream(stream)} that the guardians have signed. The first message that it did not send has the number ${from}, the latest ${to}.${more}`
  return [{ row: 'SPY_SILENT', what, where: { kind: 'spy', id: address }, since, asOf: Math.min(...silent.map(({ asOf }) => asOf)) }]
}

/** The config's build id, if Temporal gives this build no work. */
function inactiveVersion(version: Facts['version']): string | undefined {
  const { buildId, status } = valueOf(version) ?? {}
  return status === 'inactive' ? buildId : undefined
}

function explainVersion({ version }: Facts): Finding[] {
  const buildId = inactiveVersion(version)
  if (!version || buildId === undefined) return []
  const what = `The version ${buildId} of the config is not promoted: ${valueOf(version)?.current ?? 'no version'} gets all new work.`
  const where = { kind: 'worker', id: `version ${buildId}` } as const
  return [{ row: 'VERSION_INACTIVE', what, where, asOf: version.asOf, values: { version: buildId } }]
}

function explainUnread({ unread, settings, ledger }: Facts): Finding[] {
  const error = errorOf(settings)
  const isOwn = error && ledger.answered > 0
  const all = [...unread, ...(isOwn ? [{ what: 'the settings', asOf: settings.asOf, error }] : [])]
  return all.map(({ what, asOf, error: { about, title } }) => ({
    row: 'UNREAD',
    what: `Could not be read: ${what}. ${about || title}`,
    where: { kind: 'temporal', id: what },
    asOf,
  }))
}
