import type { TransferInput, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { obeyingTemporalCancel } from '../temporal-cancel.ts'
import { admit } from './admit.ts'
import { awaitFinality } from './await-finality.ts'
import { broadcast, failRound } from './broadcast.ts'
import { LaneIntent } from './lane-intent.ts'
import { endByPolicy, endUndelivered, parkOnFailure, watchWhileParked } from './outcome.ts'
import { rollBackRound } from './rounds.ts'
import { receiveSignals } from './signals.ts'
import type { Outcome } from './status.ts'
import { TransferRun } from './transfer-run.ts'

/** Tries one transfer until it has an outcome (docs/concepts/lifecycle.md). Between tries it waits or is parked. */
export function transfer(input: TransferInput): Promise<TransferStatus> {
  let run: TransferRun | undefined
  return obeyingTemporalCancel(
    (order) => run?.cancel(order),
    () => tryUntilDone((run = new TransferRun(input))),
  )
}

async function tryUntilDone(run: TransferRun): Promise<TransferStatus> {
  receiveSignals(run)
  for (;;) {
    try {
      const outcome = await tryToDeliver(run)
      if (outcome) return run.end(outcome)
    } catch (error) {
      parkOnFailure(run, error)
    }
  }
}

/** Undefined: no outcome yet. The next try goes on from `run.progress`. */
async function tryToDeliver(run: TransferRun): Promise<Outcome | undefined> {
  if (run.isDue) await run.continueAsNew()
  if (run.state === 'parked' && !run.called) return watchWhileParked(run)
  run.signals.woken = false
  const { underway } = run.progress
  if (run.ending && !underway) return endUndelivered(run)

  run.enterTry()
  const ready = underway?.ready ?? (await admit(run))
  if (ready?.kind === 'rejected' || ready?.kind === 'declined') return endByPolicy(run, ready)
  if (ready?.kind !== 'ready') return ready

  const lane = new LaneIntent(run, ready)
  const included = await broadcast(run, lane, underway !== undefined)
  if (included?.kind !== 'included') return included

  const finality = await awaitFinality(run, included.finalInMs, { lane })
  if (finality.kind === 'reverted') return failRound(run, 'reverted', finality.reason)
  if (finality.kind !== 'gone') return finality
  // The next try follows the same nonce.
  rollBackRound(run.progress)
  return undefined
}
