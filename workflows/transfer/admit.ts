import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Admission, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { awaitFinality } from './outcome.ts'
import * as steps from './steps.ts'
import { type Outcome, type TransferRun, wait } from './transfer-run.ts'
import { isCancellation } from '@temporalio/workflow'

/** Steps 1-3: validate, check whether it is delivered, prepare. Returns undefined after a wait or if parked. */
export async function admit(run: TransferRun): Promise<Ready | Outcome | undefined> {
  const { adopted } = run.signals
  if (adopted !== undefined) return admitCopy(run, { ...run.transfer, message: adopted })
  const admission = await askAdmission(run, run.transfer)
  return admission.kind === 'ready' ? admission : act(run, admission)
}

/** The copy replaces the transfer's message once the signatures of the copy are verified. */
async function admitCopy(run: TransferRun, copy: Transfer): Promise<Ready | Outcome | undefined> {
  delete run.signals.adopted
  const admission = await askAdmission(run, copy).catch((error: unknown) => {
    if (isCancellation(error)) throw error
  })
  if (!admission) return undefined
  if (admission.kind === 'waiting' && admission.code === 'HALTED') {
    run.signals.adopted ??= copy.message
    return wait(run, admission)
  }
  if (admission.kind === 'rejected' || (admission.kind === 'waiting' && admission.unverified)) return undefined
  run.transfer = copy
  return act(run, admission)
}

function askAdmission({ progress, label, retriedAt, freshSince }: TransferRun, transfer: Transfer): Promise<Admission> {
  const { turnedAway, disputed, failures, quarantined } = progress
  const wrapped = quarantined || failures > 0 || undefined
  return steps.admit({ transfer, avoid: turnedAway?.lanes ?? [], disputed, retriedAt, wrapped, startedAt: freshSince }, label)
}

async function act(run: TransferRun, admission: Admission): Promise<Ready | Outcome | undefined> {
  switch (admission.kind) {
    case 'ready':
    case 'delivered':
      return admission
    case 'unsettled': {
      run.enter('included', 'by someone else; not final yet')
      const finality = await awaitFinality(run, admission.finalInMs)
      if (finality.kind === 'delivered') return finality
      run.progress.disputed = true
      return undefined
    }
    case 'attested':
      run.transfer = { ...run.transfer, message: admission.message }
      return undefined
    case 'waiting':
      return wait(run, admission)
    case 'impossible':
      return run.park(admission.code, admission.reason)
    case 'rejected':
    case 'declined':
      if (!admission.awaitNewSignatures) return admission
      return run.park(admission.code, admission.reason)
  }
}
