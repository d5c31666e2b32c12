import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint, Gate } from '../port.ts'

/** Asks the transfer's gate for this account (`Endpoint.reserve`). A bridge without gates is always open. */
export type Reserve = (relayer: string) => Promise<Gate>

/**
 * Runs a step of a transfer. A reservation holds the transfer's amount of a bridge's limit; only this function takes
 * and releases it. If the step throws, the reservation stays for the retry, and lapses without one.
 * @param goesOn true if the transfer is on its way to the chain or there. Otherwise its reservation is released
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
