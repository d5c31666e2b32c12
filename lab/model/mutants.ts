import type { Scope } from './scopes.ts'

/** A model without one of its rules. TLC must find a violation of `violates` within the scope. */
export interface Mutant extends Scope {
  readonly name: string
  readonly changes: readonly (readonly [from: string, to: string])[]
  readonly violates: string
}

export const mutants: readonly Mutant[] = [
  {
    ...{ name: 'sign-before-record', model: 'lane', config: 'lane-transfers.cfg', violates: 'RecordThenAct' },
    changes: [
      ["ledger' = AfterAttempt(ledger, n, Len(m.attempts) + 1, kind)", "ledger' = ledger"],
      ["!.attempts = ledger'.entries[n].attempts]) ELSE UNCHANGED mem", '!.attempts = Append(@, kind)]) ELSE UNCHANGED mem'],
    ],
  },
  {
    ...{ name: 'release-of-a-nonce-that-may-be-sent', model: 'lane', config: 'lane-transfers.cfg', violates: 'OneWriter' },
    changes: [['~l.entries[n].sent /\\ l.entries[n].id = id', 'TRUE']],
  },
  {
    ...{ name: 'asked-twice-is-not-maybe-sent', model: 'lane', config: 'lane-processes.cfg', violates: 'RecordThenAct' },
    changes: [['IF l.entries[n].id = id THEN l ELSE Put(l, n, Marked(l.entries[n]))', 'l']],
  },
  {
    ...{ name: 'a-lost-answer-grants-a-second-nonce', model: 'lane', config: 'lane-processes.cfg', violates: 'OneNonceEach' },
    changes: [
      ['IF HeldBy(l, i) # {} THEN Lowest(HeldBy(l, i))\n    ELSE IF i \\in', 'IF i \\in'],
      ['ELSE IF HeldBy(l, i) # {} THEN IF', 'ELSE IF FALSE THEN IF'],
    ],
  },
  {
    ...{ name: 'delivered-at-latest', model: 'lane', config: 'lane-chain.cfg', violates: 'EffectNotNonce' },
    changes: [['transfer[t].state = "open" /\\ t \\in final.effects', 'transfer[t].state = "open" /\\ Effect(t)']],
  },
  {
    ...{ name: 'settled-at-inclusion', model: 'lane', config: 'lane-chain.cfg', violates: 'RecordThenAct' },
    changes: [['IF n < low THEN Nil', 'IF n < now THEN Nil']],
  },
  {
    ...{ name: 'cancelled-with-an-abandoned-nonce', model: 'lane', config: 'lane-chain.cfg', violates: 'NothingDropped' },
    changes: [['free /\\ knowsAll /\\ open = {}', 'free /\\ knowsAll']],
  },
  {
    ...{ name: 'a-new-ledger-knows-all-nonces', model: 'lane', config: 'lane-loss.cfg', violates: 'NothingDropped' },
    changes: [['free /\\ knowsAll /\\ open = {}', 'free /\\ open = {}']],
  },
  {
    ...{ name: 'a-restored-ledger-knows-all-nonces', model: 'lane', config: 'lane-loss.cfg', violates: 'NothingDropped' },
    changes: [['ledger.synced /\\ reported # {} /\\', 'ledger.synced /\\']],
  },
  {
    ...{ name: 'a-new-ledger-ignores-the-pool', model: 'lane', config: 'lane-loss.cfg', violates: 'NothingDropped' },
    changes: [['IF pool = Nil THEN 0 ELSE pool', '0']],
  },
  {
    ...{ name: 'orphans-are-left', model: 'lane', config: 'lane-settles.cfg', violates: 'EveryNonceSettled' },
    changes: [['THEN Filled(l.entries[n], "orphaned") ELSE', 'THEN l.entries[n] ELSE']],
  },
  {
    ...{ name: 'recorded-before-started', model: 'stream', config: 'stream-blocks.cfg', violates: 'OpenIsStarted' },
    changes: [['done == logs \\ Started', 'done == {}']],
  },
  {
    ...{ name: 'the-cursor-passes-wanted-numbers', model: 'stream', config: 'stream-blocks.cfg', violates: 'CursorIsBehind' },
    changes: [['(\\E n \\in passed : Wanted(l, n))', 'FALSE']],
  },
  {
    ...{ name: 'a-jump-leaves-no-gap', model: 'stream', config: 'stream-spy.cfg', violates: 'NothingDropped' },
    changes: [['n >= l.next /\\ n < next THEN "unasked"', 'n >= l.next /\\ n < next THEN "none"']],
  },
  {
    ...{ name: 'a-reorg-of-the-target-is-ignored', model: 'stream', config: 'stream-spy.cfg', violates: 'NothingDropped' },
    changes: [["ledger' = AfterReopen([ledger EXCEPT !.unknown = @ \\ {n}], n)\n", "ledger' = ledger\n"]],
  },
  {
    ...{ name: 'the-checkpoint-is-ahead', model: 'stream', config: 'stream-loss.cfg', violates: 'CheckpointIsBehind' },
    changes: [['CompletedNumber(l) == Lowest({l.next} \\union Unresolved(l)) - 1', 'CompletedNumber(l) == l.next - 1']],
  },
  {
    ...{ name: 'the-count-shows-no-gap', model: 'stream', config: 'stream-ends.cfg', violates: 'EveryNumberEnds' },
    changes: [['IF behind \\/ l.start = 0 THEN', 'IF FALSE THEN']],
  },
  {
    ...{ name: 'a-message-gets-a-second-workflow', model: 'stream', config: 'stream-spy.cfg', violates: 'SameMessageSameWorkflow' },
    changes: [["runs' = IF n \\in Started THEN runs ELSE", "runs' ="]],
  },
]

/** Makes each change in the file that has its text. Throws Error if the files do not have the text exactly once. */
export function withChanges(files: ReadonlyMap<string, string>, changes: Mutant['changes']): ReadonlyMap<string, string> {
  const changed = new Map(files)
  for (const [from, to] of changes) {
    const places = [...changed].filter(([, text]) => text.includes(from))
    const [[file, text] = ['', '']] = places
    if (places.length !== 1 || text.split(from).length !== 2) throw new Error(`the models do not have this text exactly once: ${from}`)
    changed.set(
      file,
      text.replace(from, () => to),
    )
  }
  return changed
}
