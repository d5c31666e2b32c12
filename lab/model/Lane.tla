-------------------------------- MODULE Lane --------------------------------
(***************************************************************************)
(* Transfers, the nonce ledger of one key, and processes that hold the key *)
(* (docs/concepts/lanes.md). Temporal makes the ledger's steps atomic.     *)
(* Everything else may crash, be lost, be late or be repeated.             *)
(* Comments name the function that an action stands for.                   *)
(***************************************************************************)
EXTENDS Ledger, TLC

CONSTANTS Transfers, Processes,
          Rounds,   \* Maximum intents of a transfer.
          Tries,    \* Maximum attempts of a nonce. The last one is never a second call.
          Crashes, Late, Reorgs, Losses, Lies, Cancels, Others \* How often each fault may happen.

VARIABLES ledger,   \* LaneState of domain/lane/lane.ts.
          net,      \* Requests to the ledger that are not answered yet.
          mem,      \* What each process knows of each nonce; a crash clears it.
          reported, \* Processes whose observation reached the ledger since they started.
          signed,   \* Every transaction signed on this ledger's word. Each may be mined at any time.
          old,      \* Transactions signed before the ledger was lost.
          chain,    \* Blocks that are not final: the account's transactions, and deliveries by others.
          final,    \* The finalized state: the account's nonce, and the transfers that have their effect.
          transfer, \* Round, result and cancel order of each transfer workflow.
          backup,   \* A copy of Temporal's data.
          left,     \* How often each fault may still happen.
          act       \* The last action. It is not part of the state that TLC compares.

world == <<chain, final>>
durable == <<ledger, transfer>>
view == <<ledger, net, mem, reported, signed, old, chain, final, transfer, backup, left>>
vars == <<view, act>>

Intents == Transfers \X (1 .. Rounds)
Ids == 1 .. Nonces + Late + 1
Last(s) == s[Len(s)]

(* ------------------------------- The chain ------------------------------ *)

Used == final.used + Len(SelectSeq(chain, LAMBDA tx : tx.kind # "other")) \* The account's nonce.
Effect(t) == t \in final.effects \/ \E k \in DOMAIN chain : chain[k].of = t   \* More calls of t revert.
\* Transaction count with the pool: all nonces from the account's on that have a transaction.
Pending == LET gaps == {n \in N : n >= Used /\ ~\E tx \in signed \union old : tx.nonce = n}
           IN IF gaps = {} THEN Nonces ELSE Lowest(gaps)

(* -------------------- Processes that hold the key ----------------------- *)

NoMemory == [n \in N |-> Nil]
Init == /\ ledger = NewLedger /\ net = {} /\ reported = {} /\ signed = {} /\ old = {}
        /\ mem = [p \in Processes |-> NoMemory]
        /\ chain = <<>> /\ final = [used |-> 0, effects |-> {}] /\ backup = Nil
        /\ transfer = [t \in Transfers |-> [round |-> 1, state |-> "open", cancel |-> FALSE]]
        /\ left = [crash |-> Crashes, late |-> Late, reorg |-> Reorgs, loss |-> Losses,
                    lie |-> Lies, cancel |-> Cancels, other |-> Others]
        /\ act = <<"Init">>

Spend(fault) == left[fault] > 0 /\ left' = [left EXCEPT ![fault] = @ - 1]
SpendUnless(is, fault) == IF is THEN UNCHANGED left ELSE Spend(fault)
Intent(t) == <<t, transfer[t].round>>
FreeIds == Ids \ ({r.id : r \in net} \union {ledger.entries[n].id : n \in {m \in N : Has(ledger, m)}})
Known(p, n) == mem[p][n] # Nil
Remember(p, n, m) == mem' = [mem EXCEPT ![p][n] = IF n < final.used THEN Nil ELSE m]

\* The ledger applies a request (workflows/lane.ts). `by`: the process that gets the answer, Nil if nobody gets it.
Apply(r, by) == LET n == Granted(ledger, r.i) IN
    /\ IF r.what = "release" THEN ledger' = AfterRelease(ledger, r.i, r.id) /\ UNCHANGED mem
       ELSE /\ n # Nil => n < Nonces
            /\ ledger' = AfterGrant(ledger, r.i, r.id)
            /\ IF by = Nil \/ n = Nil THEN UNCHANGED mem
               ELSE LET e == ledger'.entries[n] IN Remember(by, n, [i |-> r.i, id |-> e.id, attempts |-> e.attempts, signed |-> 0])

\* A try of the step `broadcast` asks for a nonce (NonceRequests.acquire). Two tries may run in two processes.
Ask(p, t) ==
    /\ transfer[t].state = "open" /\ p \in reported
    /\ ~\E n \in N : Known(p, n) /\ mem[p][n].i = Intent(t)
    /\ LET r == [what |-> "grant", id |-> Lowest(FreeIds), i |-> Intent(t)] IN
       Apply(r, p) /\ act' = <<"Ask", r.id, r.i, Granted(ledger, r.i)>>
    /\ UNCHANGED <<transfer, net, reported, signed, old, world, backup, left>>

\* Like Ask, but the ledger gets the request later or several times: CoalescingUpdates repeats it until an answer comes.
AskLate(p, t) ==
    /\ transfer[t].state = "open" /\ p \in reported /\ Spend("late")
    /\ net' = net \union {[what |-> "grant", id |-> Lowest(FreeIds), i |-> Intent(t), p |-> p]}
    /\ act' = <<"AskLate", Lowest(FreeIds)>>
    /\ UNCHANGED <<durable, mem, reported, signed, old, world, backup>>

\* The ledger gets a late request, and again if the answer was lost. After a crash nobody gets the answer.
Repeat(r, heard) ==
    /\ heard => r.p # Nil
    /\ Apply([what |-> r.what, id |-> r.id, i |-> r.i], IF heard THEN r.p ELSE Nil)
    /\ net' = IF heard \/ r.p = Nil THEN net \ {r} ELSE net
    /\ act' = <<"Repeat", r.id, r.what, r.i, Granted(ledger, r.i)>>
    /\ UNCHANGED <<transfer, reported, signed, old, world, backup, left>>

\* A try gives its nonce back before it signs anything (LaneAgent.release).
Release(p, n, late) ==
    /\ Known(p, n) /\ mem[p][n].id # 0
    /\ mem' = [mem EXCEPT ![p][n] = Nil]
    /\ LET r == [what |-> "release", id |-> mem[p][n].id, i |-> mem[p][n].i] IN
       IF late THEN /\ Spend("late") /\ net' = net \union {[what |-> "release", id |-> r.id, i |-> r.i, p |-> p]}
                    /\ act' = <<"ReleaseLate">> /\ UNCHANGED ledger
       ELSE /\ ledger' = AfterRelease(ledger, r.i, r.id) /\ act' = <<"Release", r.id, r.i>>
            /\ UNCHANGED <<net, left>>
    /\ UNCHANGED <<transfer, reported, signed, old, world, backup>>

\* Signs every recorded attempt that the process knows and can make (Attempts.sign), and sends it.
Sign(p, n) == LET m == mem[p][n] IN
    /\ Known(p, n) /\ m.signed < Len(m.attempts)
    /\ signed' = signed \union {[nonce |-> n, place |-> k, kind |-> m.attempts[k], i |-> IF m.attempts[k] = "call" THEN m.i ELSE Nil] :
                                k \in {j \in DOMAIN m.attempts : m.attempts[j] = "noop" \/ m.i # Nil}}
    /\ mem' = [mem EXCEPT ![p][n].signed = Len(m.attempts), ![p][n].id = 0]
    /\ act' = <<"Sign", p, n>>
    /\ UNCHANGED <<durable, net, reported, old, world, backup, left>>

\* Each answer of the ledger repeats its orders to fill nonces (fillOrders, PendingTransactions.fill).
Hear(p, n) ==
    /\ p \in reported /\ Has(ledger, n) /\ n >= ledger.latest
    /\ LET e == ledger.entries[n] IN
       /\ e.fill # "none" /\ (~Known(p, n) \/ (Known(p, n) /\ Len(mem[p][n].attempts) < Len(e.attempts)))
       /\ Remember(p, n, IF Known(p, n) THEN [mem[p][n] EXCEPT !.attempts = e.attempts]
                         ELSE [i |-> Nil, id |-> 0, attempts |-> e.attempts, signed |-> 0])
       /\ act' = <<"Hear", n, e.fill>>
    /\ UNCHANGED <<durable, net, reported, signed, old, world, backup, left>>

\* Records one more attempt (Attempts.record): a fee raise, or a no-op on an order that may be outdated.
Record(p, n, kind, heard) == LET m == mem[p][n] IN
    /\ Known(p, n) /\ Has(ledger, n) /\ Len(m.attempts) < Tries /\ SpendUnless(heard, "late")
    /\ IF m.attempts = <<>> THEN kind = "noop"
       ELSE Last(m.attempts) = "call" /\ (kind = "call" => m.signed > 0 /\ Len(m.attempts) + 1 < Tries)
    /\ ledger' = AfterAttempt(ledger, n, Len(m.attempts) + 1, kind)
    /\ IF heard THEN Remember(p, n, [m EXCEPT !.attempts = ledger'.entries[n].attempts]) ELSE UNCHANGED mem
    /\ act' = <<"Record", n, Len(m.attempts) + 1, kind>>
    /\ UNCHANGED <<transfer, net, reported, signed, old, world, backup>>

\* Reads the account and reports it (AccountObserver). `shown`: the latest nonce of the node that answers.
Observe(p, shown, waited) ==
    LET claims == {n \in N : Known(p, n) /\ mem[p][n].signed > 0 /\ n >= shown}
        pool == IF ~ledger.synced \/ p \notin reported THEN Pending ELSE Nil
    IN
    /\ SpendUnless(shown = Used, "lie")
    /\ ledger' = AfterObserve(ledger, shown, final.used, pool, claims, waited)
    /\ reported' = reported \union {p}
    /\ act' = <<"Observe", shown, final.used, pool, claims, waited>>
    /\ UNCHANGED <<transfer, net, mem, signed, old, world, backup>>

\* A process stops at any point. Its unanswered requests may still arrive.
Crash(p) ==
    /\ Spend("crash")
    /\ mem' = [mem EXCEPT ![p] = NoMemory] /\ reported' = reported \ {p}
    /\ net' = {IF r.p = p THEN [r EXCEPT !.p = Nil] ELSE r : r \in net}
    /\ act' = <<"Crash", p>>
    /\ UNCHANGED <<durable, signed, old, world, backup>>

(* -------------- Transfer workflows: workflows/transfer ------------------ *)

Set(t, field, value) == transfer' = [transfer EXCEPT ![t][field] = value]

\* confirm, broadcast: the finalized state shows the effect.
Deliver(t) ==
    /\ transfer[t].state = "open" /\ t \in final.effects
    /\ Set(t, "state", "delivered") /\ act' = <<"Deliver", t>>
    /\ UNCHANGED <<ledger, net, mem, reported, signed, old, world, backup, left>>

\* The intent has no nonce (any more), and no block shows the effect: the next round begins (TransferRun.nextRound).
\* Assumed: no try of this round still waits for the ledger.
NextRound(t) ==
    /\ ~\E r \in net : r.i = Intent(t)
    /\ transfer[t].state = "open" /\ transfer[t].round < Rounds /\ HeldBy(ledger, Intent(t)) = {} /\ ~Effect(t)
    /\ Set(t, "round", transfer[t].round + 1) /\ act' = <<"NextRound", t>>
    /\ UNCHANGED <<ledger, net, mem, reported, signed, old, world, backup, left>>

\* The lane is forbidden or has no worker (LaneIntent.leave, .abandon): the next round may choose another lane.
Withdraw(t, how) == LET free == Free(ledger, Intent(t), how) IN
    /\ transfer[t].state = "open" /\ ~transfer[t].cancel /\ transfer[t].round < Rounds
    /\ ledger' = AfterWithdraw(ledger, Intent(t), how)
    /\ IF free THEN Set(t, "round", transfer[t].round + 1) ELSE UNCHANGED transfer
    /\ act' = <<"Withdraw", Intent(t), how, free>>
    /\ UNCHANGED <<net, mem, reported, signed, old, world, backup, left>>

\* An operator orders the end.
Cancel(t) ==
    /\ transfer[t].state = "open" /\ ~transfer[t].cancel /\ Spend("cancel")
    /\ Set(t, "cancel", TRUE) /\ act' = <<"Cancel", t>>
    /\ UNCHANGED <<ledger, net, mem, reported, signed, old, world, backup>>

\* Withdraws the intent. The transfer ends once no ledger has a nonce of any round, even an abandoned one (confirmEnd).
EndCancelled(t) ==
    LET free == Free(ledger, Intent(t), "cancel")
        \* A new ledger does not know nonces of an earlier ledger. A restored one does not know nonces granted after the
        \* copy (knowsAllNonces). In the code, `reported` is a report of the last 30 s.
        knowsAll == ledger.synced /\ reported # {} /\ \A n \in N : n >= ledger.finalized /\ n < ledger.next =>
                       Has(ledger, n) /\ ledger.entries[n].fill # "inherited"
        open == {n \in N : Has(ledger, n) /\ LET e == ledger.entries[n] IN t \in {IF i = Nil THEN Nil ELSE i[1] : i \in {e.owner, e.by}}}
    IN
    /\ transfer[t].state = "open" /\ transfer[t].cancel /\ ~Effect(t)
    /\ ledger' = AfterWithdraw(ledger, Intent(t), "cancel")
    /\ IF free /\ knowsAll /\ open = {} THEN Set(t, "state", "cancelled") ELSE UNCHANGED transfer
    /\ act' = <<"Withdraw", Intent(t), "cancel", free>>
    /\ UNCHANGED <<net, mem, reported, signed, old, world, backup, left>>

(* --------------------------- Chain and Temporal ------------------------- *)

World(a) == act' = a /\ UNCHANGED <<durable, net, reported, backup>>

\* A block takes any transaction that was ever signed for the account's nonce.
Mine(tx) == /\ tx.nonce = Used
            /\ chain' = Append(chain, [kind |-> tx.kind, of |-> IF tx.kind = "call" THEN tx.i[1] ELSE Nil])
            /\ UNCHANGED <<mem, signed, old, final, left>> /\ World(<<"Mine", tx>>)

\* Somebody else delivers the message.
Other(t) == /\ Spend("other") /\ chain' = Append(chain, [kind |-> "other", of |-> t])
            /\ UNCHANGED <<mem, signed, old, final>> /\ World(<<"Other", t>>)

\* The lowest block becomes final. The model drops transactions of final nonces, which can no longer be mined.
Finalize ==
    /\ chain # <<>> /\ chain' = Tail(chain)
    /\ final' = [used |-> final.used + (IF Head(chain).kind = "other" THEN 0 ELSE 1), effects |-> final.effects \union ({Head(chain).of} \ {Nil})]
    /\ signed' = {tx \in signed : tx.nonce >= final'.used} /\ old' = {tx \in old : tx.nonce >= final'.used}
    /\ mem' = [p \in Processes |-> [n \in N |-> IF n < final'.used THEN Nil ELSE mem[p][n]]]
    /\ UNCHANGED left /\ World(<<"Finalize">>)

\* The blocks above height k leave the chain.
Reorg(k) == /\ k < Len(chain) /\ Spend("reorg") /\ chain' = SubSeq(chain, 1, k)
            /\ UNCHANGED <<mem, signed, old, final>> /\ World(<<"Reorg", k>>)

\* Somebody copies Temporal's database (pg_dump).
Backup == /\ backup = Nil /\ left.loss > 0 /\ ledger.synced /\ backup' = durable /\ act' = <<"Backup">>
          /\ UNCHANGED <<durable, net, mem, reported, signed, old, world, left>>

\* Temporal is wiped or restored while all processes are stopped (docs/operate/temporal/restore.md). The streams start
\* the transfers that a wiped Temporal lacks (Stream.tla).
Lose(restored) ==
    /\ Spend("loss") /\ (restored => backup # Nil)
    /\ ledger' = IF restored THEN backup[1] ELSE NewLedger
    /\ transfer' = IF restored THEN backup[2] ELSE [t \in Transfers |-> [round |-> 1, state |-> "open", cancel |-> FALSE]]
    /\ mem' = [p \in Processes |-> [n \in N |-> Nil]] /\ reported' = {} /\ net' = {} /\ backup' = Nil
    /\ old' = old \union signed /\ signed' = {}
    /\ act' = <<"Lose", restored>>
    /\ UNCHANGED world

Next == \/ \E p \in Processes, t \in Transfers : Ask(p, t) \/ AskLate(p, t)
        \/ \E r \in net, heard \in BOOLEAN : Repeat(r, heard)
        \/ \E p \in Processes, n \in N : Sign(p, n) \/ Hear(p, n) \/ \E late \in BOOLEAN : Release(p, n, late)
        \/ \E p \in Processes, n \in N, kind \in {"call", "noop"}, heard \in BOOLEAN : Record(p, n, kind, heard)
        \/ \E p \in Processes, shown \in final.used .. Max(ledger.next, Used), waited \in BOOLEAN : Observe(p, shown, waited)
        \/ \E p \in Processes : Crash(p)
        \/ \E t \in Transfers : Deliver(t) \/ NextRound(t) \/ Cancel(t) \/ EndCancelled(t) \/ Other(t)
        \/ \E t \in Transfers, how \in {"leave", "abandon"} : Withdraw(t, how)
        \/ \E tx \in signed \union old : Mine(tx)
        \/ Finalize \/ (\E k \in 0 .. Len(chain) : Reorg(k)) \/ Backup \/ \E restored \in BOOLEAN : Lose(restored)

Symmetry == Permutations(Transfers) \union Permutations(Processes)
Spec == Init /\ [][Next]_vars

\* Steps that processes and the chain take in the end, if nobody stops them for good.
Fairness == /\ WF_view(\E p \in Processes, n \in N : Sign(p, n) \/ Hear(p, n) \/ Record(p, n, "noop", TRUE))
            /\ WF_view(\E p \in Processes : Observe(p, Used, TRUE))
            /\ WF_view(\E tx \in signed : Mine(tx)) /\ WF_view(Finalize)
FairSpec == Spec /\ Fairness

(* ------------------------------ What holds ------------------------------ *)

\* 1. A transfer ends as delivered only if the finalized state shows its effect.
EffectNotNonce == \A t \in Transfers : transfer[t].state = "delivered" => t \in final.effects

\* 2. Everything signed is recorded, until the nonce is final.
RecordThenAct == \A tx \in signed : tx.nonce >= ledger.finalized =>
    /\ Has(ledger, tx.nonce)
    /\ LET e == ledger.entries[tx.nonce] IN
       tx.place <= Len(e.attempts) /\ e.attempts[tx.place] = tx.kind /\ (tx.kind = "call" => tx.i \in {e.owner, e.by})

\* 3. No nonce is forgotten: each one that is out has an entry, and each entry has an owner or gets a no-op.
NoHole == /\ ledger.synced => \A n \in N : n >= ledger.latest /\ n < ledger.next => Has(ledger, n)
          /\ \A tx \in signed : tx.nonce < ledger.next
          /\ \A n \in N : Has(ledger, n) => ledger.entries[n].owner # Nil \/ ledger.entries[n].fill # "none"

\* 3. In the end, each nonce that was granted is used at finality, or was given back.
EveryNonceSettled == \A n \in N : (n < ledger.next) ~> (n >= ledger.next \/ n < final.used)

\* 3. An intent has one nonce, however often it asks.
OneNonceEach == \A n, m \in N : Has(ledger, n) /\ Has(ledger, m) /\ n # m /\ ledger.entries[n].owner # Nil
                              => ledger.entries[n].owner # ledger.entries[m].owner

\* 4. For one nonce, only one call and only one transaction of each place is ever signed on one ledger's word.
OneWriter == \A a, b \in signed : a.nonce = b.nonce =>
    /\ a.place = b.place => a.kind = b.kind
    /\ a.kind = "call" /\ b.kind = "call" => a.i = b.i

\* 6. A transfer ends as cancelled only if none of its calls can be mined any more.
NothingDropped == \A t \in Transfers : transfer[t].state = "cancelled" =>
    ~\E tx \in signed \union old : tx.kind = "call" /\ tx.i[1] = t /\ tx.nonce >= final.used
=============================================================================
