import type { Change } from '../edited-copy.ts'

/** A rule of Portage, the edits that remove it, and a seed that then fails with this number of transfers. */
interface KnownBug extends Change {
  readonly what: string
  readonly seed: number
  readonly transfers: number
}

export const knownBugs = {
  'delivered-in-latest': {
    what: 'A transfer is delivered before its block is final.',
    file: 'activities/transfer/confirm.ts',
    edits: [['  if (!isFinalHeight(blockHeight) || shows !== true) return unsettled(chain, landed.blockHeight)\n', '']],
    ...{ seed: 7, transfers: 300 },
  },
  'rejected-delivered': {
    what: 'A message that no source sent is delivered.',
    file: 'activities/transfer/admit.ts',
    edits: [["  if (verdict.kind === 'valid') {\n", "  if (verdict.kind !== 'wait') {\n"]],
    ...{ seed: 1, transfers: 300 },
  },
  'restored-cancel': {
    what: 'A transfer ends as cancelled before a process has reported the account to a restored ledger.',
    file: 'activities/transfer/confirm-end.ts',
    edits: [
      ['isUnreported = false }', 'isUnreported: _ }'],
      ['knowsAll && !isUnreported', 'knowsAll'],
      ['  if (isUnreported && agreed > 0) return { lane }\n', ''],
    ],
    ...{ seed: 900, transfers: 1_000 },
  },
} as const satisfies Record<string, KnownBug>

export type BugName = keyof typeof knownBugs
