import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint, Gate } from '../port.ts'

/** Asks the transfer's gate for this account (`Endpoint.reserve`); a bridge without gates is always open. */
export type Reserve = (relayer: string) => Promise<Gate>

/**
 * Runs a step of a transfer; only here limits are reserved and released. A step that throws is tried again and keeps the reservation, which lapses where it is not.
 * @param goesOn true: the transfer is on its way to the chain, or there; else what is reserved for it becomes free, whichever step reserved it
 */
export async function withReservation<T>(
  endpoint: Pick<Endpoint, 'reserve' | 'release'>,
  transfer: Transfer,
  step: (reserve: Reserve) => Promise<T>,
  goesOn: (result: T) => boolean,
): Promise<T> {
  const result = await step(async (relayer) => (await endpoint.reserve?.(transfer, relayer)) ?? { kind: 'open' })
  if (!goesOn(result)) endpoint.release?.(transfer)
  return result
}
