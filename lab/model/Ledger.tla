------------------------------- MODULE Ledger -------------------------------
(***************************************************************************)
(* The nonce ledger of one key: the reducer of domain/lane/reducer without *)
(* funds, pauses and packed entries. Each operator names its function.     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS Nonces,   \* Nonces are 0 .. Nonces - 1.
          Window,   \* LaneConfig.window.
          Nil

N == 0 .. Nonces - 1
Max(a, b) == IF a > b THEN a ELSE b
Lowest(S) == CHOOSE n \in S : \A m \in S : n <= m

NewLedger == [synced |-> FALSE, seen |-> FALSE, latest |-> 0, finalized |-> 0, next |-> 0,
              entries |-> [n \in N |-> Nil], tombstones |-> {}]

Has(l, n) == l.entries[n] # Nil
Unmined(l) == {n \in N : Has(l, n) /\ n >= l.latest /\ n < l.next}
HeldBy(l, i) == {n \in N : Has(l, n) /\ l.entries[n].owner = i}
Released(l) == {n \in Unmined(l) : l.entries[n].fill = "released" /\ l.entries[n].attempts = <<>>}
Inherited(l) == {n \in Unmined(l) : l.entries[n].fill = "inherited" /\ l.entries[n].owner = Nil}
InFlight(l) == IF l.seen /\ l.next > l.latest THEN l.next - l.latest ELSE 0
LaterRound(l, i) == \E n \in Unmined(l) : LET e == l.entries[n] IN
    e.fill = "none" /\ e.owner # Nil /\ e.owner[1] = i[1] /\ e.owner[2] > i[2]
Marked(e) == [e EXCEPT !.sent = TRUE, !.id = 0]
Put(l, n, e) == [l EXCEPT !.entries[n] = e]
Bury(l, i) == [l EXCEPT !.tombstones = @ \union {i}]

\* grant(): the nonce that the intent holds, or a released one, or the next one. Nil: refused.
Granted(l, i) ==
    IF HeldBy(l, i) # {} THEN Lowest(HeldBy(l, i))
    ELSE IF i \in l.tombstones \/ LaterRound(l, i) \/ ~l.synced \/ Inherited(l) # {} THEN Nil
    ELSE IF Released(l) # {} THEN Lowest(Released(l))
    ELSE IF InFlight(l) >= Window THEN Nil ELSE l.next

AfterGrant(l, i, id) == LET n == Granted(l, i) IN
    IF n = Nil THEN l
    ELSE IF HeldBy(l, i) # {} THEN IF l.entries[n].id = id THEN l ELSE Put(l, n, Marked(l.entries[n]))
    ELSE [Put(l, n, [owner |-> i, id |-> id, sent |-> FALSE, fill |-> "none", attempts |-> <<"call">>, by |-> Nil])
            EXCEPT !.next = Max(@, n + 1)]

\* release(), lowered(): only the request that got the nonce may return it, and only if nobody else got it too.
RECURSIVE Lowered(_)
Lowered(l) == IF l.next > 0 /\ l.next - 1 \in Released(l)
              THEN Lowered([Put(l, l.next - 1, Nil) EXCEPT !.next = @ - 1]) ELSE l
AfterRelease(l, i, id) == LET S == {n \in HeldBy(l, i) : ~l.entries[n].sent /\ l.entries[n].id = id} IN
    IF S = {} THEN l
    ELSE Lowered(Put(l, Lowest(S), [l.entries[Lowest(S)] EXCEPT !.owner = Nil, !.fill = "released", !.attempts = <<>>, !.id = 0]))

\* attempt(): appends only at the given place. Only a nonce that is to be filled gets a no-op.
AfterAttempt(l, n, place, kind) == LET e == l.entries[n] IN
    IF place # Len(e.attempts) + 1 \/ (e.fill # "none") # (kind = "noop") THEN l
    ELSE Put(l, n, [Marked(e) EXCEPT !.attempts = Append(@, kind)])

\* withdraw(): `cancel` orders a no-op, `abandon` leaves an unmined nonce to the lane, `leave` needs no nonce.
Filled(e, why) == IF e.fill = "none" THEN [Marked(e) EXCEPT !.fill = why] ELSE e
AfterWithdraw(l, i, how) ==
    IF HeldBy(l, i) = {} THEN Bury(l, i)
    ELSE LET n == Lowest(HeldBy(l, i)) IN
         IF how = "cancel" THEN Put(Bury(l, i), n, Filled(l.entries[n], "cancelled"))
         ELSE IF how = "abandon" /\ n >= l.latest
         THEN Put(Bury(l, i), n, [Filled(Marked(l.entries[n]), "abandoned") EXCEPT !.owner = Nil, !.by = i])
         ELSE l
Free(l, i, how) == IF HeldBy(l, i) = {} THEN how # "cancel" \/ (l.synced /\ Inherited(l) = {})
                   ELSE how = "abandon" /\ Lowest(HeldBy(l, i)) >= l.latest

\* observe(): the lowest unmined nonce that nobody claims for fillAfterBlocks (`waited`) becomes an orphan.
AfterObserve(l, latest, finalized, pool, claims, waited) ==
    LET low == Max(finalized, l.finalized)
        now == Max(latest, low)
        was == IF l.seen THEN l.latest ELSE now
        synced == l.synced \/ pool # Nil
        next == IF synced THEN Max(Max(l.next, now), IF pool = Nil THEN 0 ELSE pool) ELSE l.next
        Fell(n) == n >= now /\ n < was
        After(n) ==
            IF n < low THEN Nil
            ELSE IF ~Has(l, n) THEN
                IF synced /\ n >= now /\ n < next
                THEN [owner |-> Nil, id |-> 0, sent |-> TRUE, fill |-> "inherited", attempts |-> <<>>, by |-> Nil] ELSE Nil
            ELSE IF n = now /\ l.entries[n].owner # Nil /\ waited /\ ~Fell(n) /\ n \notin claims
            THEN Filled(l.entries[n], "orphaned") ELSE l.entries[n]
    IN [l EXCEPT !.synced = synced, !.seen = TRUE, !.latest = now, !.finalized = low, !.next = next,
                 !.entries = [n \in N |-> After(n)]]
=============================================================================
