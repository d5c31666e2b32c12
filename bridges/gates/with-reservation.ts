import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint, Gate } from '../port.ts'

export type Reserve = (relayer: string) => Promise<Gate>

/** Releases the reservation if `goesOn` returns false, but not if the step throws. */
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
