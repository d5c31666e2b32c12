import { type Reserve, withReservation } from '../../bridges/gates/reservation.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Admission, Passed } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'

/**
 * Runs a step of admission. What the bridge's limits have reserved for the transfer stays reserved while it goes on: to the next step, to its lane, or
 * to finality. In every other case (refused, waiting, parked, delivered) it becomes free for other transfers.
 */
export function admissionStep<T extends Admission | Passed>(
  deps: Pick<StepDeps, 'bridges'>,
  transfer: Transfer,
  step: (reserve: Reserve) => Promise<T>,
): Promise<T> {
  const goesOn = ({ kind }: T) => kind === 'passed' || kind === 'ready' || kind === 'unsettled'
  return withReservation(endpointOf(deps, transfer), transfer, step, goesOn)
}
