import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint, Gate } from '../port.ts'

/** `Endpoint.reserve` with the step's transfer, for an account. A bridge without gates is always open. */
export type Reserve = (relayer: string) => Promise<Gate>

/** Runs a step that may reserve. The reservation stays if the step throws. @param goesOn if false, it is released */
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
