import type { Config } from '../../config/schema/schema.ts'
import { type CauseCode, causeCatalogue, errorCatalogue, isCauseCode, isErrorCode } from '../../domain/catalogue/catalogue.ts'
import type { CauseValues } from '../../domain/catalogue/cause.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { ChainName, TransferState } from '../../domain/transfer/transfer.ts'
import { type Facts, type TransferFacts, valueOf } from './facts.ts'
import { type Finding, isolated } from './finding.ts'
import { triesUntilFailing } from './read.ts'

/** Maximum length, characters. A longer text would lose its end, which is the time of the next try. */
const mostWords = 240

type ExplainedConfig = Pick<Config, 'bridges' | 'chains'>

/** Usual time in a state, ms. `included` waits for finality, which takes half an hour on some chains. */
const usualMs: Partial<Record<TransferState, number>> = {
  admitting: 60_000,
  broadcasting: 120_000,
  pending: 120_000,
  included: 3_600_000,
}

export function explainTransfers(
  { at, transfers, declined, settings }: Pick<Facts, 'at' | 'transfers' | 'declined' | 'settings'>,
  explained: (transfer: TransferFacts) => boolean,
  config: ExplainedConfig,
): Finding[] {
  const left = transfers.filter((transfer) => !explained(transfer))
  const isHeld = (transfer: TransferFacts) => transfer.state === 'parked' || transfer.state === 'waiting' || isFailing(transfer)
  const held = left.filter(isHeld)
  const slow = left.filter((transfer) => isSlow(transfer, at) && !isHeld(transfer))
  return [
    ...[...groupBy(held, keyOf).values()].flatMap((group) => isolated('a group of transfers', at, () => [explainGroup(group, at, config)])),
    ...[...groupBy(slow, placeOfSlow).values()].flatMap((group) =>
      isolated('a group of slow transfers', at, () => [explainSlow(group, at)]),
    ),
    ...isolated('the denials', at, () => explainDenied(declined, settings, at)),
    ...explainRefused(declined, at),
  ]
}

const isBug = (code: string | undefined) => code === 'INTERNAL'
const isOutage = (code: string | undefined) => isErrorCode(code) && errorCatalogue[code].isOutage === true
const isFailing = ({ code, tries = 0 }: TransferFacts) => isBug(code) || (tries >= triesUntilFailing && isOutage(code))

/** Target chains whose nodes fail at the steps of transfers. Other faults of such a chain are consequences. */
export function failingChains(transfers: readonly TransferFacts[]): readonly ChainName[] {
  const codes: ReadonlySet<string | undefined> = new Set(['NODE_REFUSED', 'NODE_UNAVAILABLE'])
  return transfers.flatMap((transfer) => (isFailing(transfer) && codes.has(transfer.code) ? [transfer.targetChain] : []))
}

function isOwnRow(code: string | undefined): code is CauseCode {
  return isCauseCode(code) && ['transfers', 'note'].includes(causeCatalogue[code].severity)
}

function keyOf({ state, code, bridge, sourceChain, targetChain }: TransferFacts): string {
  return JSON.stringify(state === 'parked' ? [state, code] : [state, code, bridge, sourceChain, targetChain])
}

const words: Partial<Record<TransferState, string>> = { parked: 'Parked', waiting: 'Waiting' }

function explainGroup(group: readonly [TransferFacts, ...TransferFacts[]], at: number, config: ExplainedConfig): Finding {
  const [first] = group
  const { state, code, bridge, sourceChain, targetChain } = first
  const row = isOwnRow(code) ? code : state === 'parked' ? 'TRANSFERS_PARKED' : 'TRANSFERS_WAIT'
  const reported = group.find(({ failure }) => failure !== undefined)?.failure
  const reason = code === 'BRIDGE_ROLE_MISSING' ? (missingRole(first, config) ?? reported) : reported
  const title = isErrorCode(code) ? errorCatalogue[code].title : 'no process reported a reason'
  // The message of a failure begins with its title and ends with its remedy.
  const about = reason?.replace(title, '').split(' → ')[0]?.trim() ?? ''
  const isLong = title.length + about.length > mostWords
  const why = about === '' ? title : isLong ? about : `${title} (${about})`
  const place = isBug(code) && state !== 'waiting' ? 'failing' : `${bridge}:${sourceChain}:${targetChain}`
  return {
    row,
    ...(isErrorCode(code) && { code }),
    what: `${words[state] ?? 'Fails repeatedly'}: ${why}`,
    where: { kind: 'transfers', id: state === 'parked' ? 'parked' : place },
    ...groupFacts(group, at),
    values: { chain: targetChain, ...(first.lane !== undefined && { lane: first.lane }), ...partyOf(group) },
    ...(code === 'FEE_LIMIT' && { useless: uselessFor(group.find(({ feeLimit }) => feeLimit) ?? first) }),
  }
}

/**
 * The recipient that all these transfers share or, if they share none, their common token: for a command that denies
 * it.
 */
