------------------------------- MODULE Stream -------------------------------
(***************************************************************************)
(* One numbered source of transfers, and the stream that proves that none  *)
(* is missed (docs/concepts/streams.md). Block n of the source has message *)
(* n. Agents start the workflow of a message before they report it. Any    *)
(* agent may report anything true at any time, again or never.             *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Numbers,  \* The source gives out 1 .. Numbers.
          MaxOpen,  \* StreamConfig.maxOpen.
          Scans,    \* TRUE: agents read blocks. FALSE: agents have only the spy and the source's count.
          Nil, Losses, Hides, Ends, Terminations, Reverts \* How often each fault may happen.

VARIABLES ledger,    \* StreamState of domain/stream/stream.ts.
          head,      \* Height of the source's last final block.
          runs,      \* The transfer workflow of each number: how many are open, and whether one has ended.
          delivered, \* Numbers that the target's finalized state shows as delivered.
          named,     \* Numbers that ended as named exceptions: declined, or skipped by an operator.
          saved,     \* The checkpoint outside of Temporal.
          backup,    \* A copy of Temporal's data.
          left,      \* How often each fault may still happen.
          act        \* The last action. It is not part of the state that TLC compares.

durable == <<ledger, runs>>
view == <<ledger, head, runs, delivered, named, saved, backup, left>>
vars == <<view, act>>

K == 1 .. Numbers
Max(a, b) == IF a > b THEN a ELSE b
Lowest(S) == CHOOSE n \in S : \A m \in S : n <= m
Highest(S) == CHOOSE n \in S : \A m \in S : n >= m

(* -------------------- The ledger: domain/stream/ ------------------------ *)

\* `cursor` 0: no block is read yet. `start` 0: no blocks are read. `unread`: blocks left to the backfill.
NewLedger == [next |-> 1, open |-> {}, gaps |-> [n \in K |-> "none"], exceptions |-> {}, unknown |-> {},
              cursor |-> 0, start |-> IF Scans THEN 1 ELSE 0, unread |-> {}]

IsGap(l, n) == l.gaps[n] # "none"
Unresolved(l) == {n \in K : IsGap(l, n) \/ n \in l.open}
Wanted(l, n) == n \in Unresolved(l) \/ (n >= l.next /\ n \notin l.exceptions)
Resolved(l, n) == n < l.next /\ n \notin Unresolved(l) /\ n \notin l.exceptions

\* learn(): opens the numbers, or resolves those in `done`. Unknown numbers between them become gaps.
AfterLearn(l, numbers, done) ==
    LET new == {n \in numbers : n >= l.next \/ n \in Unresolved(l)}
        next == IF new = {} THEN l.next ELSE Max(l.next, Highest(new) + 1)
        excepted == {n \in new : n \in l.exceptions /\ n \notin l.open}
    IN [l EXCEPT !.next = next, !.open = (@ \union (new \ excepted)) \ done, !.unknown = @ \ new,
                 !.gaps = [n \in K |-> IF n \in new THEN "none" ELSE IF n >= l.next /\ n < next THEN "unasked" ELSE @[n]]]
\* room(): more numbers than this are not opened, and nothing changes.
Full(l, numbers, done) == LET more == Cardinality(AfterLearn(l, numbers, done).open \ l.open) IN
    more > 0 /\ Cardinality(l.open) + more > MaxOpen

\* scanned(): the only request that moves the cursor. It passes over no number that the stream wants.
AfterScan(l, from, to, logs, passed, done) ==
    LET above == {n \in passed : n \in l.exceptions /\ n >= l.next}
        learnt == AfterLearn(l, logs \union above, done)
        first == l.cursor = 0
    IN IF (~first /\ from # l.cursor + 1) \/ (\E n \in passed : Wanted(l, n)) \/ Full(l, logs \union above, done) THEN l
       ELSE [learnt EXCEPT !.cursor = to, !.unread = IF first THEN {n \in K : n >= l.start /\ n < from} ELSE @]

\* backfilled(): a block below the first scan.
AfterBackfill(l, n, passed, done) ==
    IF (passed /\ Wanted(l, n)) \/ (~passed /\ Full(l, {n}, done)) THEN l
    ELSE [(IF passed THEN l ELSE AfterLearn(l, {n}, done)) EXCEPT !.unread = @ \ {n}]

\* audited(): the source's own count shows numbers that neither logs nor the spy showed.
AfterAudit(l, count) ==
    LET behind == l.cursor # 0 /\ count <= l.cursor
        found == IF behind /\ l.unread = {} THEN "hidden" ELSE "unasked"
        tail == IF behind \/ l.start = 0 THEN {n \in K : n >= l.next /\ n <= count} ELSE {}
        vague == {n \in K : n <= count /\ l.gaps[n] = "unasked"}
    IN [l EXCEPT !.next = IF tail = {} THEN @ ELSE count + 1,
                 !.gaps = [n \in K |-> IF n \in tail \union vague THEN found ELSE @[n]]]

\* completed(): a number that the source has not shown stays unresolved until its id can be compared.
AfterCompleted(l, n) == [l EXCEPT !.open = @ \ {n}, !.exceptions = @ \ {n},
                                  !.unknown = IF IsGap(l, n) \/ n >= l.next THEN @ \union {n} ELSE @]
\* undone(), unskip(): only a resolved number becomes a gap again.
AfterReopen(l, n) == [l EXCEPT !.gaps[n] = IF n < l.next /\ n \notin l.open /\ n \notin l.exceptions /\ @ = "none" THEN "undone" ELSE @]
\* closed(), skip(): a named exception.
AfterExcept(l, n) == IF n \notin Unresolved(l) THEN l
    ELSE [l EXCEPT !.open = @ \ {n}, !.gaps[n] = "none", !.unknown = @ \ {n}, !.exceptions = @ \union {n}]

\* completedNumber(), completedHeight(): the watermark is below everything that is unresolved or unread.
CompletedNumber(l) == Lowest({l.next} \union Unresolved(l)) - 1
CompletedHeight(l) == IF l.cursor = 0 THEN 0 ELSE Lowest({l.cursor} \union {n - 1 : n \in Unresolved(l) \union l.unread})
CheckpointOf(l) == [number |-> CompletedNumber(l), height |-> CompletedHeight(l),
                    exceptions |-> {n \in l.exceptions : n > CompletedNumber(l)}]
FromCheckpoint(c) == [NewLedger EXCEPT !.next = c.number + 1, !.exceptions = c.exceptions,
                                       !.start = IF Scans THEN Max(1, c.height + 1) ELSE 0]

(* ------------------------------ What happens ---------------------------- *)

Init == /\ ledger = NewLedger /\ head = 0 /\ delivered = {} /\ named = {} /\ saved = Nil /\ backup = Nil
        /\ runs = [n \in K |-> [open |-> 0, ended |-> FALSE]]
        /\ left = [loss |-> Losses, hide |-> Hides, end |-> Ends, termination |-> Terminations, revert |-> Reverts]
        /\ act = <<"Init">>

Spend(fault) == left[fault] > 0 /\ left' = [left EXCEPT ![fault] = @ - 1]
Started == {n \in K : runs[n].open > 0 \/ runs[n].ended}
Report(l, a) == ledger' = l /\ act' = a /\ UNCHANGED <<head, runs, delivered, named, saved, backup>>

\* A block of the source becomes final.
Publish == /\ head < Numbers /\ head' = head + 1 /\ act' = <<"Publish">>
           /\ UNCHANGED <<durable, delivered, named, saved, backup, left>>

\* Any agent starts a message's workflow. The id has the message's identity: a second start finds the first run.
Start(n) == /\ n <= head /\ act' = <<"Start", n>>
            /\ runs' = IF n \in Started THEN runs ELSE [runs EXCEPT ![n].open = @ + 1]
            /\ UNCHANGED <<ledger, head, delivered, named, saved, backup, left>>

\* Spy, guardian API or audit: the agent has started the message's workflow, or seen that it is delivered.
Seen(n, done) == /\ n <= head /\ (IF done THEN n \in delivered ELSE n \in Started)
                 /\ LET ends == IF done THEN {n} ELSE {} IN
                    Report(IF Full(ledger, {n}, ends) THEN ledger ELSE AfterLearn(ledger, {n}, ends),
                           <<"Seen", n, done, Full(ledger, {n}, ends)>>)
                 /\ UNCHANGED left

\* Reads blocks (scan-blocks.ts). `passed`: numbers that an agent's view does not want. `hidden`: a node leaves a log out.
Scan(from, to, passed, hidden) ==
    LET logs == (from .. to) \ (passed \union hidden)
        done == logs \ Started
    IN /\ Scans /\ from >= 1 /\ from <= to /\ to <= head
       /\ passed \subseteq from .. to /\ hidden \subseteq (from .. to) \ passed /\ Cardinality(hidden) <= Hides
       /\ ledger.cursor # 0 \/ from = head
       /\ done \subseteq delivered
       /\ IF hidden = {} THEN UNCHANGED left ELSE Spend("hide")
       /\ Report(AfterScan(ledger, from, to, logs, passed, done), <<"Scan", from, to, logs, passed, done>>)

\* Reads a block below the first scan (BOOTSTRAP).
Backfill(n, passed) == LET done == IF passed \/ n \in Started THEN {} ELSE {n} IN
    /\ n \in ledger.unread /\ n <= head /\ done \subseteq delivered
    /\ Report(AfterBackfill(ledger, n, passed, done), <<"Backfill", n, passed, done>>) /\ UNCHANGED left

\* Reads the source's own count and its table.
Audit == Report(AfterAudit(ledger, head), <<"Audit", head>>) /\ UNCHANGED left

\* Follows the finalized state of the target (follow-completions.ts).
Complete(n) == n \in delivered /\ Report(AfterCompleted(ledger, n), <<"Complete", n>>) /\ UNCHANGED left

\* The transfer's run or somebody else delivers the message. A run that sees the delivery ends.
Deliver(n) == /\ n <= head /\ (n \notin delivered \/ runs[n].open > 0)
              /\ delivered' = delivered \union {n} /\ act' = <<"Deliver", n>>
              /\ runs' = IF runs[n].open > 0 THEN [runs EXCEPT ![n] = [open |-> @.open - 1, ended |-> TRUE]] ELSE runs
              /\ UNCHANGED <<ledger, head, named, saved, backup, left>>

\* Somebody terminates a run. The audit of open numbers may start it again.
Terminate(n) == /\ Spend("termination") /\ runs[n].open > 0 /\ act' = <<"Terminate", n>>
                /\ runs' = [runs EXCEPT ![n].open = @ - 1]
                /\ UNCHANGED <<ledger, head, delivered, named, saved, backup>>

\* A run ends declined (closed()).
Decline(n) == /\ Spend("end") /\ runs[n].open > 0 /\ n \in ledger.open
              /\ ledger' = AfterExcept(ledger, n) /\ named' = named \union {n} /\ act' = <<"Close", n>>
              /\ runs' = [runs EXCEPT ![n] = [open |-> @.open - 1, ended |-> TRUE]]
              /\ UNCHANGED <<head, delivered, saved, backup>>

\* An operator ends a number without a delivery.
Skip(n) == /\ Spend("end") /\ n < ledger.next /\ n \in Unresolved(ledger)
           /\ ledger' = AfterExcept(ledger, n) /\ named' = named \union {n} /\ act' = <<"Skip", n>>
           /\ UNCHANGED <<head, runs, delivered, saved, backup>>

\* An operator wants an ended number again. Not covered: an order between a checkpoint or copy and its use.
Unskip(n) == /\ n \in ledger.exceptions /\ saved = Nil /\ backup = Nil
             /\ ledger' = AfterReopen([ledger EXCEPT !.exceptions = @ \ {n}], n) /\ named' = named \ {n} /\ act' = <<"Unskip", n>>
             /\ UNCHANGED <<head, runs, delivered, saved, backup, left>>

\* A reorg below the target's finality removes a delivery. Not covered: reorgs between a checkpoint or copy and its use.
Revert(n) == /\ Spend("revert") /\ n \in delivered /\ saved = Nil /\ backup = Nil
             /\ delivered' = delivered \ {n} /\ runs' = [runs EXCEPT ![n].ended = FALSE] /\ act' = <<"Revert", n>>
             /\ ledger' = AfterReopen([ledger EXCEPT !.unknown = @ \ {n}], n)
             /\ UNCHANGED <<head, named, saved, backup>>

\* The agent writes the checkpoint to a file or an object store.
Save == /\ saved' = CheckpointOf(ledger) /\ left.loss > 0 /\ act' = <<"Save", saved'>>
        /\ UNCHANGED <<durable, head, delivered, named, backup, left>>

\* Somebody copies Temporal's database.
Backup == /\ backup = Nil /\ left.loss > 0 /\ backup' = durable /\ act' = <<"Backup">>
          /\ UNCHANGED <<durable, head, delivered, named, saved, left>>

\* Temporal is wiped, and the stream begins with the checkpoint. Or Temporal is restored from the copy.
Lose(restored) ==
    /\ Spend("loss") /\ (restored => backup # Nil)
    /\ ledger' = IF restored THEN backup[1] ELSE IF saved = Nil THEN NewLedger ELSE FromCheckpoint(saved)
    /\ runs' = IF restored THEN backup[2] ELSE [n \in K |-> [open |-> 0, ended |-> FALSE]]
    /\ backup' = Nil /\ act' = <<"Lose", restored, saved>>
    /\ UNCHANGED <<head, delivered, named, saved>>

Next == \/ Publish \/ Audit \/ Save \/ Backup \/ \E restored \in BOOLEAN : Lose(restored)
        \/ \E n \in K : \/ Start(n) \/ Complete(n) \/ Deliver(n) \/ Terminate(n) \/ Decline(n)
                        \/ Skip(n) \/ Unskip(n) \/ Revert(n) \/ \E flag \in BOOLEAN : Seen(n, flag) \/ Backfill(n, flag)
        \/ \E from \in {ledger.cursor + 1, head}, to \in K :
              \E passed, hidden \in SUBSET (from .. to) : Scan(from, to, passed, hidden)

Spec == Init /\ [][Next]_vars

\* Steps that agents take in the end, even if only blocks and the source's count, and not the spy, show messages.
NextBlock == IF ledger.cursor = 0 THEN head ELSE ledger.cursor + 1
Shown(n) == n \in Unresolved(ledger) \/ n \in ledger.unread \/ (Scans /\ n = NextBlock)
Fairness == /\ WF_view(\E n \in K : \/ (Shown(n) /\ Start(n)) \/ (runs[n].open > 0 /\ Deliver(n))
                                  \/ (IsGap(ledger, n) /\ Seen(n, FALSE)) \/ Complete(n) \/ Backfill(n, FALSE))
            /\ WF_view(Audit) /\ WF_view(Scan(NextBlock, NextBlock, {}, {}))
FairSpec == Spec /\ Fairness

(* ------------------------------ What holds ------------------------------ *)

\* 6. Every number below `next` is delivered, a named exception, open, or in a gap.
NothingDropped == \A n \in K : Resolved(ledger, n) => n \in delivered \union named

\* 6. In the end, each message of the source is delivered or a named exception.
EveryNumberEnds == \A n \in K : (n <= head) ~> (n \in delivered \union named)

\* 6. An exception has a name.
ExceptionIsNamed == ledger.exceptions \subseteq named \union delivered

\* 6. The cursor passes no block whose messages are neither known nor left to the backfill, unless a node hid a log.
CursorIsBehind == left.hide = Hides => \A n \in K : n <= ledger.cursor => n < ledger.next

\* 7. A number is open only once its workflow was started. Audits find those that a termination or a reorg ended.
OpenIsStarted == left.termination = Terminations /\ left.revert = Reverts => ledger.open \subseteq Started

\* 7. One message has one workflow.
SameMessageSameWorkflow == \A n \in K : runs[n].open <= 1

\* 9. A checkpoint vouches only for numbers that are delivered or named exceptions.
CheckpointIsBehind == saved # Nil => \A n \in K : n <= saved.number => n \in delivered \union named
=============================================================================
