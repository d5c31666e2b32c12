import { causeCatalogue, errorCatalogue, isCauseCode, isErrorCode } from '../../domain/catalogue/catalogue.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import type { Facts, TransferFacts } from './facts.ts'
import type { Finding } from './finding.ts'

/** `included` waits for finality, which takes half an hour on some chains. */
const usualMs: Partial<Record<TransferState, number>> = {
  admitting: 60_000,
  broadcasting: 120_000,
  pending: 120_000,
  included: 3_600_000,
}

export function explainTransfers(
  { at, transfers, declined, settings }: Pick<Facts, 'at' | 'transfers' | 'declined' | 'settings'>,
  explained: (transfer: TransferFacts) => boolean,
): Finding[] {
  const left = transfers.filter((transfer) => !explained(transfer))
  const held = left.filter(({ state, code }) => state === 'parked' || state === 'waiting' || isBug(code))
  const slow = left.filter((transfer) => isSlow(transfer, at) && !isBug(transfer.code))
  return [
    ...[...groupBy(held, keyOf).values()].map((group) => explainGroup(group, at)),
    ...[...groupBy(slow, slowKeyOf).values()].map((group) => explainSlow(group, at)),
    ...explainDenied(declined, settings, at),
  ]
}

const isBug = (code: string | undefined) => code === 'INTERNAL'

function keyOf({ state, code, bridge, sourceChain, targetChain }: TransferFacts): string {
  return JSON.stringify(state === 'parked' ? [state, code] : [state, code, bridge, sourceChain, targetChain])
}

function slowKeyOf({ state, targetChain }: TransferFacts): string {
  return JSON.stringify([state, targetChain])
}

const words: Partial<Record<TransferState, string>> = { parked: 'Parked', waiting: 'Waiting' }

function explainGroup(group: readonly [TransferFacts, ...TransferFacts[]], at: number): Finding {
  const [first] = group
  const { state, code, bridge, sourceChain, targetChain } = first
  const isOwn = isCauseCode(code) && ['transfers', 'note'].includes(causeCatalogue[code].severity)
  const row = isOwn ? code : state === 'parked' ? 'TRANSFERS_PARKED' : 'TRANSFERS_WAIT'
  const reason = group.find(({ failure }) => failure !== undefined)?.failure
  const title = isErrorCode(code) ? errorCatalogue[code].title : 'no process reported a reason'
  const place = state === 'waiting' ? `${bridge}:${sourceChain}:${targetChain}` : 'failing'
  return {
    row,
    ...(isErrorCode(code) && { code }),
    what: `${words[state] ?? 'Fails again and again'}: ${title}${reason === undefined || reason === title ? '' : ` (${reason})`}`,
    where: { kind: 'transfers', id: state === 'parked' ? 'parked' : place },
    ...groupFacts(group, at),
    values: { chain: targetChain, ...(first.lane !== undefined && { lane: first.lane }) },
  }
}

function groupFacts(group: readonly TransferFacts[], at: number): Pick<Finding, 'since' | 'asOf' | 'holds'> {
  const asked = group.flatMap(({ inStateSince }) => inStateSince ?? [])
  const since = Math.min(...(asked.length > 0 ? asked : group.map(({ startedAt }) => startedAt)))
  return { since, asOf: at, holds: (transfer) => group.includes(transfer) }
}

function isSlow({ state, inStateSince }: TransferFacts, at: number): boolean {
  const usual = usualMs[state]
  return usual !== undefined && inStateSince !== undefined && at - inStateSince > usual
}

function explainSlow(group: readonly [TransferFacts, ...TransferFacts[]], at: number): Finding {
  const [{ state, targetChain, failure }] = group
  return {
    row: 'TRANSFERS_SLOW',
    what: `To ${targetChain}, in the state ${state} for long${failure === undefined ? '' : `: ${failure}`}`,
    where: { kind: 'transfers', id: `${state}:${targetChain}` },
    ...groupFacts(group, at),
  }
}

function explainDenied(declined: readonly TransferFacts[], settings: Facts['settings'], at: number): Finding[] {
  const rules = 'value' in settings ? settings.value.denied : []
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
        numbers: {
          count: held.length,
          oldest: Math.min(...held.map(({ startedAt }) => startedAt)),
          examples: held.map(({ workflowId }) => workflowId),
        },
      },
    ]
  })
}