function partyOf(group: readonly TransferFacts[]): Pick<CauseValues, 'kind' | 'party'> {
  const same = (of: 'recipient' | 'token') => (new Set(group.map((one) => one[of])).size === 1 ? group[0]?.[of] : undefined)
  const [recipient, token] = [same('recipient'), same('token')]
  if (recipient !== undefined) return { kind: 'recipient', party: `${group[0]?.targetChain}/${recipient}` }
  return token === undefined ? {} : { kind: 'token', party: token }
}

/**
 * Names the contract and the lanes that lack the role, because the gate's reason does not. All lanes of the chain were
 * tried.
 */
function missingRole({ bridge, sourceChain, targetChain }: TransferFacts, { bridges, chains }: ExplainedConfig): string | undefined {
  const routes = bridge === 'native-bridge' ? bridges[bridge]?.routes : undefined
  const route = routes?.find(({ source, target }) => source === sourceChain && target === targetChain)
  const lanes = chains[targetChain]?.lanes.map(({ address }) => address.toLowerCase()) ?? []
  return route && `grant RELAYER_ROLE of ${route.targetContract} to ${lanes.join(' or ')}`
}

/** Beginnings of commands that do not raise the limit. */
function uselessFor({ feeLimit, targetChain, workflowId }: TransferFacts): string[] {
  const raise = (option: string) => `portage fees set --scope chain:${targetChain} --max-fee-per-${option}`
  const cancel = `portage transfer cancel ${workflowId}`
  if (feeLimit === 'submission') return [raise('gas'), raise('transaction')]
  return [cancel, raise(feeLimit === 'transaction' ? 'gas' : 'transaction')]
}

function groupFacts(group: readonly TransferFacts[], at: number): Pick<Finding, 'since' | 'asOf' | 'holds'> {
  const asked = group.flatMap(({ inStateSince }) => inStateSince ?? [])
  const since = Math.min(...(asked.length > 0 ? asked : group.map(({ startedAt }) => startedAt)))
  return { since, asOf: at, holds: (transfer) => group.includes(transfer) }
}

/** A workflow that does not answer does not say when it came into its state. */
function isSlow({ state, inStateSince, isSilent, startedAt }: TransferFacts, at: number): boolean {
  const usual = usualMs[state]
  const since = inStateSince ?? (isSilent ? startedAt : undefined)
  return usual !== undefined && since !== undefined && at - since > usual
}

function placeOfSlow({ state, targetChain, isSilent, version }: TransferFacts): string {
  return [state, targetChain, ...(isSilent ? ['silent', version ?? ''] : [])].join(':')
}

function explainSlow(group: readonly [TransferFacts, ...TransferFacts[]], at: number): Finding {
  const [{ state, targetChain, failure, isSilent, version }] = group
  const only = version === undefined ? '' : `, and only processes of the version ${version} can run it`
  const why = isSilent ? `the workflow does not answer${only}` : failure
  return {
    row: 'TRANSFERS_SLOW',
    what: `To ${targetChain}, in the state ${state} for long${why === undefined ? '' : `: ${why}`}`,
    where: { kind: 'transfers', id: placeOfSlow(group[0]) },
    ...groupFacts(group, at),
  }
}

function explainDenied(declined: readonly TransferFacts[], settings: Facts['settings'], at: number): Finding[] {
  const rules = valueOf(settings)?.denied ?? []
  return (['recipient', 'token'] as const).flatMap((kind): Finding[] => {
    const ofKind = rules.filter((rule) => rule.kind === kind)
    const code = kind === 'recipient' ? 'RECIPIENT_DENIED' : 'TOKEN_DENIED'
    const held = declined.filter((transfer) => transfer.code === code)
    if (ofKind.length === 0 || held.length === 0) return []
    const one = ofKind.length === 1 ? ofKind[0] : undefined
    const why = one ? `${kind} ${one.value} is denied by ${one.by}: ${one.reason}` : `${ofKind.length} rules deny a ${kind}`
    return [
      {
        row: 'DENIED',
        what: `${held.length} transfers of the last day were declined: ${why}`,
        where: { kind: 'settings', id: `deny ${kind}` },
        since: Math.min(...ofKind.map((rule) => rule.at)),
        asOf: at,
        values: { kind, ...(held[0] && { id: held[0].workflowId }), ...(one && { party: one.value }) },
        numbers: numbersOf(held),
      },
    ]
  })
}

function numbersOf(held: readonly TransferFacts[]): Finding['numbers'] {
  const examples = held.map(({ workflowId }) => workflowId)
  return { count: held.length, oldest: Math.min(...held.map(({ startedAt }) => startedAt)), examples }
}

/** The stream starts a request for execution only if the payment suffices, so somebody has paid for each of them. */
function explainRefused(declined: readonly TransferFacts[], at: number): Finding[] {
  const held = declined.filter(({ code }) => code === 'EXECUTOR_UNSUPPORTED')
  const [first] = held
  if (!first) return []
  return [
    {
      row: 'DENIED',
      what: `${held.length} paid requests for execution of the last day were declined: the config does not deliver them`,
      where: { kind: 'transfers', id: 'executor' },
      asOf: at,
      values: { id: first.workflowId },
      numbers: numbersOf(held),
      useless: ['portage settings', 'portage allow'],
    },
  ]
}
